"""What the pages of judges show."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, Sum

from annotation.common.money import money
from annotation.models import Assignment, JudgeCall, JudgeRun, Study, Task
from annotation.models.judges import MICROS_A_CENT

from .money import cents_of

SHOWN_CALLS = 10
State = JudgeCall.State


@dataclass(frozen=True)
class Usage:
    """What a run used, beside what was quoted."""

    calls: int
    answered: int
    unread: int
    doubtful: int
    tokens_in: int
    tokens_out: int
    spent: str
    quoted: str
    cap: str
    doubtful_cost: str


def exact_amount(micros: int) -> str:
    """Down to a hundredth of a cent: a call costs less than one."""
    cents, rest = divmod(micros, MICROS_A_CENT)
    return f"{money(cents)}{rest // 100:02d}" if rest else money(cents)


def usage_of(run: JudgeRun) -> Usage:
    sums = run.calls.aggregate(
        calls=Count("pk"),
        answered=Count("pk", filter=Q(state=State.ANSWERED)),
        unread=Count("pk", filter=Q(state=State.ANSWERED) & ~Q(problem="")),
        doubtful=Count("pk", filter=Q(state=State.DOUBTFUL)),
        tokens_in=Sum("tokens_in"),
        tokens_out=Sum("tokens_out"),
        spent=Sum("micros"),
        lost=Sum("micros", filter=Q(state=State.DOUBTFUL)),
    )
    return Usage(
        calls=sums["calls"],
        answered=sums["answered"],
        unread=sums["unread"],
        doubtful=sums["doubtful"],
        tokens_in=sums["tokens_in"] or 0,
        tokens_out=sums["tokens_out"] or 0,
        spent=exact_amount(sums["spent"] or 0),
        quoted=exact_amount(run.quoted_micros),
        cap=money(cents_of(run.cap_micros)),
        doubtful_cost=exact_amount(sums["lost"] or 0),
    )


def runs_of(study: Study) -> list[tuple[JudgeRun, int, int]]:
    """Every run with its tasks and how many are done: three queries."""
    runs = list(JudgeRun.objects.filter(batch__study=study).select_related("judge", "batch").order_by("-pk"))
    batches = [run.batch_id for run in runs]
    rows = Task.objects.filter(batch__in=batches).values_list("batch").annotate(n=Count("pk"))
    tasks: dict[int, int] = dict(rows.order_by())
    submitted = Assignment.objects.filter(task__batch__in=batches, state=Assignment.State.SUBMITTED)
    done: dict[int, int] = dict(submitted.values_list("task__batch").annotate(n=Count("pk")).order_by())
    return [(run, done.get(run.batch_id, 0), tasks.get(run.batch_id, 0)) for run in runs]


def last_calls(run: JudgeRun) -> list[JudgeCall]:
    """The newest calls, those with a problem first."""
    calls = run.calls.select_related("assignment__task__document", "assignment__task__summary__system")
    troubled = list(calls.exclude(problem="").order_by("-pk")[:SHOWN_CALLS])
    return [*troubled, *calls.filter(problem="").order_by("-pk")[: SHOWN_CALLS - len(troubled)]]


def call_rows(run: JudgeRun) -> Iterator[dict[str, Any]]:
    """Every call, whole, in the order in which they were written."""
    fields = (
        "token",
        "sample",
        "attempt",
        "state",
        "request",
        "answer",
        "problem",
        "tokens_in",
        "tokens_out",
        "micros",
    )
    names = {"assignment_id": "assignment__key", "doc_id": "assignment__task__document__doc_id"}
    calls = run.calls.order_by("pk").values_list(*names.values(), *fields, "written_at", "ended_at")
    columns = (*names, *fields, "written_at", "ended_at")
    for row in calls.iterator(chunk_size=200):
        yield dict(zip(columns, row, strict=True))
