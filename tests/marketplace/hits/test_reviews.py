"""Review policies do what Amazon documents: scores, approvals, rejections, extensions, and a record of them."""

import pytest

from annotation.marketplace import people
from annotation.marketplace.books import books
from annotation.marketplace.errors import BadParameter
from annotation.marketplace.hits import lifecycle, reviews, work
from annotation.marketplace.hits.hits import create_hit
from annotation.marketplace.models import HIT, Assignment
from annotation.marketplace.questions.answers import Answer, build_answers
from tests.marketplace.fixtures import EXTERNAL, at, make_hit

KNOWN = "ScoreMyKnownAnswers/2011-09-01"
PLURALITY = "SimplePlurality/2011-09-01"


def policy(name: str, **values: object) -> dict:
    key = {
        "Key": "AnswerKey",
        "MapEntries": [{"Key": "sky", "Values": ["blue"]}, {"Key": "grass", "Values": ["green"]}],
    }
    parameters = [{"Key": name, "Values": [str(value)]} for name, value in values.items()]
    return {"PolicyName": name, "Parameters": [key, *parameters] if name == KNOWN else parameters}


def reviewed_hit(requester, places: int = 1, **policies: dict) -> HIT:
    hit_type = make_hit(requester).hit_type
    return create_hit(
        requester, hit_type, EXTERNAL, lifetime_seconds=3600, max_assignments=places, review_policies=policies
    )


def submit(hit: HIT, **texts: str) -> Assignment:
    answer = build_answers([Answer(name, text=text) for name, text in texts.items()])
    return work.submit_assignment(work.accept_hit(people.make_worker(), hit.hit_id).assignment_id, answer)


def findings(hit: HIT) -> list[tuple[str, ...]]:
    rows = hit.review_records.filter(is_action=False).order_by("pk")
    return [(row.document.get("QuestionId", ""), row.document["Key"], row.document["Value"]) for row in rows]


def actions(hit: HIT) -> list[tuple[str, str]]:
    rows = hit.review_records.filter(is_action=True).order_by("pk")
    return [(row.document["ActionName"], row.document["Status"]) for row in rows]


def test_known_answers_are_scored_and_good_work_is_approved(requester):
    hit = reviewed_hit(
        requester, Assignment=policy(KNOWN, ApproveIfKnownAnswerScoreIsAtLeast=100, ApproveReason="Well done")
    )
    assignment = submit(hit, sky=" blue ", grass="green")
    assert (assignment.state, assignment.feedback) == ("Approved", "Well done")
    assert findings(hit) == [
        ("sky", "KnownAnswerCorrect", "1"),
        ("grass", "KnownAnswerCorrect", "1"),
        ("", "KnownAnswerScore", "100"),
    ]
    assert actions(hit) == [("Approve", "Succeeded")]
    assert books.books_agree(requester)


def test_bad_work_is_rejected_and_the_hit_extended_up_to_the_limit(requester):
    rules = {"RejectIfKnownAnswerScoreIsLessThan": 50, "RejectReason": "Look again", "ExtendMaximumAssignments": 2}
    hit = reviewed_hit(requester, Assignment=policy(KNOWN, **rules, ExtendIfKnownAnswerScoreIsLessThan=50))
    first = submit(hit, sky="Blue", grass="red")  # upper case is another answer
    assert (first.state, first.feedback) == ("Rejected", "Look again")
    hit.refresh_from_db()
    assert (hit.max_assignments, hit.status) == (2, "Assignable")
    submit(hit, sky="no", grass="no")
    hit.refresh_from_db()
    assert (hit.max_assignments, hit.status) == (2, "Reviewable")
    assert actions(hit) == [("Reject", "Succeeded"), ("Extend", "Succeeded"), ("Reject", "Succeeded")]
    assert books.books_agree(requester)


def test_an_extension_that_cannot_be_paid_is_recorded_and_the_work_still_counts(requester):
    rules = {"ExtendIfKnownAnswerScoreIsLessThan": 50, "ExtendMaximumAssignments": 2}
    hit = reviewed_hit(requester, Assignment=policy(KNOWN, **rules))
    requester.refresh_from_db()
    books.refund(requester, requester.available_cents)
    assignment = submit(hit, sky="no", grass="no")
    assert assignment.state == "Submitted"
    record = hit.review_records.get(is_action=True).document
    assert (record["Status"], record["ErrorCode"]) == ("Failed", "InsufficientFunds")
    hit.refresh_from_db()
    assert (hit.max_assignments, hit.submitted) == (1, 1)
    assert books.books_agree(requester)


def test_answers_are_compared_once_the_hit_is_reviewable(requester):
    rules = {"ApproveIfWorkerAgreementScoreIsAtLeast": 100, "RejectIfWorkerAgreementScoreIsLessThan": 50}
    hit = reviewed_hit(
        requester, 3, HIT=policy(PLURALITY, QuestionIds="sky, grass", QuestionAgreementThreshold=60, **rules)
    )
    first, second = submit(hit, sky="blue", grass="green"), submit(hit, sky="blue", grass="red")
    assert findings(hit) == []
    third = submit(hit, sky="grey", grass="brown")
    # sky: two of three say blue, 66 % > 60 %; grass: one of three each. One of two questions is agreed upon: 50 %.
    assert findings(hit) == [
        ("sky", "QuestionAgreementScore", "66"),
        ("sky", "AgreedAnswer", "blue"),
        ("grass", "QuestionAgreementScore", "33"),
        ("", "HITAgreementScore", "50"),
        ("", "WorkerAgreementScore", "100"),
        ("", "WorkerAgreementScore", "100"),
        ("", "WorkerAgreementScore", "0"),
    ]
    states = [Assignment.objects.get(pk=assignment.pk).state for assignment in (first, second, third)]
    assert states == ["Approved", "Approved", "Rejected"]
    assert books.books_agree(requester)


def test_too_little_agreement_asks_one_more_worker_before_anybody_is_judged(requester):
    rules = {"QuestionIds": "sky", "QuestionAgreementThreshold": 50, "ApproveIfWorkerAgreementScoreIsAtLeast": 100}
    extend = {
        "ExtendIfHITAgreementScoreIsLessThan": 100,
        "ExtendMaximumAssignments": 3,
        "ExtendMinimumTimeInSeconds": 60,
    }
    hit = reviewed_hit(requester, 2, HIT=policy(PLURALITY, **rules, **extend))
    submit(hit, sky="blue")
    submit(hit, sky="grey")
    hit.refresh_from_db()
    assert (hit.status, hit.max_assignments, actions(hit)) == ("Assignable", 3, [("Extend", "Succeeded")])
    submit(hit, sky="blue")
    assert sorted(hit.assignments.values_list("state", flat=True)) == ["Approved", "Approved", "Submitted"]


def test_a_hit_that_ran_out_is_compared_when_the_market_next_looks(requester):
    with at():
        hit = reviewed_hit(requester, 3, HIT=policy(PLURALITY, QuestionIds="sky", QuestionAgreementThreshold=0))
        submit(hit, sky="blue")
    with at(hours=2):
        lifecycle.tick()
        assert findings(hit) == []
        reviews.review_waiting()
        reviews.review_waiting()
    assert [row[1:] for row in findings(hit)][:2] == [("QuestionAgreementScore", "100"), ("AgreedAnswer", "blue")]


@pytest.mark.parametrize(
    "policies",
    [
        {"Assignment": policy(PLURALITY, QuestionIds="a", QuestionAgreementThreshold=1)},
        {"Assignment": {"PolicyName": KNOWN, "Parameters": []}},
        {"Assignment": {"PolicyName": KNOWN, "Parameters": [{"Key": "AnswerKey", "MapEntries": []}]}},
        {"Assignment": policy(KNOWN, Magic=1)},
        {"Assignment": policy(KNOWN, ExtendIfKnownAnswerScoreIsLessThan=5)},
        {"Assignment": policy(KNOWN, ExtendIfKnownAnswerScoreIsLessThan=5, ExtendMaximumAssignments=26)},
        {"HIT": policy(PLURALITY, QuestionIds="a", QuestionAgreementThreshold="much")},
        {"HIT": policy(PLURALITY, QuestionIds=" , ", QuestionAgreementThreshold=1)},
        {"HIT": policy(PLURALITY, QuestionIds="a", QuestionAgreementThreshold=102)},
    ],
)
def test_a_policy_that_makes_no_sense_is_refused_with_the_hit(requester, policies):
    make_hit(requester)
    with pytest.raises(BadParameter, match="ReviewPolicy"):
        reviewed_hit(requester, **policies)
    assert not HIT.objects.exclude(review_policies={}).exists()
