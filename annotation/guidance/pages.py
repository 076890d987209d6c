"""What workers read and do before their first task: consent, instructions, tutorial, qualification test.

The pages know neither accounts nor tokens: who shows them says by `Steps` where they lead.
"""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.common.errors import BadAnswers, Refused
from annotation.common.parsing import parse_int
from annotation.guidance import (
    TEST,
    TUTORIAL,
    Kind,
    consent_of,
    finish_practice,
    give_consent,
    last_test,
    newest_text,
    plan_for,
    practice_items,
    tries_left,
)
from annotation.guidance.pinning import instructions_of
from annotation.guidance.practice import practice_page, tutorial_step
from annotation.guidance.practice_drafts import draft_config, draft_of, drafted_answers, save_draft
from annotation.models import Batch, Study, Worker

ANSWER = "answer:"


@dataclass(frozen=True)
class Steps:
    """Where the guidance pages lead: for a signed-in person, or for a worker who came with a token."""

    take: str
    consent: str
    instructions: str
    tutorial: str
    test: str
    home: str  # where one goes who can't or won't start; empty where only the market can tell
    extra: dict[str, Any]  # for the templates

    def page(self, request: HttpRequest, name: str, context: dict[str, Any], status: int = 200) -> HttpResponse:
        return render(
            request, f"annotation/guidance/{name}.html", {**context, "steps": self, **self.extra}, status=status
        )


def consent_page(request: HttpRequest, batch: Batch, worker: Worker, steps: Steps) -> HttpResponse | None:
    """The page; None once the worker has agreed, so that the caller takes them on."""
    if request.method == "POST":
        give_consent(worker, parse_int(request.POST.get("text", "")))
        return None
    text = newest_text(batch.study, Kind.CONSENT)
    return steps.page(request, "consent", {"batch": batch, "text": text, "consent": consent_of(worker, text)})


def instructions_page(request: HttpRequest, batch: Batch, steps: Steps) -> HttpResponse:
    context = {
        "batch": batch,
        "text": instructions_of(batch),
        "has_tutorial": bool(practice_items(plan_for(batch.study, batch.protocol), TUTORIAL)),
        "bare": "bare" in request.GET,
    }
    return steps.page(request, "instructions", context)


def tutorial_page(request: HttpRequest, batch: Batch, worker: Worker, steps: Steps) -> HttpResponse | None:
    """The page; None once it is done."""
    plan = plan_for(batch.study, batch.protocol)
    items = practice_items(plan, TUTORIAL)
    if request.method == "POST" and plan:
        finish_practice(plan, worker, TUTORIAL, _answers(request.POST))
        return None
    protocol, step = protocols.get(batch.protocol), tutorial_step(items, _answers(request.GET))
    context = {"batch": batch, "protocol": protocol, "step": step, "choices": protocol.choices(batch)}
    return steps.page(request, "tutorial", context)


def test_page(request: HttpRequest, batch: Batch, worker: Worker, steps: Steps) -> HttpResponse:
    """The page; a PUT of its script keeps what is ticked so far."""
    plan, refusal = plan_for(batch.study, batch.protocol), None
    if request.method == "PUT" and plan:
        return save_draft(request, plan, worker)
    draft = draft_of(plan, worker) if plan else {}
    answers = drafted_answers(draft)
    if request.method == "POST" and plan:
        answers = _answers(request.POST)
        try:
            finish_practice(plan, worker, TEST, answers)
            return redirect(f"{steps.test}?result")
        except BadAnswers as error:
            refusal = error
    run = last_test(plan, worker) if plan else None
    context = {
        "batch": batch,
        "plan": plan,
        "run": run if run and (run.passed or "result" in request.GET) else None,
        "left": tries_left(plan, worker) if plan else 0,
        "items": practice_page(practice_items(plan, TEST), answers),
        "choices": protocols.get(batch.protocol).choices(batch),
        "refusal": refusal,
        "config": draft_config(plan, worker, draft, steps.test, by_token=bool(steps.extra)) if plan else None,
    }
    return steps.page(request, "test", context, status=refusal.status if refusal else 200)


def preview_of_test(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    """The test of a protocol as it stands, for those who write it."""
    plan = plan_for(study, name)
    if plan is None:
        raise Refused(_("There is no test of this kind yet. Add items to it first."))
    context = {
        "batch": Batch(study=study, protocol=name),
        "plan": plan,
        "left": plan.tries,
        "items": practice_page(practice_items(plan, TEST), {}),
        "choices": protocols.get(name).choices(),
        "preview": True,
    }
    return render(request, "annotation/guidance/test.html", context)


def _answers(fields: dict[str, str]) -> dict[str, str]:
    return {name.removeprefix(ANSWER): value for name, value in fields.items() if name.startswith(ANSWER)}
