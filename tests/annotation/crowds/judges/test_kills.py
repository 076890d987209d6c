"""kill -9 in the middle of a run, then the run again: no call is paid twice, and none is lost."""

from typing import Any

import pytest
from django.db.models import Sum

from annotation.crowds.judges.jobs import decide_doubtful
from annotation.crowds.judges.run import run_judge
from annotation.crowds.markets.models.prices import cost
from annotation.models import Entry, JudgeCall, JudgeRun, Judgment
from tests.annotation.crowds.crashes import killed_at
from tests.annotation.crowds.judges.conftest import make_run
from tests.annotation.crowds.judges.fault_server import TOKENS_IN, TOKENS_OUT, FaultServer
from tests.factories import make_batch, make_study

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.sqlite]

TASKS, UNITS = 5, 2
POINTS = (
    "judge:begin",
    "judge:recovered",
    "judge:seated",
    "judge:seated@3",
    "judge:seated@5",
    "judge:written",
    "judge:written@3",
    "judge:written@6",
    "judge:sent",
    "judge:sent@4",
    "judge:answered",
    "judge:answered@2",
    "judge:answered@5",
    "judge:half-kept",
    "judge:half-kept@3",
    "judge:stored",
    "judge:stored@4",
    "judge:kept",
    "judge:kept@2",
    "judge:kept@6",
    "judge:booked",
)


def test_there_are_twenty_points_at_least() -> None:
    assert len(set(POINTS)) >= 20


def paid_run(server: FaultServer, **values: Any) -> JudgeRun:
    """Five tasks, one of which must be asked for twice."""
    server.fail("", "broken")
    batch = make_batch(make_study(documents=TASKS, units=UNITS))
    return make_run(batch, server, price_in=1000, price_out=2000, parallel=2, cap_cents=5_000_00, **values)


def check_complete(run: JudgeRun, server: FaultServer) -> None:
    """Every item has one answer, every answer was billed once, and the books say what the bill says."""
    run.refresh_from_db()
    rows = Judgment.objects.filter(assignment__task__batch=run.batch)
    assert rows.count() == TASKS * UNITS == rows.values("summary", "unit").distinct().count()
    assert set(server.billed.values()) == {1}
    calls = JudgeCall.objects.filter(run=run)
    assert calls.filter(state="answered").count() == len(server.billed)
    assert set(calls.values_list("token", flat=True)) >= set(server.billed)
    bill = len(server.billed) * cost(run.judge, TOKENS_IN, TOKENS_OUT)
    assert run.committed_micros == bill
    entries = Entry.objects.filter(batch=run.batch)
    assert entries.aggregate(n=Sum("paid_cents"))["n"] == -(-bill // 10_000)
    assert entries.aggregate(n=Sum("promised_cents"))["n"] == 0
    assert run.ended_at is not None


@pytest.mark.parametrize("point", POINTS)
def test_where_a_repeated_key_is_billed_once_the_run_goes_on_by_itself(server: FaultServer, point: str) -> None:
    server.keeps_keys = True
    run = paid_run(server, repeats=True)
    killed_at(point, lambda: run_judge(run.batch))
    run_judge(run.batch)
    check_complete(run, server)


@pytest.mark.parametrize("point", ["judge:written@2", "judge:sent@2", "judge:answered@2", "judge:half-kept@2"])
def test_elsewhere_what_may_have_been_billed_waits_for_a_person(server: FaultServer, point: str) -> None:
    run = paid_run(server)
    killed_at(point, lambda: run_judge(run.batch))
    report = run_judge(run.batch)
    assert report.doubtful > 0
    assert report.done == TASKS - len(
        set(JudgeCall.objects.filter(run=run, state="doubtful").values_list("assignment", flat=True))
    )
    assert set(server.billed.values()) == {1}  # nothing was asked twice
    decide_doubtful(run, was_billed=True)
    assert run_judge(run.batch).done == TASKS
    assert set(server.billed.values()) == {1}  # a new question has a new key
