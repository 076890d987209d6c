"""Coming in: signing in with one factor or two, by an invitation, and one's own account."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.accounts import invitations, second_factor
from annotation.accounts.access import study_for, user_of
from annotation.accounts.audit_log import log_event
from annotation.accounts.record import record_lines
from annotation.accounts.throttle import code_key, keys_of, minutes, password_key, throttle
from annotation.common import clock
from annotation.common.demo_accounts import DEMO_ACCOUNTS, PASSWORD
from annotation.common.error_pages import answers_refusals
from annotation.common.flood import takes_turns
from annotation.models import AuditEvent, Role, SecondFactor, User

WAITING = "second_factor"  # in the session: who has shown a password, when, and where they were going
WAIT_SECONDS = 300


def too_soon(response: HttpResponse, seconds: int) -> HttpResponse:
    """The answer to whoever guessed too often."""
    response.status_code = 429
    response["Retry-After"] = str(seconds)
    return response


class SignOut(LogoutView):
    """Everybody who is signed in."""


@method_decorator(takes_turns, name="dispatch")
class SignIn(LoginView):
    """Everybody: name and password, then a code where the account asks for one. Failures have to wait."""

    http_method_names = ["get", "post"]
    template_name = "annotation/accounts/sign_in.html"
    redirect_authenticated_user = True
    extra_context = {"accounts": DEMO_ACCOUNTS, "password": PASSWORD}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.keys = keys_of(request, request.POST.get("username", ""))
        if seconds := throttle.begin(self.keys):
            return self._wait(seconds)
        return super().post(request, *args, **kwargs)

    def _wait(self, seconds: int) -> HttpResponse:
        form = self.get_form_class()(self.request)
        return too_soon(self.render_to_response(self.get_context_data(form=form, wait=minutes(seconds))), seconds)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        log_event(self.request, "sign-in failed", None)
        return super().form_invalid(form)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        throttle.succeeded(self.keys)
        user = form.get_user()
        if isinstance(user, User) and second_factor.is_on(user):
            at = int(clock.now().timestamp())
            self.request.session[WAITING] = {"user": user.pk, "at": at, "next": self.get_success_url()}
            return redirect("sign-in-code")
        return super().form_valid(form)


@login_not_required
@never_cache
@sensitive_post_parameters("code")
@require_http_methods(["GET", "POST"])
@answers_refusals
def sign_in_code(request: HttpRequest) -> HttpResponse:
    """Whoever has just shown the right password: the code of their authenticator, or a recovery code."""
    password_step = request.session.get(WAITING) or {}
    user = User.objects.filter(pk=password_step.get("user", 0), is_active=True).first()
    if user is None or clock.now().timestamp() - password_step.get("at", 0) > WAIT_SECONDS:
        return redirect("sign-in")
    if request.method == "GET":
        return render(request, "annotation/accounts/code.html")
    keys = code_key(user.pk)
    if seconds := throttle.begin(keys):
        return too_soon(render(request, "annotation/accounts/code.html", {"wait": minutes(seconds)}), seconds)
    try:
        second_factor.check_code(user, request.POST.get("code", ""))
    except second_factor.BadCode as refusal:
        return render(request, "annotation/accounts/code.html", {"refusal": refusal}, status=422)
    throttle.succeeded(keys)
    login(request, user, backend="annotation.accounts.AccountBackend")
    return redirect(password_step.get("next") or resolve_url("home"))


@never_cache
@require_http_methods(["GET"])
def account(request: HttpRequest) -> HttpResponse:
    """Everybody, for themselves: password, second factor, API tokens."""
    return _account_page(request)


def _account_page(request: HttpRequest, problem: str = "", status: int = 200) -> HttpResponse:
    factor = SecondFactor.objects.filter(user=user_of(request), confirmed_at__isnull=False).first()
    context = {"factor": factor, "problem": problem}
    return render(request, "annotation/accounts/account.html", context, status=status)


@method_decorator(never_cache, name="dispatch")
class ChangePassword(PasswordChangeView):
    """Everybody, for themselves: a new password; other sessions end. Guessing the old one has to wait."""

    http_method_names = ["get", "post"]
    template_name = "annotation/accounts/password.html"
    success_url = reverse_lazy("account")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.keys = password_key(user_of(request).pk)
        if seconds := throttle.begin(self.keys):
            form = self.get_form_class()(user_of(request))
            return too_soon(self.render_to_response(self.get_context_data(form=form, wait=minutes(seconds))), seconds)
        return super().post(request, *args, **kwargs)

    def form_invalid(self, form: Any) -> HttpResponse:
        if "old_password" not in form.errors:
            throttle.take_back(self.keys)
        return super().form_invalid(form)

    def form_valid(self, form: Any) -> HttpResponse:
        throttle.succeeded(self.keys)
        messages.success(self.request, gettext("The password is changed. You are signed out everywhere else."))
        return super().form_valid(form)


@never_cache
@sensitive_post_parameters("code")
@require_http_methods(["GET", "POST"])
@answers_refusals
def set_up_factor(request: HttpRequest) -> HttpResponse:
    """Everybody, for themselves: the picture for the authenticator; a first code puts it in force."""
    user = user_of(request)
    setup = second_factor.begin(user)
    if request.method == "GET":
        return render(request, "annotation/accounts/factor.html", {"setup": setup})
    try:
        codes = second_factor.confirm(user, request.POST.get("code", ""))
    except second_factor.BadCode as refusal:
        return render(request, "annotation/accounts/factor.html", {"setup": setup, "refusal": refusal}, status=422)
    return render(request, "annotation/accounts/factor.html", {"codes": codes})


@sensitive_post_parameters("code")
@require_POST
@answers_refusals
def turn_off_factor(request: HttpRequest) -> HttpResponse:
    """Everybody, for themselves, with a code. Guessing has to wait, as at the sign-in."""
    user = user_of(request)
    keys = code_key(user.pk)
    if seconds := throttle.begin(keys):
        return too_soon(_account_page(request, _wait_for_code(minutes(seconds))), seconds)
    try:
        second_factor.turn_off(user, request.POST.get("code", ""))
    except second_factor.BadCode as refusal:
        return _account_page(request, str(refusal), refusal.status)
    throttle.succeeded(keys)
    messages.success(request, gettext("The second factor is off: a password alone opens this account now."))
    return redirect("account")


def _wait_for_code(n: int) -> str:
    sentence = ngettext(
        "Too many wrong codes. Try again in a minute.", "Too many wrong codes. Try again in %(n)s minutes.", n
    )
    return sentence % {"n": n}


@login_not_required
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
@answers_refusals
def invited(request: HttpRequest, secret: str) -> HttpResponse:
    """Whoever has the link, once: join with the account one is signed in with, or with a new one."""
    invitation = invitations.find(secret)
    if request.method == "GET":
        return render(request, "annotation/accounts/invited.html", {"invitation": invitation})
    if request.user.is_authenticated:
        invitations.accept(secret, user_of(request))
    else:
        name = request.POST.get("name", "")
        try:
            user = invitations.accept_as_new(secret, name, request.POST.get("password", ""))
        except invitations.NotMade as refusal:
            context = {"invitation": invitation, "problem": str(refusal), "name": name}
            return render(request, "annotation/accounts/invited.html", context, status=refusal.status)
        login(request, user, backend="annotation.accounts.AccountBackend")
    messages.success(request, gettext("Welcome! You are now part of “%(study)s”.") % {"study": invitation.study})
    return redirect("home")


PAGE = 50


@require_GET
def record(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: every change that people made in this study, the newest first."""
    study = study_for(request, slug, Role.ADMIN)
    pages = Paginator(AuditEvent.objects.filter(study=study), PAGE)
    page = pages.get_page(request.GET.get("page", "1"))
    context = {"study": study, "step": "collect", "page": page, "lines": record_lines(study, page.object_list)}
    return render(request, "annotation/accounts/record.html", context)
