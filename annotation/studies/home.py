"""An annotator's home: one card per batch, the most urgent first, counted in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation import protocols
from annotation.common.errors import Blocked
from annotation.judging.drafts import drafted_since_submit
from annotation.judging.leases import DONE
from annotation.judging.pace import RECENT, median_active, minutes_for
from annotation.models import Assignment, Batch, PracticeItem, PracticePlan, PracticeRun, Study, Task, User, Worker

from .progress import BatchProgress

State = Assignment.State
MOST_LOOKED_AT = 300  # of a person's newest tasks: for their pace, and for changes that they did not send

# In the order in which the cards stand.
READY, WAITING, PAUSED, DONE_ALL, GIVEN_BACK, CLOSED_TO_YOU, BLOCKED, CLOSED = range(8)
SENTENCES = {
    WAITING: gettext_lazy("All places are taken just now. Somebody may give one back: look in again later."),
    PAUSED: gettext_lazy("Paused. Everything you saved is kept; look in again later."),
    DONE_ALL: gettext_lazy("Done: there is no task left for you. Thank you!"),
    GIVEN_BACK: gettext_lazy("You gave your task back, and there is no other for you. What you had answered is kept."),
    CLOSED_TO_YOU: gettext_lazy("Closed to you: all tries of the qualification test are used. Your answers are kept."),
    BLOCKED: Blocked.sentence,
    CLOSED: gettext_lazy("Closed: no more answers are needed. Thank you; what you gave is kept."),
}


@dataclass(frozen=True)
class DeskCard:
    """A batch as one annotator sees it."""

    batch: Batch
    state: int
    begun: int  # tasks in hand
    done: int
    left: int  # with those in hand
    seconds: float | None  # active seconds a task takes this person
    pay_cents: int | None
    has_tutorial: bool
    is_practised: bool
    unsent: list[Assignment]  # changed in a revision and not sent

    @property
    def title(self) -> str:
        if "round_of" in self.batch.options:
            return _("Look again at answers that differ")
        return str(protocols.of(self.batch).work)

    @property
    def sentence(self) -> str:
        return str(SENTENCES.get(self.state, ""))

    @property
    def can_work(self) -> bool:
        return self.state == READY

    @property
    def is_new(self) -> bool:
        """Nothing was done here yet: instructions and tutorial are offered."""
        return self.can_work and not self.done and not self.begun and not self.is_practised

    @property
    def number(self) -> int:
        return self.done + 1

    @property
    def of(self) -> int:
        return self.done + self.left

    @property
    def minutes_left(self) -> int | None:
        return minutes_for(self.left, self.seconds)

    @property
    def minutes_a_task(self) -> float | None:
        return self.seconds / 60 if self.seconds else None

    @property
    def urgency(self) -> tuple[int, bool, bool, int]:
        """What one is in the middle of comes first, then what has the least left."""
        return self.state, not self.begun, not self.done, self.left


def desk_cards(user: User, studies: Iterable[Study], progress: dict[int, list[BatchProgress]]) -> list[DeskCard]:
    """The batches that the person may work on, or has worked on: six queries, whatever their number."""
    rows = [row for study in studies for row in progress.get(study.pk, []) if _is_for_accounts(row)]
    facts = _Facts(user, [row.batch for row in rows])
    cards = [facts.card(row) for row in rows]
    return sorted((card for card in cards if _is_shown(card)), key=lambda card: card.urgency)


def _is_for_accounts(progress: BatchProgress) -> bool:
    return progress.batch.state != Batch.State.DRAFT and not progress.is_posted


def _is_shown(card: DeskCard) -> bool:
    """A batch that is over is shown to those who had a part in it."""
    return card.state not in (DONE_ALL, CLOSED) or card.done > 0


class _Facts:
    """What the database knows of one person in these batches."""

    def __init__(self, user: User, batches: list[Batch]) -> None:
        assignments = Assignment.objects.filter(worker__user=user, task__batch__in=batches)
        counts = assignments.values_list("task__batch", "state", "is_ahead").annotate(n=Count("pk"))
        self.done: dict[int, int] = defaultdict(int)
        self.begun: dict[int, int] = defaultdict(int)
        self.ahead: dict[int, int] = defaultdict(int)
        self.given_back: set[int] = set()
        for batch, state, is_ahead, n in counts:
            if state in DONE:
                self.done[batch] += n
            elif state == State.LEASED:
                (self.ahead if is_ahead else self.begun)[batch] += n
            elif state == State.RELEASED:
                self.given_back.add(batch)
        rows = list(_open_tasks(user, batches))
        self.free = {batch: free for batch, free, _others in rows}
        self.others = {batch: others for batch, _free, others in rows}
        self.tasks = _newest_tasks(assignments)
        self.plans = {(plan.study_id, plan.protocol): plan for plan in _plans(batches)}
        self.tests, self.practised = _practice(user)
        self.blocked = set(Worker.objects.filter(user=user, blocked_at__isnull=False).values_list("study", flat=True))

    def card(self, progress: BatchProgress) -> DeskCard:
        batch = progress.batch
        plan, tasks = self.plans.get((batch.study_id, batch.protocol)), self.tasks.get(batch.pk, [])
        return DeskCard(
            batch=batch,
            state=self._state(progress, plan),
            begun=self.begun[batch.pk],
            done=self.done[batch.pk],
            left=self._left(batch),
            seconds=median_active(task.signals for task in tasks[:RECENT]),
            pay_cents=_pay(batch, self.done[batch.pk]),
            has_tutorial=plan is not None and plan.tutorials > 0,  # type: ignore[attr-defined]
            is_practised=plan is not None and plan.pk in self.practised,
            unsent=[task for task in tasks if batch.state == Batch.State.OPEN and drafted_since_submit(task)],
        )

    def _left(self, batch: Batch) -> int:
        return self.begun[batch.pk] + self.ahead[batch.pk] + self.free.get(batch.pk, 0)

    def _state(self, progress: BatchProgress, plan: PracticePlan | None) -> int:
        batch = progress.batch
        if batch.state == Batch.State.CLOSED:
            return CLOSED
        if batch.study_id in self.blocked:
            return BLOCKED
        if plan is not None and plan.test_required and self._has_failed(plan):
            return CLOSED_TO_YOU
        if batch.state == Batch.State.PAUSED:
            return PAUSED
        if self._left(batch):
            return READY
        if self.others.get(batch.pk):
            return WAITING
        return GIVEN_BACK if batch.pk in self.given_back and not self.done[batch.pk] else DONE_ALL

    def _has_failed(self, plan: PracticePlan) -> bool:
        tried, passed = self.tests.get(plan.pk, (0, 0))
        return not passed and tried >= plan.tries


def _open_tasks(user: User, batches: list[Batch]) -> Iterable[tuple[int, int, int]]:
    """By batch, of the tasks that the person never had: how many can be taken, and how many others work on."""
    open_to_user = Q(reserved_for__isnull=True) | Q(reserved_for__user=user)
    leases = Assignment.objects.filter(task=OuterRef("pk"), state=State.LEASED)
    had = Assignment.objects.filter(worker__user=user).values("task")
    can_be_taken = Q(live__lt=F("quota")) | Q(Exists(leases.filter(is_ahead=True)))  # what is held ahead yields
    tasks = Task.objects.filter(open_to_user, batch__in=batches).exclude(pk__in=had)
    return tasks.values_list("batch").annotate(
        free=Count("pk", filter=can_be_taken), others=Count("pk", filter=Q(Exists(leases)))
    )


def _newest_tasks(assignments: Any) -> dict[int, list[Assignment]]:
    """The person's newest submitted tasks, by batch."""
    rows = assignments.filter(state__in=DONE).select_related("task").order_by("-submitted_at", "-pk")
    fields = ("key", "state", "signals", "draft", "submitted_at", "task__batch_id")
    by_batch: dict[int, list[Assignment]] = defaultdict(list)
    for row in rows.only(*fields)[:MOST_LOOKED_AT]:
        by_batch[row.task.batch_id].append(row)
    return by_batch


def _plans(batches: list[Batch]) -> Iterable[PracticePlan]:
    is_tutorial = Q(items__kind=PracticeItem.Kind.TUTORIAL, items__retired_at=None)
    plans = PracticePlan.objects.filter(study__in={batch.study_id for batch in batches})
    return plans.annotate(tutorials=Count("items", filter=is_tutorial))


def _practice(user: User) -> tuple[dict[int, tuple[int, int]], set[int]]:
    """By plan: tries of the test and how many were passed; and the plans whose tutorial or test the person has done."""
    is_test = Q(kind=PracticeItem.Kind.TEST)
    runs = PracticeRun.objects.filter(worker__in=Worker.objects.filter(user=user)).values_list("plan")
    rows = list(runs.annotate(tries=Count("pk", filter=is_test), passed=Count("pk", filter=is_test & Q(passed=True))))
    return {plan: (tries, passed) for plan, tries, passed in rows}, {plan for plan, *_counts in rows}


def _pay(batch: Batch, tasks: int) -> int | None:
    """What the done tasks bring, where the batch says what one brings."""
    reward = batch.terms.get("reward_cents")
    return int(reward) * tasks if reward else None
