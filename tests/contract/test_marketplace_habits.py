"""How requesters' tools call: the habits of Mephisto, psiTurk and others, each in the words that they use."""

import pytest

from tests.marketplace.only import marketplace_pass_only

marketplace_pass_only()

from tests.marketplace.fixtures import (  # noqa: E402
    EXTERNAL,
    deliver,
    live_client,  # noqa: F401
    make_hit,
    requester,  # noqa: F401
)

TYPE = {"Title": "t", "Description": "d", "Reward": "0.01", "AssignmentDurationInSeconds": 60}
ANSWERS = {"Key": "AnswerKey", "MapEntries": [{"Key": "colour", "Values": ["blue"]}]}


def parameter(key: str, value: int | str) -> dict:
    return {"Key": key, "Values": [str(value)]}


@pytest.mark.parametrize("count", [0, 1, 10, 11])
def test_mephisto_asks_for_the_next_token_of_every_page_until_one_is_empty(live_client, requester, count):  # noqa: F811
    ids = {make_hit(requester).hit_id for _ in range(count)}
    hits, response = set(), live_client.list_hits(MaxResults=5)
    while response["NumResults"]:
        hits |= {hit["HITId"] for hit in response["HITs"]}
        response = live_client.list_hits(MaxResults=5, NextToken=response["NextToken"])
    assert hits == ids
    assert "NextToken" not in response


def test_boto3_reads_all_pages_once(live_client, requester):  # noqa: F811
    ids = [make_hit(requester).hit_id for _ in range(7)]
    pages = live_client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 3})
    assert [hit["HITId"] for page in pages for hit in page["HITs"]] == ids[::-1]


def test_psiturk_judges_without_a_word(live_client, requester):  # noqa: F811
    hit = make_hit(requester, places=2)
    first, second = deliver(hit.hit_id)[0], deliver(hit.hit_id)[0]
    live_client.approve_assignment(AssignmentId=first, RequesterFeedback="", OverrideRejection=False)
    live_client.reject_assignment(AssignmentId=second, RequesterFeedback="")
    states = live_client.list_assignments_for_hit(HITId=hit.hit_id)["Assignments"]
    assert [row["AssignmentStatus"] for row in states] == ["Approved", "Rejected"]


def test_a_second_approval_is_refused_in_amazons_words(live_client, requester):  # noqa: F811
    assignment_id, _ = deliver(make_hit(requester).hit_id)
    live_client.approve_assignment(AssignmentId=assignment_id)
    balance = live_client.get_account_balance()["AvailableBalance"]
    with pytest.raises(live_client.exceptions.RequestError, match="can be called with a status of: Submitted"):
        live_client.approve_assignment(AssignmentId=assignment_id)
    assert live_client.get_account_balance()["AvailableBalance"] == balance


def test_a_taken_name_of_a_qualification_is_told_in_amazons_words(live_client, requester):  # noqa: F811
    facts = {"Name": "Judges", "Description": "d", "QualificationTypeStatus": "Active"}
    live_client.create_qualification_type(**facts)
    with pytest.raises(live_client.exceptions.RequestError) as refusal:
        live_client.create_qualification_type(**facts)
    message = refusal.value.response["Error"]["Message"]
    assert message.startswith("You have already created a QualificationType with this name.")


def test_review_policies_run_and_their_results_are_listed(live_client, requester):  # noqa: F811
    known = [ANSWERS, parameter("ApproveIfKnownAnswerScoreIsAtLeast", 100)]
    compare = [parameter("QuestionIds", "colour"), parameter("QuestionAgreementThreshold", 50)]
    hit_id = live_client.create_hit(
        **TYPE,
        LifetimeInSeconds=60,
        Question=EXTERNAL,
        AssignmentReviewPolicy={"PolicyName": "ScoreMyKnownAnswers/2011-09-01", "Parameters": known},
        HITReviewPolicy={"PolicyName": "SimplePlurality/2011-09-01", "Parameters": compare},
    )["HIT"]["HITId"]
    assignment_id, _ = deliver(hit_id)  # answers blue
    assert live_client.get_assignment(AssignmentId=assignment_id)["Assignment"]["AssignmentStatus"] == "Approved"
    report = live_client.list_review_policy_results_for_hit(HITId=hit_id)
    assert report["AssignmentReviewPolicy"]["PolicyName"] == "ScoreMyKnownAnswers/2011-09-01"
    results = report["AssignmentReviewReport"]["ReviewResults"]
    assert [(row["SubjectId"], row["Key"], row["Value"]) for row in results] == [
        (assignment_id, "KnownAnswerCorrect", "1"),
        (assignment_id, "KnownAnswerScore", "100"),
    ]
    (action,) = report["AssignmentReviewReport"]["ReviewActions"]
    assert (action["ActionName"], action["TargetId"], action["Status"]) == ("Approve", assignment_id, "Succeeded")
    agreed = {row["Key"]: row["Value"] for row in report["HITReviewReport"]["ReviewResults"]}
    assert agreed["AgreedAnswer"] == "blue"
    only = live_client.list_review_policy_results_for_hit(HITId=hit_id, PolicyLevels=["HIT"], RetrieveResults=False)
    assert only["HITReviewReport"] == {"ReviewResults": [], "ReviewActions": []}
    assert "AssignmentReviewReport" not in only
