"""Tasks that lost answers, to the filter or by rejection: how many are missing, and what new ones would cost."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Q
from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.common.money import money
from annotation.crowds.lookup import market_for
from annotation.crowds.terms import Terms, terms_of
from annotation.models import Assignment, Batch, FilterDecision, Posting, Submission, Task, User
from annotation.tables.trusted import apply_filter, systems_judgments

from .close import ToppedUp, top_up

ASKED = "asked"
"""In a batch's options: how many answers a task was to have before it was topped up."""


@dataclass(frozen=True)
class Lost:
    """One task with fewer answers than asked for."""

    task_id: int
    doc_id: str
    system: str
    asked: int
    kept: int
    missing: int
    """To be asked for anew; places that are still open on the market are not among them."""
    cents: int
    """What they cost, fees included."""


@dataclass(frozen=True)
class TopUp:
    tasks: list[Lost]
    decision: FilterDecision | None

    @property
    def places(self) -> int:
        return sum(one.missing for one in self.tasks)

    @property
    def cents(self) -> int:
        return sum(one.cents for one in self.tasks)


def top_up_of(batch: Batch) -> TopUp:
    """What is missing under the filter in force. Nothing before anything was published."""
    decision = batch.study.filter_in_force()
    if not batch.postings.exists():
        return TopUp([], decision)
    answers = Counter(_kept(batch, decision))
    free = open_places(batch)
    price, terms = _price(batch), terms_of(batch)
    asked = batch.options.get(ASKED, {})
    found = []
    for task in batch.tasks.select_related("document", "summary__system").order_by("pk"):
        wanted = int(asked.get(str(task.pk), task.quota))
        missing = wanted - answers[task.pk] - free.get(task.pk, free.get(0, 0))
        if missing > 0:
            found.append(_lost(task, wanted, answers[task.pk], missing, price(terms, task)))
    return TopUp(found, decision)


def _lost(task: Task, asked: int, kept: int, missing: int, cents: int) -> Lost:
    system = task.summary.system.name if task.summary else ""
    return Lost(task.pk, task.document.doc_id, system, asked, kept, missing, missing * cents)


def _kept(batch: Batch, decision: FilterDecision | None) -> list[int]:
    """The task of every answer that counts and that the filter keeps."""
    counted = list(Assignment.objects.counted().filter(task__batch=batch).values_list("task", "key"))
    if decision is None or not counted:
        return [task for task, _key in counted]
    judgments = apply_filter(decision, systems_judgments(batch.study)).judgments
    trusted = set(judgments["assignment_id"]) if len(judgments) else set()
    return [task for task, key in counted if key in trusted]


def open_places(batch: Batch) -> dict[int, int]:
    """Places that somebody may still fill, by task; under 0 where one posting serves all tasks."""
    standing = (Posting.State.PLANNED, Posting.State.OPEN, Posting.State.PAUSED)
    delivered = Count("submissions", filter=Q(submissions__state__in=Submission.CONFIRMED))
    free: Counter[int] = Counter()
    for task, places, done in (
        batch.postings.filter(state__in=standing).annotate(done=delivered).values_list("task", "places", "done")
    ):
        free[task or 0] += max(0, places - done)
    return dict(free)


def _price(batch: Batch) -> Callable[[Terms, Task], int]:
    market = market_for(batch.crowd)

    def cents(terms: Terms, task: Task) -> int:
        reward = terms.reward_for(task.summary.system.group if task.summary else "")
        return reward + market.fee_cents(reward, 1, terms.as_json()) if market.pays else 0

    return cents


def ask_for_more(batch: Batch, asked_by: User | None, expected_cents: int | None = None) -> ToppedUp:
    """Ask the market for what is missing. Refused, with nothing spent, when it isn't what the asker was shown."""
    lost = top_up_of(batch)
    if not lost.tasks:
        raise Refused(_("No answer is missing. Nothing was spent."))
    if expected_cents is not None and expected_cents != lost.cents:
        raise Refused(
            _("Meanwhile other answers are missing, and it would cost %(sum)s. Nothing was spent: look again.")
            % {"sum": f"{money(lost.cents)} {batch.study.currency}"}
        )
    _remember(batch, lost)
    by_places: dict[int, list[int]] = {}
    for one in lost.tasks:
        by_places.setdefault(one.missing, []).append(one.task_id)
    done = [top_up(batch, tasks, places, asked_by) for places, tasks in sorted(by_places.items())]
    return ToppedUp(sum(one.tasks for one in done), sum(one.places for one in done), sum(one.cents for one in done))


def _remember(batch: Batch, lost: TopUp) -> None:
    with transaction.atomic():
        locked = Batch.objects.select_for_update().get(pk=batch.pk)
        known = {str(one.task_id): one.asked for one in lost.tasks}
        locked.options = {**locked.options, ASKED: {**known, **locked.options.get(ASKED, {})}}
        locked.save(update_fields=["options"])
        batch.options = locked.options
