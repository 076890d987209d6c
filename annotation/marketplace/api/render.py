"""Rows as the documents of the service model. What is None is left out."""

from typing import Any

from annotation.marketplace.books.money import dollars
from annotation.marketplace.models import (
    HIT,
    Assignment,
    BonusPayment,
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
)

Document = dict[str, Any]


def hit_document(hit: HIT) -> Document:
    kind = hit.hit_type
    return {
        "HITId": hit.hit_id,
        "HITTypeId": kind.hit_type_id,
        "HITGroupId": kind.group_id,
        "CreationTime": hit.created_at,
        "Title": kind.title,
        "Description": kind.description,
        "Question": hit.question,
        "Keywords": kind.keywords or None,
        "HITStatus": hit.status,
        "MaxAssignments": hit.max_assignments,
        "Reward": dollars(hit.reward_cents),
        "AutoApprovalDelayInSeconds": kind.auto_approve_seconds,
        "Expiration": hit.expires_at,
        "AssignmentDurationInSeconds": kind.assignment_seconds,
        "RequesterAnnotation": hit.annotation or None,
        "QualificationRequirements": [requirement_document(one) for one in kind.requirements],
        "HITReviewStatus": "NotReviewed",
        "NumberOfAssignmentsPending": hit.pending,
        "NumberOfAssignmentsAvailable": hit.available,
        "NumberOfAssignmentsCompleted": hit.completed,
    }


def requirement_document(requirement: Document) -> Document:
    """Both ways of guarding are told, whichever the requester used."""
    shown = requirement.get("ActionsGuarded") != "Accept"
    return {**requirement, "RequiredToPreview": requirement.get("RequiredToPreview", shown)}


def assignment_document(assignment: Assignment) -> Document:
    return {
        "AssignmentId": assignment.assignment_id,
        "WorkerId": assignment.worker.worker_id,
        "HITId": assignment.hit.hit_id,
        "AssignmentStatus": assignment.state,
        "AutoApprovalTime": assignment.auto_approve_at,
        "AcceptTime": assignment.accepted_at,
        "SubmitTime": assignment.submitted_at,
        "ApprovalTime": assignment.approved_at,
        "RejectionTime": assignment.rejected_at,
        "Deadline": assignment.deadline,
        "Answer": assignment.answer,
        "RequesterFeedback": assignment.feedback or None,
    }


def type_document(one: QualificationType, caller: Requester) -> Document:
    """The answer key and the test are the owner's alone: others could study for it."""
    owner = one.requester_id == caller.pk
    return {
        "QualificationTypeId": one.qualification_type_id,
        "CreationTime": one.created_at,
        "Name": one.name,
        "Description": one.description,
        "Keywords": one.keywords or None,
        "QualificationTypeStatus": one.status,
        "Test": (one.test or None) if owner else None,
        "TestDurationInSeconds": one.test_seconds,
        "AnswerKey": (one.answer_key or None) if owner else None,
        "RetryDelayInSeconds": one.retry_seconds,
        "IsRequestable": one.status == QualificationType.Status.ACTIVE,
        "AutoGranted": one.auto_granted,
        "AutoGrantedValue": one.auto_granted_value if one.auto_granted else None,
    }


def qualification_document(one: Qualification) -> Document:
    return {
        "QualificationTypeId": one.qualification_type.qualification_type_id,
        "WorkerId": one.worker.worker_id,
        "GrantTime": one.granted_at,
        "IntegerValue": one.value,
        "Status": one.status,
    }


def request_document(one: QualificationRequest) -> Document:
    return {
        "QualificationRequestId": one.request_id,
        "QualificationTypeId": one.qualification_type.qualification_type_id,
        "WorkerId": one.worker.worker_id,
        "Test": one.qualification_type.test or None,
        "Answer": one.answer or None,
        "SubmitTime": one.submitted_at,
    }


def bonus_document(one: BonusPayment) -> Document:
    return {
        "WorkerId": one.worker.worker_id,
        "BonusAmount": dollars(one.cents),
        "AssignmentId": one.assignment.assignment_id,
        "Reason": one.reason,
        "GrantTime": one.granted_at,
    }
