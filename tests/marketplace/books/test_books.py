"""The books: whatever happens, in whatever order, available + held + paid + fees is what was put in, to the cent."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.db.models import F
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from annotation.common import clock
from annotation.marketplace import people
from annotation.marketplace.books import books
from annotation.marketplace.errors import InsufficientFunds, Refused
from annotation.marketplace.hits import assignments, hits, lifecycle, work
from annotation.marketplace.models import HIT, Assignment, Requester, Transfer, Worker
from tests.marketplace.fixtures import ANSWER, EXTERNAL, START, make_hit, submit_work

pytestmark = [pytest.mark.postgres, pytest.mark.sqlite]  # on both databases
PICK = st.integers(0, 10**6)


def pick(rows, number):
    """One of the rows, by number."""
    return rows[number % len(rows)]


class Market(RuleBasedStateMachine):
    """Two requesters and four workers do anything at any time; money must never appear or vanish."""

    def __init__(self) -> None:
        super().__init__()
        self.mark = transaction.savepoint()
        self.now = START
        self.put_in = 0
        self.requesters = [people.make_requester(f"R{n}") for n in range(2)]
        self.workers = [people.make_worker() for _ in range(4)]

    def teardown(self) -> None:
        transaction.savepoint_rollback(self.mark)

    def at_now(self, act, *words, **keywords):
        """Do it at the machine's time; a refusal is an answer, and must leave the books as they were."""
        with clock.fixed(self.now):
            try:
                return act(*words, **keywords)
            except Refused:
                return None

    def hits(self) -> list[HIT]:
        return list(HIT.objects.select_related("requester").order_by("pk"))

    def assignments(self) -> list[Assignment]:
        return list(Assignment.objects.select_related("hit__requester", "worker").order_by("pk"))

    @rule(requester=PICK, cents=st.integers(1, 5000))
    def top_up(self, requester, cents):
        self.at_now(books.top_up, pick(self.requesters, requester), cents)
        self.put_in += cents

    @rule(requester=PICK, cents=st.integers(1, 500))
    def refund(self, requester, cents):
        requester = pick(self.requesters, requester)
        requester.refresh_from_db()
        if requester.available_cents >= cents:
            self.put_in -= cents
        self.at_now(books.refund, requester, cents)

    @rule(requester=PICK, reward=st.integers(0, 99), places=st.integers(1, 12), approve=st.sampled_from([0, 60, 7200]))
    def create(self, requester, reward, places, approve):
        requester = pick(self.requesters, requester)
        values = hits.TypeValues("t", "d", reward, 600, auto_approve_seconds=approve)
        with clock.fixed(self.now):
            hit_type = hits.register_hit_type(requester, values)
        self.at_now(hits.create_hit, requester, hit_type, EXTERNAL, lifetime_seconds=3600, max_assignments=places)

    @precondition(lambda self: HIT.objects.exists())
    @rule(hit=PICK, worker=PICK)
    def accept(self, hit, worker):
        self.at_now(work.accept_hit, pick(self.workers, worker), pick(self.hits(), hit).hit_id)

    @precondition(lambda self: Assignment.objects.exists())
    @rule(assignment=PICK, action=st.sampled_from(["submit", "return", "approve", "reject", "override", "bonus"]))
    def on_an_assignment(self, assignment, action):
        assignment = pick(self.assignments(), assignment)
        requester, key = assignment.hit.requester, assignment.assignment_id
        acts = {
            "submit": (work.submit_assignment, key, ANSWER),
            "return": (work.return_assignment, assignment.worker, key),
            "approve": (assignments.approve_assignment, requester, key),
            "reject": (assignments.reject_assignment, requester, key, "no"),
            "override": (assignments.approve_assignment, requester, key, "", True),
            "bonus": (assignments.send_bonus, requester, assignment.worker.worker_id, key, 7, "well done"),
        }
        self.at_now(*acts[action])

    @precondition(lambda self: HIT.objects.exists())
    @rule(hit=PICK, action=st.sampled_from(["extend", "expire", "reopen", "delete", "retype", "review"]), number=PICK)
    def on_a_hit(self, hit, action, number):
        hit = pick(self.hits(), hit)
        requester, key = hit.requester, hit.hit_id
        hit_types = list(requester.hit_types.order_by("pk"))
        acts = {
            "extend": (hits.extend_hit, requester, key, 2),
            "expire": (hits.update_expiration, requester, key, self.now - timedelta(seconds=1)),
            "reopen": (hits.update_expiration, requester, key, self.now + timedelta(hours=1)),
            "delete": (hits.delete_hit, requester, key),
            "retype": (hits.update_hit_type, requester, key, pick(hit_types, number).hit_type_id),
            "review": (hits.update_review_status, requester, key, bool(number % 2)),
        }
        self.at_now(*acts[action])

    @rule(seconds=st.sampled_from([1, 61, 601, 3601, 40 * 86400, 130 * 86400]))
    def wait(self, seconds):
        self.now += timedelta(seconds=seconds)

    @rule()
    def tick(self):
        self.at_now(lifecycle.tick)

    @rule(worker=PICK, cents=st.integers(1, 50))
    def pay_out(self, worker, cents):
        self.at_now(books.record_payout, pick(self.workers, worker), cents, "bank")

    @invariant()
    def the_parts_are_the_whole(self):
        rows = list(Requester.objects.all())
        assert all(books.books_agree(row) for row in rows)
        total_cents = sum(r.available_cents + r.held_cents + r.paid_cents + r.fees_cents for r in rows)
        assert total_cents == self.put_in

    @invariant()
    def workers_got_what_was_paid(self):
        assert sum(w.earned_cents for w in Worker.objects.all()) == sum(r.paid_cents for r in Requester.objects.all())

    @invariant()
    def what_is_held_covers_the_hits(self):
        for requester in self.requesters:
            requester.refresh_from_db()
            assert requester.held_cents == sum(hit.held_cents for hit in requester.hits.all())

    @invariant()
    def counters_are_the_assignments(self):
        for hit in self.hits():
            states = list(hit.assignments.values_list("state", flat=True))
            counts = [states.count(s) for s in ("Accepted", "Submitted", "Approved", "Rejected")]
            assert [hit.pending, hit.submitted, hit.approved, hit.rejected] == counts
            live = hit.assignments.filter(state__in=["Accepted", "Submitted"])
            assert hit.taken_cents == sum(assignment.price_cents for assignment in live)


class TestBooks(TestCase):
    def test_money_neither_appears_nor_vanishes(self):
        run_state_machine_as_test(
            Market,
            settings=settings(
                max_examples=15,
                stateful_step_count=30,
                deadline=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            ),
        )


def test_the_database_refuses_books_that_do_not_balance(requester):
    for field in ("available_cents", "held_cents", "paid_cents", "fees_cents", "put_in_cents"):
        with pytest.raises(IntegrityError), transaction.atomic():
            Requester.objects.filter(pk=requester.pk).update(**{field: F(field) + 1})
    with pytest.raises(IntegrityError), transaction.atomic():
        Requester.objects.filter(pk=requester.pk).update(
            available_cents=F("available_cents") - 10**9, held_cents=F("held_cents") + 10**9
        )


def test_a_transfer_that_cannot_be_covered_leaves_no_row(requester):
    before = Transfer.objects.count()
    with pytest.raises(InsufficientFunds), transaction.atomic():
        books.hold(requester.pk, requester.available_cents + 1)
    assert Transfer.objects.count() == before
    assert books.books_agree(requester)


def test_a_worker_is_never_paid_out_more_than_earned(requester, anna):
    assignment = submit_work(anna, make_hit(requester).hit_id)
    assignments.approve_assignment(requester, assignment.assignment_id)
    anna.refresh_from_db()
    books.record_payout(anna, 6, "bank 1")
    with pytest.raises(InsufficientFunds, match=r"owed \$0.04"):
        books.record_payout(anna, 5, "bank 2")
    assert (anna.earned_cents, anna.owed_cents) == (10, 4)


@pytest.mark.parametrize("change", [{"cents": 1}, {"target": "paid"}, {"kind": "fee"}])
def test_a_transfer_is_never_rewritten(requester, change):
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Transfer.objects.filter(requester=requester).update(**change)
    Transfer.objects.filter(requester=requester).update(note="what it was for")  # a remark may be added
