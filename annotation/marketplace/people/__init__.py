"""Accounts: who may sign in, signing up, invitations, and the audit log."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotation.common import clock
from annotation.marketplace.errors import BadParameter, Refused, SentBefore
from annotation.marketplace.models import Account, AuditEntry, Invitation, MarketSettings, Requester, Worker


class SignUpRefused(Refused):
    status = 403
    code = "SignUpRefused"
    sentence = "This marketplace takes new people by invitation. Ask its operator for one."


class AccountBackend(ModelBackend):
    """Django's accounts; a demo account is nobody outside the demo."""

    def user_can_authenticate(self, user: Any) -> bool:
        return super().user_can_authenticate(user) and (settings.DEMO or not getattr(user, "is_demo", False))


def record(actor: Account | None, action: str, subject: str, **detail: Any) -> None:
    """One line in the audit log."""
    AuditEntry.objects.create(at=clock.now(), actor=actor, action=action, subject=subject, detail=detail)


def check_form(owner: Requester | Worker, subject: str, form: str) -> None:
    """Raises SentBefore when this form has done its work already. Two at once take turns at the owner's row."""
    if form:
        type(owner).objects.select_for_update().get(pk=owner.pk)
        if AuditEntry.objects.filter(subject=subject, detail__form=form).exists():
            raise SentBefore


def make_account(username: str, password: str, *, email: str = "", **flags: Any) -> Account:
    """A new account; the password is checked by Django's validators. Raises BadParameter."""
    return _keep(_draft(username, password, email=email, **flags))


def _draft(username: str, password: str, *, email: str = "", **flags: Any) -> Account:
    """An account that is not stored yet. Hashing takes long, so it is done before anything is locked."""
    account = Account(username=username, email=email, **flags)
    try:
        validate_password(password, account)
        account.set_password(password)
        account.full_clean(exclude=["password"])
    except ValidationError as problem:
        raise BadParameter(" ".join(problem.messages)) from None
    return account


def _keep(account: Account) -> Account:
    try:
        with transaction.atomic():
            account.save()
    except IntegrityError:
        raise BadParameter(f"The name {account.username!r} is taken.") from None
    return account


def make_worker(account: Account | None = None, **facts: Any) -> Worker:
    """Let an account work. `facts`: country, subdivision, is_adult."""
    worker = Worker.objects.create(account=account, **facts)
    record(account, "worker joined", worker.worker_id)
    return worker


def make_requester(name: str, account: Account | None = None, actor: Account | None = None) -> Requester:
    """Let an account publish HITs."""
    requester = Requester.objects.create(account=account, name=name)
    record(actor or account, "requester joined", requester.requester_id, name=name)
    return requester


def invite(role: str, actor: Account, *, note: str = "", days: int = 14) -> Invitation:
    now = clock.now()
    invitation = Invitation.objects.create(
        role=role, note=note, created_by=actor, created_at=now, expires_at=now + timedelta(days=days)
    )
    record(actor, "invitation", invitation.code[:4] + "…", role=role, note=note)
    return invitation


def sign_up_worker(username: str, password: str, *, code: str = "", email: str = "", **facts: Any) -> Worker:
    """A new worker, openly if the operator allows it, otherwise with an invitation. Raises SignUpRefused."""
    account = _draft(username, password, email=email)
    with transaction.atomic():
        invitation = _invitation(code, Invitation.Role.WORKER)
        if invitation is None and not MarketSettings.current().open_sign_up:
            raise SignUpRefused
        _use(invitation, _keep(account))
        return make_worker(account, **facts)


def sign_up_requester(username: str, password: str, *, code: str, name: str, email: str = "") -> Requester:
    """A new requester; always with an invitation. Raises SignUpRefused."""
    account = _draft(username, password, email=email)
    with transaction.atomic():
        invitation = _invitation(code, Invitation.Role.REQUESTER)
        if invitation is None:
            raise SignUpRefused
        _use(invitation, _keep(account))
        return make_requester(name, account)


def _invitation(code: str, role: str) -> Invitation | None:
    if not code:
        return None
    invitation = Invitation.objects.select_for_update().filter(code=code, role=role).first()
    if invitation is None or not invitation.is_open(clock.now()):
        raise SignUpRefused("This invitation is unknown, used up or too old. Ask the operator for a new one.")
    return invitation


def _use(invitation: Invitation | None, account: Account) -> None:
    if invitation is not None:
        invitation.used_by, invitation.used_at = account, clock.now()
        invitation.save(update_fields=["used_by", "used_at"])
