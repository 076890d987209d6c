"""All 39 operations through boto3 over a socket: each called well, each called badly, each answer read by botocore."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.marketplace.only import marketplace_pass_only

marketplace_pass_only()

from annotation.marketplace import people  # noqa: E402
from annotation.marketplace.api import contract  # noqa: E402
from annotation.marketplace.api.operations import HANDLERS  # noqa: E402
from annotation.marketplace.models import HIT, Assignment  # noqa: E402
from annotation.marketplace.people.access_keys import issue_key  # noqa: E402
from annotation.marketplace.qualifications import requests  # noqa: E402
from tests.marketplace import wire  # noqa: E402
from tests.marketplace.fixtures import (  # noqa: E402, F401
    ANSWER,
    EXTERNAL,
    FORM,
    HTML,
    KEY,
    client_of,
    deliver,
    live_client,
    requester,
)

pytestmark = [pytest.mark.postgres, pytest.mark.sqlite]  # on both databases
TYPE = {
    "Title": "Judge a summary",
    "Description": "Read a summary and say what is in it",
    "Keywords": "text, reading",
    "Reward": "0.10",
    "AssignmentDurationInSeconds": 600,
    "AutoApprovalDelayInSeconds": 86400,
}


@pytest.fixture
def call(live_client):  # noqa: F811
    """Call an operation by its name."""

    def by_name(name: str, **params):
        method = {name_: method for method, name_ in live_client.meta.method_to_api_mapping.items()}[name]
        answer = getattr(live_client, method)(**params)
        return {key: value for key, value in answer.items() if key != "ResponseMetadata"}

    return by_name


@pytest.fixture
def error_of(live_client):  # noqa: F811
    """The TurkErrorCode (without its prefix) of a call that must be refused with RequestError."""

    def by_name(name: str, **params) -> str:
        method = {name_: method for method, name_ in live_client.meta.method_to_api_mapping.items()}[name]
        with pytest.raises(live_client.exceptions.RequestError) as raised:
            getattr(live_client, method)(**params)
        response = raised.value.response
        assert response["ResponseMetadata"]["HTTPStatusCode"] == 400
        assert response["Error"]["Message"]
        return response["TurkErrorCode"].removeprefix("AWS.MechanicalTurk.")

    return by_name


@pytest.fixture
def hit_id(call) -> str:
    return call("CreateHIT", Question=EXTERNAL, LifetimeInSeconds=3600, MaxAssignments=2, **TYPE)["HIT"]["HITId"]


def test_every_operation_of_the_model_has_a_handler():
    assert set(HANDLERS) == set(contract.operation_names())
    assert len(HANDLERS) == 39


def test_hits_are_created_by_value_and_read_back(call, error_of):
    first = call("CreateHIT", Question=HTML, LifetimeInSeconds=3600, RequesterAnnotation="batch 7", **TYPE)["HIT"]
    assert first["HITStatus"] == "Assignable"
    assert (first["Reward"], first["MaxAssignments"], first["NumberOfAssignmentsAvailable"]) == ("0.10", 1, 1)
    assert first["Expiration"] - first["CreationTime"] == timedelta(hours=1)
    assert call("GetHIT", HITId=first["HITId"])["HIT"] == first
    hit_type_id = call("CreateHITType", **TYPE)["HITTypeId"]
    assert hit_type_id == first["HITTypeId"]
    assert call("CreateHITType", **{**TYPE, "Reward": "0.11"})["HITTypeId"] != hit_type_id
    second = call("CreateHITWithHITType", HITTypeId=hit_type_id, Question=FORM, LifetimeInSeconds=60)["HIT"]
    assert [hit["HITId"] for hit in call("ListHITs")["HITs"]] == [second["HITId"], first["HITId"]]
    assert error_of("GetHIT", HITId="3NOBODY") == "HITDoesNotExist"
    assert (
        error_of("CreateHITWithHITType", HITTypeId="3NO", Question=FORM, LifetimeInSeconds=60) == "HITTypeDoesNotExist"
    )
    assert error_of("CreateHITType", Title="x") == "ParameterValidationError"
    assert error_of("ListHITs", NextToken="made-up") == "ParameterValidationError"


REQUIREMENT = {"QualificationTypeId": "00000000000000000040", "Comparator": "GreaterThan", "IntegerValues": [1]}


@pytest.mark.parametrize(
    ("invalid", "code"),
    [
        ({"Reward": "$1"}, "ParameterValidationError"),
        ({"QualificationRequirements": [{**REQUIREMENT, "Comparator": "Foo"}]}, "ParameterValidationError"),
        ({"QualificationRequirements": [REQUIREMENT] * 11}, "ParameterValidationError"),
        ({"UniqueRequestToken": "u" * 65}, "ParameterValidationError"),
        ({"Question": EXTERNAL.replace("?n=1", "?n=" + "1" * (65_536 - len(EXTERNAL) + 1))}, "XMLParseError"),
        ({"Question": '<!DOCTYPE q [<!ENTITY a "b">]>' + EXTERNAL}, "XMLParseError"),
        ({"MaxAssignments": 10**7, "Reward": "1"}, "InsufficientFunds"),
        ({"HITLayoutId": "3LAYOUT"}, "ParameterValidationError"),
    ],
)
def test_hits_that_are_refused_leave_nothing(call, error_of, invalid, code):
    before = call("GetAccountBalance")
    params = {**TYPE, "Question": EXTERNAL, "LifetimeInSeconds": 3600, **invalid}
    assert error_of("CreateHIT", **params) == code
    assert call("GetAccountBalance") == before
    assert not HIT.objects.exists()


def test_a_hit_is_extended_expired_reviewed_retyped_and_deleted(call, error_of, hit_id):
    call("CreateAdditionalAssignmentsForHIT", HITId=hit_id, NumberOfAdditionalAssignments=7)
    assert call("GetHIT", HITId=hit_id)["HIT"]["MaxAssignments"] == 9
    extension = {"HITId": hit_id, "NumberOfAdditionalAssignments": 1}
    assert error_of("CreateAdditionalAssignmentsForHIT", **extension) == "InvalidMaximumAssignmentsIncrease"
    other_type_id = call("CreateHITType", **{**TYPE, "Title": "Another title"})["HITTypeId"]
    call("UpdateHITTypeOfHIT", HITId=hit_id, HITTypeId=other_type_id)
    assert call("GetHIT", HITId=hit_id)["HIT"]["Title"] == "Another title"
    assert error_of("UpdateHITTypeOfHIT", HITId=hit_id, HITTypeId="3NO") == "HITTypeDoesNotExist"
    assert error_of("DeleteHIT", HITId=hit_id) == "InvalidHITState"
    assert error_of("UpdateHITReviewStatus", HITId=hit_id) == "InvalidHITState"
    far = datetime.now(UTC) + timedelta(days=366)
    assert error_of("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=far) == "ParameterValidationError"
    call("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=datetime(2015, 1, 1, tzinfo=UTC))
    assert call("GetHIT", HITId=hit_id)["HIT"]["HITStatus"] == "Reviewable"
    assert call("ListReviewableHITs")["NumResults"] == 1
    assert call("ListReviewableHITs", Status="Reviewing", HITTypeId=other_type_id)["HITs"] == []
    assert error_of("ListReviewableHITs", Status="Done") == "ParameterValidationError"
    call("UpdateHITReviewStatus", HITId=hit_id)
    assert call("GetHIT", HITId=hit_id)["HIT"]["HITStatus"] == "Reviewing"
    assert error_of("UpdateHITReviewStatus", HITId=hit_id) == "InvalidHITState"
    call("UpdateHITReviewStatus", HITId=hit_id, Revert=True)
    call("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=datetime.now(UTC) + timedelta(hours=1))
    assert call("GetHIT", HITId=hit_id)["HIT"]["HITStatus"] == "Assignable"  # a later end opens it again
    call("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=datetime(2015, 1, 1, tzinfo=UTC))
    call("DeleteHIT", HITId=hit_id)
    assert call("GetHIT", HITId=hit_id)["HIT"]["HITStatus"] == "Disposed"
    assert call("ListHITs")["HITs"] == []
    assert error_of("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=datetime.now(UTC)) == "InvalidHITState"
    assert call("ListReviewPolicyResultsForHIT", HITId=hit_id)["HITReviewReport"] == {
        "ReviewResults": [],
        "ReviewActions": [],
    }
    assert error_of("ListReviewPolicyResultsForHIT", HITId=hit_id, PolicyLevels=["Both"]) == "ParameterValidationError"


def test_assignments_are_listed_approved_rejected_and_paid(call, error_of, hit_id):
    first, anna = deliver(hit_id)
    second, bob = deliver(hit_id)
    assignments = call("ListAssignmentsForHIT", HITId=hit_id)["Assignments"]
    assert [assignment["AssignmentId"] for assignment in assignments] == [first, second]
    assert assignments[0]["WorkerId"] == anna
    assert assignments[0]["Answer"] == ANSWER
    assert assignments[0]["AutoApprovalTime"] - assignments[0]["SubmitTime"] == timedelta(days=1)
    call("ApproveAssignment", AssignmentId=first, RequesterFeedback="Thank you")
    assert error_of("ApproveAssignment", AssignmentId=first) == "InvalidAssignmentState"  # as at Amazon's
    assert error_of("RejectAssignment", AssignmentId=first, RequesterFeedback="no") == "InvalidAssignmentState"
    assert error_of("RejectAssignment", AssignmentId=second, RequesterFeedback="x" * 1025) == "ParameterValidationError"
    call("RejectAssignment", AssignmentId=second, RequesterFeedback="Not read")
    assert error_of("RejectAssignment", AssignmentId=second, RequesterFeedback="no") == "InvalidAssignmentState"
    assert error_of("ApproveAssignment", AssignmentId=second) == "InvalidAssignmentState"
    rejected = call("GetAssignment", AssignmentId=second)
    assert (rejected["Assignment"]["AssignmentStatus"], rejected["HIT"]["HITId"]) == ("Rejected", hit_id)
    assert rejected["Assignment"]["RequesterFeedback"] == "Not read"
    call("ApproveAssignment", AssignmentId=second, OverrideRejection=True)
    approved = call("ListAssignmentsForHIT", HITId=hit_id, AssignmentStatuses=["Approved"])
    assert approved["NumResults"] == 2
    assert error_of("ListAssignmentsForHIT", HITId=hit_id, AssignmentStatuses=["Lost"]) == "ParameterValidationError"
    assert error_of("GetAssignment", AssignmentId="3NO") == "AssignmentDoesNotExist"
    assert error_of("GetFileUploadURL", AssignmentId=first, QuestionIdentifier="q") == "OperationNotSupported"
    bonus = {"WorkerId": anna, "AssignmentId": first, "BonusAmount": "1.5", "Reason": "Careful work"}
    call("SendBonus", **bonus)
    assert error_of("SendBonus", **{**bonus, "WorkerId": bob}) == "AssignmentDoesNotExist"
    assert error_of("SendBonus", **{**bonus, "BonusAmount": "0"}) == "ParameterValidationError"
    rows = call("ListBonusPayments", HITId=hit_id)["BonusPayments"]
    assert [(row["BonusAmount"], row["WorkerId"], row["Reason"]) for row in rows] == [("1.50", anna, "Careful work")]
    assert call("ListBonusPayments", AssignmentId=second)["BonusPayments"] == []
    assert error_of("ListBonusPayments") == "ParameterValidationError"
    # Two rewards of 0.10 with fees of 0.02, a bonus of 1.50 with a fee of 0.30: 0.24 + 1.80 = 2.04.
    assert call("GetAccountBalance") == {"AvailableBalance": "99997.96", "OnHoldBalance": "0.00"}


def test_qualifications_from_type_to_score(call, error_of):
    test = {"Test": FORM, "AnswerKey": KEY, "TestDurationInSeconds": 600}
    created = call(
        "CreateQualificationType", Name="Colours", Description="Sees them", QualificationTypeStatus="Active", **test
    )["QualificationType"]
    type_id = created["QualificationTypeId"]
    assert (created["IsRequestable"], created["AutoGranted"], created["AnswerKey"]) == (True, False, KEY)
    same_name = {"Name": "Colours", "Description": "x", "QualificationTypeStatus": "Active"}
    assert error_of("CreateQualificationType", **same_name) == "QualificationTypeAlreadyExists"
    assert call("GetQualificationType", QualificationTypeId=type_id)["QualificationType"] == created
    assert error_of("GetQualificationType", QualificationTypeId="3NO") == "QualificationTypeDoesNotExist"
    updated = call("UpdateQualificationType", QualificationTypeId=type_id, Description="Sees colours")
    assert updated["QualificationType"]["Description"] == "Sees colours"
    assert (
        error_of("UpdateQualificationType", QualificationTypeId=type_id, AutoGranted=True) == "ParameterValidationError"
    )
    listing = call("ListQualificationTypes", MustBeRequestable=True, MustBeOwnedByCaller=True, Query="colours")
    assert [row["QualificationTypeId"] for row in listing["QualificationTypes"]] == [type_id]
    assert error_of("ListQualificationTypes", Query="x") == "ParameterValidationError"
    worker = people.make_worker()
    ids = {"QualificationTypeId": type_id, "WorkerId": worker.worker_id}
    assert error_of("GetQualificationScore", **ids) == "QualificationDoesNotExist"
    call("AssociateQualificationWithWorker", IntegerValue=7, **ids)
    qualification = call("GetQualificationScore", **ids)["Qualification"]
    assert (qualification["IntegerValue"], qualification["Status"]) == (7, "Granted")
    assert call("ListWorkersWithQualificationType", QualificationTypeId=type_id)["NumResults"] == 1
    call("DisassociateQualificationFromWorker", Reason="long ago", **ids)
    assert error_of("DisassociateQualificationFromWorker", **ids) == "QualificationDoesNotExist"
    revoked = call("ListWorkersWithQualificationType", QualificationTypeId=type_id, Status="Revoked")
    assert [row["WorkerId"] for row in revoked["Qualifications"]] == [worker.worker_id]
    assert error_of("ListWorkersWithQualificationType", QualificationTypeId="3NO") == "QualificationTypeDoesNotExist"
    assert error_of("AssociateQualificationWithWorker", **{**ids, "WorkerId": "A1NOBODY"}) == "WorkerDoesNotExist"
    requirement = {"QualificationTypeId": type_id, "Comparator": "Exists"}
    call("CreateHIT", Question=EXTERNAL, LifetimeInSeconds=60, QualificationRequirements=[requirement], **TYPE)
    assert call("ListHITsForQualificationType", QualificationTypeId=type_id)["NumResults"] == 1
    assert error_of("ListHITsForQualificationType", QualificationTypeId="3NO") == "QualificationTypeDoesNotExist"
    call("DeleteQualificationType", QualificationTypeId=type_id)
    assert error_of("DeleteQualificationType", QualificationTypeId=type_id) == "QualificationTypeDoesNotExist"


def test_requests_for_qualifications_wait_for_the_requester(call, error_of):
    created = call("CreateQualificationType", Name="By hand", Description="x", QualificationTypeStatus="Active")
    type_id = created["QualificationType"]["QualificationTypeId"]
    anna, bob = people.make_worker(), people.make_worker()
    for worker in (anna, bob):
        requests.request_qualification(worker, type_id)
    pending = call("ListQualificationRequests", QualificationTypeId=type_id)["QualificationRequests"]
    assert [request["WorkerId"] for request in pending] == [anna.worker_id, bob.worker_id]
    call("AcceptQualificationRequest", QualificationRequestId=pending[0]["QualificationRequestId"], IntegerValue=80)
    call("RejectQualificationRequest", QualificationRequestId=pending[1]["QualificationRequestId"], Reason="Not yet")
    score = call("GetQualificationScore", QualificationTypeId=type_id, WorkerId=anna.worker_id)
    assert score["Qualification"]["IntegerValue"] == 80
    accepted = {"QualificationRequestId": pending[0]["QualificationRequestId"]}
    assert error_of("AcceptQualificationRequest", **accepted) == "InvalidQualificationState"
    assert error_of("RejectQualificationRequest", QualificationRequestId="3N") == "QualificationRequestDoesNotExist"
    assert call("ListQualificationRequests")["QualificationRequests"] == []
    assert error_of("ListQualificationRequests", MaxResults=101) == "ParameterValidationError"


def test_workers_are_blocked_and_written_to(call, error_of, hit_id):
    assignment_id, worker_id = deliver(hit_id)
    call("CreateWorkerBlock", WorkerId=worker_id, Reason="Copies")
    assert call("ListWorkerBlocks")["WorkerBlocks"] == [{"WorkerId": worker_id, "Reason": "Copies"}]
    call("DeleteWorkerBlock", WorkerId=worker_id)
    assert call("ListWorkerBlocks")["WorkerBlocks"] == []
    assert error_of("CreateWorkerBlock", WorkerId=worker_id, Reason="") == "ParameterValidationError"
    assert error_of("DeleteWorkerBlock", WorkerId="A1NOBODY") == "WorkerDoesNotExist"
    assert error_of("ListWorkerBlocks", MaxResults=0) == "ParameterValidationError"
    message = {"Subject": "News", "MessageText": "There are more HITs.", "WorkerIds": [worker_id, "A1NOBODY"]}
    failed = call("NotifyWorkers", **message)["NotifyWorkersFailureStatuses"]
    assert [row["WorkerId"] for row in failed] == [worker_id, "A1NOBODY"]  # nothing judged yet, and nobody
    call("ApproveAssignment", AssignmentId=assignment_id)
    failed = call("NotifyWorkers", **message)["NotifyWorkersFailureStatuses"]
    assert [(row["WorkerId"], row["NotifyWorkersFailureCode"]) for row in failed] == [("A1NOBODY", "HardFailure")]
    assert Assignment.objects.get().worker.messages.get().subject == "News"
    assert error_of("NotifyWorkers", **{**message, "Subject": "x" * 201}) == "ParameterValidationError"


def test_events_are_sent_where_they_are_asked_for(call, error_of, requester):  # noqa: F811
    hit_type = call("CreateHITType", **TYPE)["HITTypeId"]
    spec = {
        "Destination": "me@example.org",
        "Transport": "Email",
        "Version": "2006-05-05",
        "EventTypes": ["HITCreated", "AssignmentSubmitted"],
    }
    assert error_of("UpdateNotificationSettings", HITTypeId=hit_type) == "ParameterValidationError"
    assert error_of("UpdateNotificationSettings", HITTypeId=hit_type, Active=True) == "ParameterValidationError"
    call("UpdateNotificationSettings", HITTypeId=hit_type, Notification=spec)
    hit = call("CreateHITWithHITType", HITTypeId=hit_type, Question=EXTERNAL, LifetimeInSeconds=60)["HIT"]
    deliver(hit["HITId"])
    assert list(requester.notices.order_by("pk").values_list("event_type", flat=True)) == spec["EventTypes"]
    call("UpdateNotificationSettings", HITTypeId=hit_type, Active=False)
    call("CreateHITWithHITType", HITTypeId=hit_type, Question=EXTERNAL, LifetimeInSeconds=60)
    assert requester.notices.count() == 2
    call("SendTestEventNotification", Notification=spec, TestEventType="Ping")
    assert requester.notices.filter(event_type="Ping").count() == 1
    foreign = {**spec, "Transport": "SQS", "Destination": "https://elsewhere.example.org/queue"}
    refusal = error_of("SendTestEventNotification", Notification=foreign, TestEventType="Ping")
    assert refusal == "OperationNotSupported"


def test_all_operations_are_called_here_well_and_badly():
    """By this file's own text, so that it holds however the tests are spread over processes."""
    text = Path(__file__).read_text()
    names = set(contract.operation_names())
    always_refused = {"GetFileUploadURL"}  # see docs/marketplace/operations.md
    never_refused = {"GetAccountBalance"}  # takes no parameters
    assert names - set(re.findall(r'\bcall\(\s*"(\w+)"', text)) == always_refused
    assert names - set(re.findall(r'\berror_of\(\s*"(\w+)"', text)) == never_refused


def test_unknown_members_and_nulls_are_left_out(live_server, requester):  # noqa: F811
    params = {**TYPE, "Question": EXTERNAL, "LifetimeInSeconds": "60", "Novelty": 1, "RequesterAnnotation": None}
    answer = wire.call(live_server.url, issue_key(requester), "CreateHIT", **params)
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/x-amz-json-1.1"
    assert HIT.objects.get(hit_id=answer.body["HIT"]["HITId"]).annotation == ""
    assert isinstance(answer.body["HIT"]["CreationTime"], float)


def test_a_fault_is_an_answer_too(live_client, monkeypatch):  # noqa: F811
    def broken(requester, params):  # noqa: F811
        raise RuntimeError("secret detail")

    monkeypatch.setitem(HANDLERS, "GetAccountBalance", broken)
    with pytest.raises(live_client.exceptions.ServiceFault) as raised:
        live_client.get_account_balance()
    assert "secret" not in str(raised.value)


def test_an_unknown_operation_is_named(live_server, requester):  # noqa: F811
    client = client_of(requester, live_server.url)

    def rename(params, **_):
        params["headers"]["X-Amz-Target"] = "MTurkRequesterServiceV20170117.GetRich"

    client.meta.events.register("before-call.mturk.GetAccountBalance", rename)
    with pytest.raises(ClientError, match="UnknownOperationException"):
        client.get_account_balance()
