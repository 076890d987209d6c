"""What is ticked in a qualification test before it is handed in: kept as a draft, like the answers of a task."""

from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.common.drafts import draft_texts, merge_draft, news_since, now_ms, read_body, read_changes, read_seen
from annotation.common.errors import Refused
from annotation.models import PracticeDraft, PracticePlan, PracticeRun, Worker
from annotation.protocols.base import answer_value

from . import TEST

TRY = "try"  # in the address that a page saves to


class HandedIn(Refused):
    status = 409

    def __init__(self) -> None:
        super().__init__(_("This try of the test is handed in already. Nothing was changed."))


def current_try(plan: PracticePlan, worker: Worker) -> int:
    return PracticeRun.objects.filter(plan=plan, worker=worker, kind=TEST).count() + 1


def draft_of(plan: PracticePlan, worker: Worker) -> dict[str, Any]:
    """The draft of the try that comes next; what was left of an earlier one doesn't count."""
    row = PracticeDraft.objects.filter(plan=plan, worker=worker, number=current_try(plan, worker)).first()
    return row.draft if row else {}


def drafted_answers(draft: dict[str, Any]) -> dict[str, str]:
    return {name: answer_value(content) for name, content in draft.get("items", {}).items()}


def save_draft(request: HttpRequest, plan: PracticePlan, worker: Worker) -> HttpResponse:
    """Keep what is ticked. A try that is over, or what can't be read, is refused with a sentence, as JSON."""
    try:
        return JsonResponse(_save(plan, worker, request.GET.get(TRY, ""), read_body(request)))
    except Refused as refusal:
        return JsonResponse({"error": type(refusal).__name__, "sentence": str(refusal)}, status=refusal.status)


def _save(plan: PracticePlan, worker: Worker, number_sent: str, body: dict[str, Any]) -> dict[str, Any]:
    with transaction.atomic():
        Worker.objects.select_for_update().get(pk=worker.pk)
        number = current_try(plan, worker)
        if number_sent != str(number):
            raise HandedIn
        draft = draft_of(plan, worker)
        if merged := merge_draft(draft, read_changes(body)):
            draft = merged
            facts = {"number": number, "draft": draft}
            PracticeDraft.objects.update_or_create(plan=plan, worker=worker, defaults=facts)
    news = news_since(draft, read_seen(body))
    return {"version": draft.get("version", 0), "items": news, "state": "", "held": True}


def draft_config(plan: PracticePlan, worker: Worker, draft: dict[str, Any], address: str, *, by_token: bool) -> Any:
    """Read by static/annotation/judging/engine.js."""
    number = current_try(plan, worker)
    urls = {"draft": f"{address}?{TRY}={number}"}
    return {
        "key": f"{plan.pk}:{worker.pseudonym}:{number}",
        "mode": "test",
        "protocol": plan.protocol,
        "csrfCookie": settings.CSRF_COOKIE_NAME,
        "now": now_ms(),
        "version": draft.get("version", 0),
        "secondsLeft": None,
        "answers": draft.get("items", {}),
        "preferences": worker.preferences,
        "urls": urls if by_token else {**urls, "signIn": reverse("sign-in")},
        "texts": draft_texts(),
    }
