"""Workers find, preview, accept, return and submit; requesters approve and reject; the clock does the rest."""

from datetime import timedelta

import pytest

from annotation.marketplace.books import books
from annotation.marketplace.errors import (
    AlreadySubmitted,
    AlreadyTaken,
    Blocked,
    GivenBack,
    HITDoesNotExist,
    InvalidAssignmentState,
    InvalidHITState,
    NoneLeft,
    NotQualified,
    NotYours,
    TimeIsUp,
    TooManyAtOnce,
)
from annotation.marketplace.hits import assignments, hits, lifecycle, work
from annotation.marketplace.models import HIT, Assignment
from annotation.marketplace.people.workers import block_worker
from annotation.marketplace.qualifications.eligibility import LOCALE
from tests.marketplace.fixtures import ANSWER, START, at, make_hit, submit_work

pytestmark = [pytest.mark.postgres, pytest.mark.sqlite]  # on both databases
Status = HIT.Status


def counters(hit: HIT) -> tuple[int, int, int]:
    """Pending, available, completed, as GetHIT says them."""
    hit.refresh_from_db()
    return hit.pending, hit.available, hit.completed


def test_a_hit_lives_from_open_to_deleted(requester, anna, bob):
    hit = make_hit(requester, places=2)
    assert (hit.status, counters(hit)) == (Status.ASSIGNABLE, (0, 2, 0))
    first, second = work.accept_hit(anna, hit.hit_id), work.accept_hit(bob, hit.hit_id)
    assert counters(hit) == (2, 0, 0)
    assert hit.status == Status.UNASSIGNABLE
    work.submit_assignment(first.assignment_id, ANSWER)
    assert counters(hit) == (1, 0, 0)  # submitted and not judged is in none of the three
    work.submit_assignment(second.assignment_id, ANSWER)
    hit.refresh_from_db()
    assert hit.status == Status.REVIEWABLE
    with pytest.raises(InvalidHITState, match="neither approved nor rejected"):
        hits.delete_hit(requester, hit.hit_id)
    assignments.approve_assignment(requester, first.assignment_id)
    assignments.reject_assignment(requester, second.assignment_id, "not read")
    assert counters(hit) == (0, 0, 2)
    hits.update_review_status(requester, hit.hit_id, revert=False)
    with pytest.raises(InvalidHITState, match="only a Reviewable"):
        hits.delete_hit(requester, hit.hit_id)
    hits.update_review_status(requester, hit.hit_id, revert=True)
    hits.delete_hit(requester, hit.hit_id)
    hit.refresh_from_db()
    assert (hit.status, hit.held_cents) == (Status.DISPOSED, 0)


def test_money_is_held_paid_and_released(requester, anna, bob):
    before = requester.available_cents
    hit = make_hit(requester, places=2, reward_cents=10)  # fee: 20 % of 10 cents = 2; two places: 2 · 12 = 24
    requester.refresh_from_db()
    assert (before - requester.available_cents, requester.held_cents) == (24, 24)
    for worker in (anna, bob):
        work.submit_assignment(work.accept_hit(worker, hit.hit_id).assignment_id, ANSWER)
    first, second = Assignment.objects.order_by("pk")
    assignments.approve_assignment(requester, first.assignment_id)
    assignments.reject_assignment(requester, second.assignment_id, "no")
    requester.refresh_from_db()
    assert (requester.held_cents, requester.paid_cents, requester.fees_cents) == (0, 10, 2)
    assert requester.available_cents == before - 12
    anna.refresh_from_db()
    assert (anna.earned_cents, anna.approved_count) == (10, 1)
    assert books.books_agree(requester)


def test_a_rejection_can_be_overridden_within_thirty_days(requester, anna):
    with at():
        hit = make_hit(requester)
        assignment = submit_work(anna, hit.hit_id)
        assignments.reject_assignment(requester, assignment.assignment_id, "no")
        with pytest.raises(InvalidAssignmentState, match="OverrideRejection"):
            assignments.approve_assignment(requester, assignment.assignment_id)
    with at(days=30, seconds=1), pytest.raises(InvalidAssignmentState, match="30 days"):
        assignments.approve_assignment(requester, assignment.assignment_id, override_rejection=True)
    with at(days=29):
        assignments.approve_assignment(requester, assignment.assignment_id, override_rejection=True)
    anna.refresh_from_db()
    assert (anna.approved_count, anna.rejected_count, anna.earned_cents) == (1, 0, 10)
    assert books.books_agree(requester)


def test_returned_and_abandoned_places_open_again_once(requester, anna, bob):
    with at():
        hit = make_hit(requester, assignment_seconds=60)
        assignment = work.accept_hit(anna, hit.hit_id)
        with pytest.raises(NoneLeft):
            work.accept_hit(bob, hit.hit_id)
        work.return_assignment(anna, assignment.assignment_id)
        work.return_assignment(anna, assignment.assignment_id)  # a second click changes nothing
        assert counters(hit) == (0, 1, 0)
        with pytest.raises(GivenBack, match="You gave this HIT back"):
            work.submit_assignment(assignment.assignment_id, ANSWER)
        second = work.accept_hit(anna, hit.hit_id)  # what was returned may be taken again, under a new id
        assert second.assignment_id != assignment.assignment_id
    with at(seconds=61):
        with pytest.raises(TimeIsUp):
            work.submit_assignment(second.assignment_id, ANSWER)
        assert lifecycle.tick().hits == 1
        assert counters(hit) == (0, 1, 0)
        second.refresh_from_db()
        assert (second.state, second.ended_at) == (Assignment.State.ABANDONED, START + timedelta(seconds=60))
        work.accept_hit(bob, hit.hit_id)


def test_accepting_twice_gives_the_same_assignment_and_submitting_twice_is_refused(requester, anna):
    hit = make_hit(requester, places=3)
    assignment = work.accept_hit(anna, hit.hit_id)
    assert work.accept_hit(anna, hit.hit_id) == assignment
    work.submit_assignment(assignment.assignment_id, ANSWER, anna)
    with pytest.raises(AlreadySubmitted):
        work.submit_assignment(assignment.assignment_id, ANSWER, anna)
    with pytest.raises(AlreadyTaken):
        work.accept_hit(anna, hit.hit_id)


def test_nobody_submits_or_returns_for_another(requester, anna, bob):
    assignment = work.accept_hit(anna, make_hit(requester).hit_id)
    with pytest.raises(NotYours):
        work.submit_assignment(assignment.assignment_id, ANSWER, bob)
    with pytest.raises(NotYours):
        work.return_assignment(bob, assignment.assignment_id)


def test_expiry_releases_the_open_places_and_auto_approval_pays(requester, anna):
    with at():
        hit = make_hit(requester, places=3, lifetime=3600, auto_approve_seconds=7200)  # holds 3 · 12 = 36
        assignment = submit_work(anna, hit.hit_id)
    with at(seconds=3600):
        lifecycle.catch_up(requester)
        hit.refresh_from_db()
        assert (hit.status, hit.held_cents) == (Status.REVIEWABLE, 12)
    with at(seconds=7201):
        lifecycle.catch_up(requester)
        assignment.refresh_from_db()
        assert (assignment.state, assignment.approved_at) == (
            Assignment.State.APPROVED,
            START + timedelta(seconds=7200),
        )
    with at(days=121):
        lifecycle.tick()
        hit.refresh_from_db()
        assert hit.status == Status.DISPOSED
    assert books.books_agree(requester)
    requester.refresh_from_db()
    assert (requester.held_cents, requester.paid_cents) == (0, 10)


def test_requirements_guard_discovery_preview_and_acceptance(requester, anna, bob):
    def only_us(guard: str) -> HIT:
        requirement = {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "LocaleValues": [{"Country": "US"}]}
        return make_hit(requester, title=guard, requirements=[{**requirement, "ActionsGuarded": guard}])

    hidden, discoverable, open_to_look = (
        only_us(guard) for guard in ("DiscoverPreviewAndAccept", "PreviewAndAccept", "Accept")
    )
    assert len(work.search_hits(anna)) == 3
    assert {group.hit_type.title for group in work.search_hits(bob)} == {"PreviewAndAccept", "Accept"}
    assert work.search_hits(bob, only_qualified=True) == []
    with pytest.raises(HITDoesNotExist):
        work.preview_hit(bob, hidden.hit_id)
    with pytest.raises(NotQualified):
        work.preview_hit(bob, discoverable.hit_id)
    assert len(work.preview_hit(bob, open_to_look.hit_id).unmet) == 1
    with pytest.raises(NotQualified):
        work.accept_hit(bob, open_to_look.hit_id)
    assert work.accept_hit(anna, hidden.hit_id).state == "Accepted"


def test_a_preview_takes_nothing(requester, anna):
    hit = make_hit(requester)
    assert work.preview_hit(anna, hit.hit_id).assignment is None
    assert work.preview_hit(None, hit.hit_id).question.frame_height == 600
    assert counters(hit) == (0, 1, 0)


def test_a_blocked_worker_neither_sees_nor_takes(requester, anna, bob):
    hit = make_hit(requester)
    block_worker(requester, bob.worker_id, "copies")
    assert work.search_hits(bob) == []
    assert len(work.search_hits(anna)) == 1
    with pytest.raises(Blocked):
        work.accept_hit(bob, hit.hit_id)
    with pytest.raises(Blocked):
        work.preview_hit(bob, hit.hit_id)


def test_nobody_holds_more_than_the_limit(requester, anna, settings):
    settings.MARKETPLACE_ACCEPT_LIMIT = 2
    all_hits = [make_hit(requester, title=f"HIT {n}") for n in range(3)]
    for hit in all_hits[:2]:
        work.accept_hit(anna, hit.hit_id)
    with pytest.raises(TooManyAtOnce):
        work.accept_hit(anna, all_hits[2].hit_id)


def test_search_finds_by_words_and_reward_and_sorts(requester, anna, django_assert_max_num_queries):
    make_hit(requester, title="Judge a summary", reward_cents=10)
    make_hit(requester, title="Label an image", reward_cents=50)
    for _ in range(3):
        make_hit(requester, title="Judge a headline", reward_cents=5)
    with django_assert_max_num_queries(4):
        groups = work.search_hits(anna, sort="reward")
    assert [group.hit_type.title for group in groups] == ["Label an image", "Judge a summary", "Judge a headline"]
    assert [group.available for group in work.search_hits(anna, "judge", sort="most")] == [3, 1]
    assert [group.hit_type.title for group in work.search_hits(anna, least_cents=20)] == ["Label an image"]


def test_a_new_type_keeps_the_reward_of_work_under_way(requester, anna, bob):
    hit = make_hit(requester, places=2, reward_cents=10)
    assignment = work.accept_hit(anna, hit.hit_id)
    dearer = make_hit(requester, title="Dearer", reward_cents=20).hit_type
    hit = hits.update_hit_type(requester, hit.hit_id, dearer.hit_type_id)
    assert hit.held_cents == 12 + 24  # one place as promised to Anna, one at the new price
    work.submit_assignment(assignment.assignment_id, ANSWER)
    assignments.approve_assignment(requester, assignment.assignment_id)
    anna.refresh_from_db()
    assert anna.earned_cents == 10
    assert work.accept_hit(bob, hit.hit_id).reward_cents == 20
    assert books.books_agree(requester)
