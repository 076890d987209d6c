"""What the lines of a study's audit log mean, in words. A line keeps the method and the route, which never change."""

import re
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy as _

from annotation.common.middleware import strip_unreadable
from annotation.models import AuditEvent, Study, User

ACTION_LABELS = {
    "POST scu-list": _("Changed a list of SCUs"),
    "POST new-batch": _("Made a batch"),
    "POST edit-batch": _("Renamed a batch or deleted a draft"),
    "POST edit-study": _("Renamed or deleted the study"),
    "POST add-system": _("Added a system"),
    "POST open-round": _("Opened a second round"),
    "POST guidance-text": _("Wrote a text for annotators"),
    "POST guidance-rules": _("Changed what stands before the first task"),
    "POST guidance-language": _("Said in which language the texts are"),
    "POST guidance-item": _("Wrote a practice item"),
    "POST guidance-retire": _("Retired a practice item"),
    "POST launch": _("Launched a batch"),
    "POST batch-act": _("Steered a batch on its market"),
    "POST judges": _("Described a model as a judge"),
    "POST judge": _("Asked a model the tasks of a batch"),
    "POST judge-run": _("Steered the run of a model"),
    "POST crowd-workers-do": _("Decided on workers"),
    "POST crowd-worker": _("Decided on a hand-in"),
    "POST crowd-links": _("Made or withdrew personal links"),
    "POST batch-csv": _("Took in a result file"),
    "POST ledger": _("Set the budget or the minimum wage"),
    "POST new-study": _("Made the study"),
    "POST collect": _("Made a batch"),
    "POST batch-state": _("Opened, paused or closed a batch"),
    "POST members": _("Changed who belongs to the study"),
    "POST invite": _("Made or withdrew an invitation"),
    "POST explorer-refresh": _("Had the Explorer brought up to date"),
    "POST quality-decide": _("Applied or undid a filter"),
    "POST quality-batches": _("Chose which batches count"),
    "POST exports": _("Ordered an export"),
    "POST metrics": _("Had metrics computed"),
    "POST api:list_batches": _("Made a batch through the API"),
    "PATCH api:get_batch": _("Changed a batch through the API"),
    "POST api:post_metric_run": _("Had metrics computed through the API"),
    "POST api:list_filters": _("Applied a filter through the API"),
    "DELETE api:get_filter": _("Undid a filter through the API"),
    "POST api:list_exports": _("Ordered an export through the API"),
    "POST api:launch_batch": _("Launched a batch through the API"),
    "POST api:collect_batch": _("Collected through the API what was handed in"),
    "POST api:post_verdicts": _("Decided on hand-ins through the API"),
    "POST api:post_bonuses": _("Paid bonuses through the API"),
}
UNSAFE_METHODS = {"POST", "PUT", "PATCH", "DELETE"}
SECRET = re.compile(r"password|secret|token|code|csrf|key", re.IGNORECASE)
LONGEST = 200
TASK_ROUTES = {"take", "task", "draft", "submit", "ahead", "undo", "release", "revise"}
TASK_ROUTES |= {"consent", "tutorial", "test", "advice"}
# They are sent by POST, and change nothing; or what they start writes its own line (`new-study`, once it is made).
READ_ONLY_ROUTES = {"guidance-preview", "list-advice", "quality", "crowd-workers", "preview_filter", "job-again"}
READ_ONLY_ROUTES |= {"new-study", "new-study-again", "new-study-stop", "batch-size"}
READ_ONLY_ROUTES |= {"quote_launch", "post_import", "read_import"}


def log_event(
    request: HttpRequest,
    action: str,
    user: User | None,
    study: Study | None = None,
    facts: dict[str, Any] | None = None,
) -> None:
    """One line in the audit log. It is written after the change, so no character in the facts may stop it."""
    name = user.get_username() if user else ""
    request_id = str(getattr(request, "request_id", ""))[:64]
    AuditEvent.objects.create(
        action=action[:80], user=user, name=name, study=study, facts=strip_unreadable(facts or {}), request=request_id
    )


class AuditLogMiddleware:
    """Writes down every change that went through."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        match = request.resolver_match
        if request.method in UNSAFE_METHODS and response.status_code < 400 and match and not _changes_nothing(request):
            self._write(request, match.view_name, dict(match.kwargs))
        return response

    def _write(self, request: HttpRequest, action: str, arguments: dict[str, Any]) -> None:
        user = _acting_user(request)
        if user is None:
            return
        slug = arguments.get("slug") or arguments.get("study")
        study = Study.objects.filter(slug=slug).first() if slug else None
        facts = {name: str(value)[:LONGEST] for name, value in arguments.items() if not SECRET.search(name)}
        log_event(request, f"{request.method} {action}", user, study, {**facts, **_form_fields(request)})


def _changes_nothing(request: HttpRequest) -> bool:
    name = request.resolver_match.url_name if request.resolver_match else ""
    quoted = name == "launch" and "HX-Request" in request.headers  # the price as one types
    return name in TASK_ROUTES or name in READ_ONLY_ROUTES or quoted


def _acting_user(request: HttpRequest) -> User | None:
    """Whoever signed in, or whose token it was."""
    token = getattr(request, "auth", None)
    user = getattr(token, "user", None) or getattr(request, "user", None)
    return user if isinstance(user, User) and user.is_authenticated else None


def _form_fields(request: HttpRequest) -> dict[str, str]:
    """The fields of the form that was sent, without secrets and not at length."""
    if request.content_type == "application/json":
        return {}
    return {
        f"form.{name}": ", ".join(values)[:LONGEST] for name, values in request.POST.lists() if not SECRET.search(name)
    }
