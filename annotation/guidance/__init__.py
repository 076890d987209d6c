"""What a worker must have done before real work: agreed to the consent text, seen the tutorial, passed the test."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Subquery
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.common import clock
from annotation.common.errors import BadAnswers, Refused
from annotation.common.prepared_queries import PreparedQuery
from annotation.models import (
    Batch,
    Consent,
    GuidanceText,
    Membership,
    PracticeItem,
    PracticePlan,
    PracticeRun,
    Study,
    User,
    Worker,
)
from annotation.protocols import PROTOCOLS

from .default_texts import CONSENT

Kind = GuidanceText.Kind
TUTORIAL, TEST = PracticeItem.Kind.TUTORIAL, PracticeItem.Kind.TEST


class NotReady(Refused):
    """Real work has to wait; `page` is where the worker goes on."""

    sentence: str | Promise = ""

    def __init__(self, page: str = "") -> None:
        super().__init__(str(self.sentence))
        self.page = page


class ConsentMissing(NotReady):
    sentence = _("Please read what is asked of you and what is recorded, and agree to it, before the first task.")


class TutorialMissing(NotReady):
    sentence = _(
        "Please go through the tutorial before the first task. It takes a few minutes, and no answer is counted."
    )


class NotQualified(NotReady):
    sentence = _("Please pass the qualification test before the first task.")


class NoTriesLeft(NotReady):
    sentence = _(
        "You have used all tries of the qualification test, so you can't work on this batch. Your answers are kept; "
        "thank you for trying."
    )


def _gate_facts(study: int, worker: int, protocol: str) -> Any:
    """What stands before a worker's first task, and the role of the person behind them: one query."""
    members = Membership.objects.filter(study=OuterRef("pk"), user__workers=worker)
    newest = GuidanceText.objects.filter(study=OuterRef("pk"), kind=Kind.CONSENT).order_by("-version")
    plans = PracticePlan.objects.filter(study=OuterRef("pk"), protocol=protocol)
    runs = PracticeRun.objects.filter(worker=worker, plan__study=OuterRef("pk"), plan__protocol=protocol)
    tests = runs.filter(kind=TEST).order_by().values("kind").annotate(n=Count("pk")).values("n")
    facts = {
        "consent": Subquery(newest.values("pk")[:1]),
        "agreed": Exists(Consent.objects.filter(worker=worker, text=OuterRef("consent"))),
        "tutorial_asked": Exists(plans.filter(tutorial="required", items__kind=TUTORIAL, items__retired_at=None)),
        "tutorial_done": Exists(runs.filter(kind=TUTORIAL)),
        "test_asked": Exists(plans.filter(test_required=True, items__kind=TEST, items__retired_at=None)),
        "passed": Exists(runs.filter(kind=TEST, passed=True)),
        "tried": Subquery(tests),
        "tries": Subquery(plans.values("tries")[:1]),
        "role": Subquery(members.values("role")[:1]),
    }
    return Study.objects.filter(pk=study).annotate(**facts).values_list(*FACTS)


FACTS = ("consent", "agreed", "tutorial_asked", "tutorial_done", "test_asked", "passed", "tried", "tries", "role")


@cache
def _gate(protocol: str) -> PreparedQuery:
    return PreparedQuery(lambda study, worker: _gate_facts(study, worker, protocol), "study", "worker")


def gate_state(batch: Batch, worker: Worker) -> dict[str, Any]:
    """What stands before this worker's first task in the batch; with `role`, None for who has no account here."""
    (row,) = _gate(batch.protocol)(study=batch.study_id, worker=worker.pk)
    return dict(zip(FACTS, row, strict=True))


def may_work(batch: Batch, worker: Worker) -> None:
    """Nothing when the worker may take tasks of this batch; otherwise a NotReady says what is missing. One query."""
    check_gates(batch, gate_state(batch, worker))


def check_gates(batch: Batch, state: Mapping[str, Any]) -> None:
    """NotReady says what is missing, by what `gate_state` found."""
    if state["consent"] and not state["agreed"]:
        raise ConsentMissing(reverse("consent", args=[batch.pk]))
    if state["tutorial_asked"] and not state["tutorial_done"]:
        raise TutorialMissing(reverse("tutorial", args=[batch.pk]))
    if state["test_asked"] and not state["passed"]:
        if (state["tried"] or 0) >= state["tries"]:
            raise NoTriesLeft
        raise NotQualified(reverse("test", args=[batch.pk]))


# Texts


def newest_text(study: Study, kind: str, protocol: str = "") -> GuidanceText | None:
    """The newest text of a kind: the protocol's own where there is one, otherwise the study's."""
    texts = GuidanceText.objects.filter(study=study, kind=kind, protocol__in={"", protocol})
    return texts.order_by("-protocol", "-version").first()


def write_text(study: Study, kind: str, body: str, user: User | None, protocol: str = "") -> GuidanceText:
    """Keep a new version of a text; the same words again change nothing. Raises BadAnswers when it is empty."""
    body = body.replace("\r\n", "\n").strip()
    if kind not in Kind.values or protocol not in {"", *PROTOCOLS}:
        raise BadAnswers(gettext("There is no such kind of text. Nothing was changed."))
    if not body:
        raise BadAnswers(gettext("The text is empty. Nothing was changed: the last version is still shown."))
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        versions = GuidanceText.objects.filter(study=study, kind=kind, protocol=protocol)
        last = versions.order_by("-version").first()
        if last and last.body == body:
            return last
        number = last.version + 1 if last else 1
        return GuidanceText.objects.create(
            study=study,
            kind=kind,
            protocol=protocol,
            version=number,
            body=body,
            written_by=user,
            written_at=clock.now(),
        )


def give_defaults(study: Study, user: User | None = None) -> None:
    """The texts a study starts with: instructions for each protocol, and consent that names the signals."""
    present = set(GuidanceText.objects.filter(study=study).values_list("kind", "protocol"))
    for (kind, name), body in _defaults().items():
        if body and (kind, name) not in present:
            write_text(study, kind, body, user, name)


def _defaults() -> dict[tuple[str, str], str]:
    texts = {(str(Kind.INSTRUCTIONS), name): protocol.instructions for name, protocol in PROTOCOLS.items()}
    return {**texts, (str(Kind.CONSENT), ""): CONSENT}


def is_default(text: GuidanceText | None) -> bool:
    """Whether nobody has written a text of the study's own yet."""
    return text is not None and text.body == _defaults().get((text.kind, text.protocol), "").strip()


def give_consent(worker: Worker, text_id: int) -> Consent:
    """Record that the worker agreed to this version; once is enough. Raises Refused when a newer one is out."""
    newest = newest_text(worker.study, Kind.CONSENT)
    if newest is None or newest.pk != text_id:
        raise Refused(
            gettext("The text has changed since you opened it. Nothing was recorded: please read the new one.")
        )
    consent, _made = Consent.objects.get_or_create(worker=worker, text=newest, defaults={"given_at": clock.now()})
    return consent


def consent_of(worker: Worker, text: GuidanceText | None) -> Consent | None:
    return Consent.objects.filter(worker=worker, text=text).first() if text else None


# Practice


@dataclass(frozen=True)
class MarkedAnswer:
    """One practice answer and what was expected."""

    item: PracticeItem
    value: float
    is_right: bool


def plan_for(study: Study, protocol: str) -> PracticePlan | None:
    return PracticePlan.objects.filter(study=study, protocol=protocol).first()


def practice_items(plan: PracticePlan | None, kind: str) -> list[PracticeItem]:
    if plan is None:
        return []
    items = plan.items.filter(kind=kind, retired_at=None).select_related("plan", "summary__document")
    return list(items.order_by("order", "pk"))


def mark_answer(item: PracticeItem, answer: Any) -> MarkedAnswer:
    """Whether an answer is right: within the item's tolerance. Raises BadAnswers when it is no number."""
    try:
        value = float(answer)
    except (TypeError, ValueError):
        raise BadAnswers(gettext("Choose an answer first. Nothing was lost.")) from None
    return MarkedAnswer(item, value, abs(value - item.expected) <= item.tolerance + 1e-9)


def finish_practice(plan: PracticePlan, worker: Worker, kind: str, answers: Mapping[str, Any]) -> PracticeRun:
    """Mark a whole try and keep it. A test stops at its number of tries (NoTriesLeft) and once it is passed."""
    items = practice_items(plan, kind)
    marked_answers = [mark_answer(item, answers.get(str(item.pk))) for item in items]
    n_right = sum(answer.is_right for answer in marked_answers)
    with transaction.atomic():
        Worker.objects.select_for_update().get(pk=worker.pk)  # two tabs finish one after the other
        earlier_runs = PracticeRun.objects.filter(plan=plan, worker=worker, kind=kind)
        if kind == TEST:
            passed = earlier_runs.filter(passed=True).first()
            if passed:
                return passed
            if earlier_runs.count() >= plan.tries:
                raise NoTriesLeft
        number = (earlier_runs.aggregate(n=Max("number"))["n"] or 0) + 1
        return PracticeRun.objects.create(
            plan=plan,
            worker=worker,
            kind=kind,
            number=number,
            answers=[
                {"item": answer.item.pk, "value": answer.value, "right": answer.is_right} for answer in marked_answers
            ],
            right=n_right,
            of=len(items),
            passed=kind == TUTORIAL or n_right >= plan.pass_mark * len(items) - 1e-9,
            finished_at=clock.now(),
        )


def tries_left(plan: PracticePlan, worker: Worker) -> int:
    tries = PracticeRun.objects.filter(plan=plan, worker=worker, kind=TEST).count()
    return max(0, plan.tries - tries)


def last_test(plan: PracticePlan, worker: Worker) -> PracticeRun | None:
    """The try that counts: the passed one, otherwise the last."""
    runs = PracticeRun.objects.filter(plan=plan, worker=worker, kind=TEST)
    return runs.order_by("-passed", "-number").first()


def first_gate(batch: Batch, worker: Worker, state: Mapping[str, Any] | None = None) -> str | None:
    """Where the worker must go before a task of this batch; None: the way is free. NoTriesLeft is raised.

    `state` is what `gate_state` found, where it was asked already.
    """
    try:
        check_gates(batch, gate_state(batch, worker) if state is None else state)
    except NotReady as missing:
        if not missing.page:
            raise
        return missing.page
    return None
