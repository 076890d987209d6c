"""Signals: totals that survive loss and repetition, stored with the assignment, exported."""

import pytest

from annotation.judging.attention import merge_signals
from annotation.judging.drafts import save_draft
from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Judgment
from annotation.models.attention import totals
from annotation.protocols import of as protocol_of
from annotation.tables.texts import assignments_table
from tests.factories import make_batch, make_study, make_worker


def totals_sent(load="aaaa", active=10.0, **totals):
    return {
        "load": load,
        "active": active,
        "focus_lost": 1,
        "pastes": 2,
        "items": {"q": {"seconds": 4, "changes": 1}},
    } | totals


def test_a_pages_totals_replace_its_earlier_ones_and_never_shrink():
    assignment = Assignment()
    assert merge_signals(assignment, totals_sent(active=10))
    assert merge_signals(assignment, totals_sent(active=25))
    assert not merge_signals(assignment, totals_sent(active=10))  # an old message that came late
    assert totals(assignment.signals).active_seconds == 25


def test_two_loads_of_the_page_add_up():
    assignment = Assignment()
    merge_signals(assignment, totals_sent("aaaa"))
    merge_signals(assignment, totals_sent("bbbb", active=5))
    sums = totals(assignment.signals)
    assert (sums.active_seconds, sums.focus_lost, sums.pastes, sums.changes, sums.loads) == (15, 2, 4, 2, 2)


@pytest.mark.parametrize(
    "nonsense",
    [
        {},
        {"load": 7},
        {"load": "<b>"},
        totals_sent(active="much", focus_lost=None, pastes=True, items=[1]),
        totals_sent(active=float("nan"), focus_lost=-3, pastes=float("inf"), items={"q": 1}),
    ],
)
def test_nonsense_counts_as_nothing_and_never_fails(nonsense):
    assignment = Assignment()
    merge_signals(assignment, nonsense)
    sums = totals(assignment.signals)
    assert (sums.active_seconds, sums.focus_lost, sums.pastes, sums.changes) == (0, 0, 0, 0)


def test_the_number_of_loads_is_limited():
    assignment = Assignment()
    for n in range(150):
        merge_signals(assignment, totals_sent(f"load{n}"))
    assert totals(assignment.signals).loads == 100


@pytest.mark.django_db
def test_seconds_per_item_go_into_the_judgments_and_totals_into_the_export():
    study = make_study(units=2)
    assignment = lease_task(make_batch(study), make_worker(study))
    first, second = (item.field for item in protocol_of(assignment.task.batch).items(assignment))
    early = totals_sent("aaaa", items={first: {"seconds": 3.5, "changes": 2}})
    save_draft(assignment.worker, assignment.key, [], signals=early)
    last = totals_sent("bbbb", active=2, items={first: {"seconds": 1.5, "changes": 0}})
    submit_judgments(assignment.worker, assignment.key, {first: "1", second: "0"}, "k", signals=last)
    assert list(Judgment.objects.order_by("position").values_list("seconds", flat=True)) == [5.0, None]
    table = assignments_table(study)
    row = dict(zip(table.names, next(table.rows()), strict=True))
    assert row["assignment_id"] == assignment.key
    assert row["worker_id"] == assignment.worker.pseudonym
    assert (row["state"], row["active_seconds"], row["focus_lost"], row["pastes"]) == ("submitted", 12, 2, 4)
    assert row["seed"] == str(assignment.seed)
