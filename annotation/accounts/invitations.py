"""Links that bring people into a study: for one person, one role, and a few days."""

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.models import Invitation, Membership, Role, Study, User

DAYS = 7


class InvitationEnded(Refused):
    status = 404
    sentence = _(
        "This invitation is not, or no longer, good: it was used, withdrawn, or is too old. Ask for a new one."
    )


class NotMade(Refused):
    """The name or the password won't do; the invitation is as good as before."""


def invite(study: Study, role: str, note: str, made_by: User) -> str:
    """Make an invitation; returns its secret, which is shown this once."""
    if role not in Role.values:
        raise Refused(
            gettext("There is no role “%(role)s”. Known: %(known)s. Nothing was changed.")
            % {"role": role[:20], "known": ", ".join(Role.values)}
        )
    secret, now = secrets.token_urlsafe(32), clock.now()
    Invitation.objects.create(
        study=study,
        role=role,
        note=note.strip()[:200],
        digest=_digest(secret),
        made_by=made_by,
        made_at=now,
        expires_at=now + timedelta(days=DAYS),
    )
    return secret


def find(secret: str, *, lock: bool = False) -> Invitation:
    """The invitation while it is good; InvitationEnded otherwise."""
    rows = Invitation.objects.filter(digest=_digest(secret), used_at=None, revoked_at=None, expires_at__gt=clock.now())
    invitation = (rows.select_for_update() if lock else rows.select_related("study")).first()
    if invitation is None:
        raise InvitationEnded
    return invitation


def open_invitations(study: Study) -> QuerySet[Invitation]:
    return Invitation.objects.filter(study=study, used_at=None, revoked_at=None, expires_at__gt=clock.now())


def withdraw(study: Study, invitation_id: int) -> None:
    """It opens nothing from now on."""
    open_ones = Invitation.objects.filter(study=study, pk=invitation_id, used_at=None, revoked_at=None)
    if not open_ones.update(revoked_at=clock.now()):
        raise Refused(gettext("There is no such open invitation. Nothing was changed."))


def accept(secret: str, user: User) -> Study:
    """Give an account the invitation's role; a role that it has already stays."""
    with transaction.atomic():
        invitation = find(secret, lock=True)
        invitation.used_by, invitation.used_at = user, clock.now()
        invitation.save(update_fields=["used_by", "used_at"])
        study = invitation.study
        if not Membership.objects.filter(study=study, user=user).exists():
            Membership.objects.create(study=study, user=user, role=invitation.role)
    return study


def accept_as_new(secret: str, name: str, password: str) -> User:
    """Make an account and give it the invitation's role. Refused says what is wrong; then nothing was made."""
    find(secret)
    name = name.strip()
    try:
        User.username_validator(name)
        validate_password(password, User(username=name))
    except ValidationError as error:
        reasons = " ".join(str(message) for message in error.messages)
        raise NotMade(gettext("%(reasons)s Nothing was made.") % {"reasons": reasons}) from None
    try:
        with transaction.atomic():
            user = User.objects.create_user(name[:150], password=password)
            accept(secret, user)
    except IntegrityError:
        raise NotMade(
            gettext("The name “%(name)s” is taken. Nothing was made: choose another.") % {"name": name}
        ) from None
    return user


def _digest(secret: str) -> str:
    return hashlib.sha256(f"invitation:{secret}".encode()).hexdigest()
