"""Tasks that lost answers, to the filter or by rejection: how many are missing, and what new ones would cost."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Q
from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.common.money import money
from annotation.crowds.lookup import market_for
from annotation.crowds.terms import Terms, terms_of
from annotation.models import Assignment, Batch, FilterDecision, Posting, Submission, User
from annotation.tables.trusted import Trusted, trusted_judgments

from .extend import ToppedUp, refuse_closed, top_up

ASKED = "asked"
"""In a batch's options: how many answers a task was to have before it was topped up."""


@dataclass(frozen=True)
class Lost:
    """One task with fewer answers than asked for."""

    task_id: int
    doc_id: str
    system: str
    quota: int
    answers: int
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
        return sum(task.missing for task in self.tasks)

    @property
    def cents(self) -> int:
        return sum(task.cents for task in self.tasks)


def top_up_of(batch: Batch, answers: Mapping[int, int] | None = None) -> TopUp:
    """What is missing under the filter in force. Nothing before anything was published.

    `answers`: how many the filter leaves of each task, where that was worked out beforehand.
    """
    decision = batch.study.filter_in_force()
    if not batch.postings.exists() or batch.state == Batch.State.CLOSED or batch.close_asked_at is not None:
        return TopUp([], decision)
    if answers is None:
        answers = Counter(kept_answers(batch, trusted_judgments(batch.study) if decision else None))
    free = open_places(batch)
    price, terms = _price(batch), terms_of(batch)
    quotas = batch.options.get(ASKED, {})
    lost_tasks = []
    names = ("document__doc_id", "summary__system__name", "summary__system__group")
    for task, asked_for, doc_id, system, group in batch.tasks.order_by("pk").values_list("pk", "quota", *names):
        quota, n_answers = int(quotas.get(str(task), asked_for)), answers.get(task, 0)
        missing = quota - n_answers - free.get(task, free.get(0, 0))
        if missing > 0:
            cents = missing * price(terms, group or "")
            lost_tasks.append(Lost(task, doc_id, system or "", quota, n_answers, missing, cents))
    return TopUp(lost_tasks, decision)


def kept_answers(batch: Batch, trusted: Trusted | None) -> list[int]:
    """The task of every answer that counts and that the filter keeps."""
    assignments = list(Assignment.objects.counted().filter(task__batch=batch).values_list("task", "key"))
    if trusted is None:
        return [task for task, _key in assignments]
    # An answer that the batch rule sets aside was given and paid for: it is not missing in this batch.
    frames = [frame for frame in (trusted.judgments, trusted.choice.set_aside) if len(frame)]
    keys = {key for frame in frames for key in frame["assignment_id"]}
    return [task for task, key in assignments if key in keys]


def open_places(batch: Batch) -> dict[int, int]:
    """Places that somebody may still fill, by task; under 0 where one posting serves all tasks."""
    states = (Posting.State.PLANNED, Posting.State.OPEN, Posting.State.PAUSED)
    delivered = Count("submissions", filter=Q(submissions__state__in=Submission.CONFIRMED))
    free: Counter[int] = Counter()
    for task, places, n_delivered in (
        batch.postings.filter(state__in=states).annotate(done=delivered).values_list("task", "places", "done")
    ):
        free[task or 0] += max(0, places - n_delivered)
    return dict(free)


def _price(batch: Batch) -> Callable[[Terms, str], int]:
    """What one more answer costs, by the group of the system it is about."""
    market = market_for(batch.crowd, batch.study)

    def cents(terms: Terms, group: str) -> int:
        reward = terms.reward_for(group)
        return reward + market.fee_cents(reward, 1, terms.as_json()) if market.pays else 0

    return cents


def ask_for_more(batch: Batch, asked_by: User | None, expected_cents: int | None = None) -> ToppedUp:
    """Ask the market for what is missing. Refused, with nothing spent, when it isn't what the asker was shown."""
    refuse_closed(batch)
    missing = top_up_of(batch)
    if not missing.tasks:
        raise Refused(_("No answer is missing. Nothing was spent."))
    if expected_cents is not None and expected_cents != missing.cents:
        raise Refused(
            _("Meanwhile other answers are missing, and it would cost %(sum)s. Nothing was spent: look again.")
            % {"sum": f"{money(missing.cents)} {batch.study.currency}"}
        )
    _remember(batch, missing)
    by_places: dict[int, list[int]] = {}
    for task in missing.tasks:
        by_places.setdefault(task.missing, []).append(task.task_id)
    top_ups = [top_up(batch, tasks, places, asked_by) for places, tasks in sorted(by_places.items())]
    return ToppedUp(
        sum(added.tasks for added in top_ups),
        sum(added.places for added in top_ups),
        sum(added.cents for added in top_ups),
    )


def _remember(batch: Batch, missing: TopUp) -> None:
    with transaction.atomic():
        locked = Batch.objects.select_for_update().get(pk=batch.pk)
        quotas = {str(task.task_id): task.quota for task in missing.tasks}
        locked.options = {**locked.options, ASKED: {**quotas, **locked.options.get(ASKED, {})}}
        locked.save(update_fields=["options"])
        batch.options = locked.options
