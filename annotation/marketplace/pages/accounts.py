"""Signing in, signing up, and one's own account."""

from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import PasswordChangeForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from annotation.common import clock
from annotation.common.demo_accounts import PASSWORD
from annotation.common.flood import takes_turns
from annotation.common.throttle import minutes
from annotation.marketplace.errors import Refused
from annotation.marketplace.models import Account, Invitation, MarketSettings, Requester, Worker
from annotation.marketplace.people import sign_up_requester, sign_up_worker

from .errors import error_page
from .render import account_of, safe_next, show
from .throttle import GUESSED, note_failure, password_keys, sign_in_keys, throttle

BACKEND = "annotation.marketplace.people.AccountBackend"


@login_not_required
@sensitive_post_parameters("password")
@takes_turns
def sign_in(request: HttpRequest) -> HttpResponse:
    """Anybody. After five wrong passwords for one name, it has to wait, twice as long each time."""
    name, context = request.POST.get("username", ""), {"next": safe_next(request)}
    if request.method != "POST":
        return show(request, "sign_in.html", {**context, "accounts": _demo_accounts(), "password": PASSWORD})
    keys = sign_in_keys(request, name)
    if seconds := throttle.begin(keys):
        problem = f"{_wait(seconds)}; nothing is lost."
        return _too_soon(show(request, "sign_in.html", {**context, "problem": problem, "name": name}), seconds)
    account = authenticate(request, username=name, password=request.POST.get("password", ""))
    if account is None:
        note_failure(request, name)
        sentence = "This name and password don't fit together. Passwords tell upper and lower case apart."
        return show(request, "sign_in.html", {**context, "problem": sentence, "name": name}, status=403)
    throttle.succeeded(keys)
    login(request, account)
    return HttpResponseRedirect(context["next"] or reverse("home"))


def _wait(seconds: int) -> str:
    many = minutes(seconds)
    return f"Too many wrong passwords. Wait {many} minute{'' if many == 1 else 's'}, then try again"


def _too_soon(response: HttpResponse, seconds: int) -> HttpResponse:
    response.status_code = 429
    response["Retry-After"] = str(seconds)
    return response


def _demo_accounts() -> list[str]:
    """Their password is public; outside the demo they are nobody."""
    if not settings.DEMO:
        return []
    return list(Account.objects.filter(is_demo=True, is_active=True).order_by("pk").values_list("username", flat=True))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("home")


class WorkerSignUp(forms.Form):
    username = forms.CharField(label="Name to sign in with", max_length=150)
    password = forms.CharField(label="Password", max_length=200, widget=forms.PasswordInput)
    email = forms.EmailField(label="E-mail", required=False, help_text="Only the operator sees it, to pay you.")
    country = forms.RegexField(
        r"^[A-Za-z]{2}$",
        label="Country",
        required=False,
        max_length=2,
        help_text="Two letters, e.g. DE. Some HITs are for people in some countries only.",
        error_messages={"invalid": "A country is two letters, e.g. DE."},
    )
    is_adult = forms.BooleanField(label="I am an adult and may be shown adult content", required=False)


class RequesterSignUp(forms.Form):
    username = forms.CharField(label="Name to sign in with", max_length=150)
    password = forms.CharField(label="Password", max_length=200, widget=forms.PasswordInput)
    name = forms.CharField(label="Name that workers see", max_length=200)
    email = forms.EmailField(label="E-mail", required=False)


@login_not_required
@sensitive_post_parameters("password")
@takes_turns
def join(request: HttpRequest, code: str = "") -> HttpResponse:
    """Anybody with an invitation; workers also without one, where the operator has opened the market."""
    if request.user.is_authenticated:
        return redirect("home")
    invitation = Invitation.objects.filter(code=code).first() if code else None
    if (code and (invitation is None or not invitation.is_open(clock.now()))) or not _may_join(invitation):
        sentence = (
            "This invitation is unknown, used up or too old. Ask the operator for a new one."
            if code
            else "This marketplace takes new people by invitation. Ask its operator for a link."
        )
        return error_page(request, 403, sentence)
    role = invitation.role if invitation else Invitation.Role.WORKER
    kind: type[forms.Form] = RequesterSignUp if role == Invitation.Role.REQUESTER else WorkerSignUp
    form = kind(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            account = _sign_up(role, code, form.cleaned_data)
        except Refused as refusal:
            form.add_error(None, str(refusal))
        else:
            login(request, cast(Any, account), backend=BACKEND)
            return redirect("home")
    context = {"form": form, "role": role, "code": code}
    return show(request, "join.html", context, status=422 if form.errors else 200)


def _may_join(invitation: Invitation | None) -> bool:
    return invitation is not None or MarketSettings.current().open_sign_up


def _sign_up(role: str, code: str, facts: dict[str, Any]) -> Account:
    member: Requester | Worker
    if role == Invitation.Role.REQUESTER:
        member = sign_up_requester(code=code, **facts)
    else:
        member = sign_up_worker(code=code, **{**facts, "country": facts["country"].upper()})
    assert member.account is not None
    return member.account


@sensitive_post_parameters()
def change_password(request: HttpRequest) -> HttpResponse:
    """Anybody signed in, for themselves. Other browsers are signed out by it.

    After five wrong old ones it has to wait, twice as long each time.
    """
    person = account_of(request)
    keys = password_keys(person.pk)
    if request.method == "POST" and (seconds := throttle.begin(keys)):
        problem, blank = f"{_wait(seconds)}; your password is as it was.", PasswordChangeForm(cast(Any, person))
        return _too_soon(show(request, "password.html", {"form": blank, "problem": problem}), seconds)
    form = PasswordChangeForm(cast(Any, person), request.POST or None)
    if request.method == "POST" and form.is_valid():
        throttle.succeeded(keys)
        update_session_auth_hash(request, form.save())
        messages.success(request, "Your password is changed. Other browsers are signed out.")
        return redirect("home")
    if form.has_error("old_password", "password_incorrect"):
        note_failure(request, person.username, GUESSED)
    elif request.method == "POST":
        throttle.take_back(keys)
    return show(request, "password.html", {"form": form}, status=422 if form.errors else 200)
