"""Rows as the documents of the service model. What is None is left out."""

from collections.abc import Iterable
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
    ReviewRecord,
)

Document = dict[str, Any]


def hit_document(hit: HIT) -> Document:
    hit_type = hit.hit_type
    return {
        "HITId": hit.hit_id,
        "HITTypeId": hit_type.hit_type_id,
        "HITGroupId": hit_type.group_id,
        "CreationTime": hit.created_at,
        "Title": hit_type.title,
        "Description": hit_type.description,
        "Question": hit.question,
        "HITLayoutId": hit.layout_id or None,
        "Keywords": hit_type.keywords or None,
        "HITStatus": hit.status,
        "MaxAssignments": hit.max_assignments,
        "Reward": dollars(hit.reward_cents),
        "AutoApprovalDelayInSeconds": hit_type.auto_approve_seconds,
        "Expiration": hit.expires_at,
        "AssignmentDurationInSeconds": hit_type.assignment_seconds,
        "RequesterAnnotation": hit.annotation or None,
        "QualificationRequirements": [requirement_document(requirement) for requirement in hit_type.requirements],
        "HITReviewStatus": "NotReviewed",
        "NumberOfAssignmentsPending": hit.pending,
        "NumberOfAssignmentsAvailable": hit.available,
        "NumberOfAssignmentsCompleted": hit.completed,
    }


def review_report(records: Iterable[ReviewRecord], level: str) -> Document:
    """The findings and the actions of one level."""
    report: Document = {"ReviewResults": [], "ReviewActions": []}
    for record in records:
        if record.level == level and record.is_action:
            report["ReviewActions"].append({"ActionId": record.record_id, **record.document, "CompleteTime": record.at})
        elif record.level == level:
            report["ReviewResults"].append({"ActionId": record.record_id, **record.document})
    return report


def requirement_document(requirement: Document) -> Document:
    """Both ways of guarding are told, whichever the requester used."""
    guards_preview = requirement.get("ActionsGuarded") != "Accept"
    return {**requirement, "RequiredToPreview": requirement.get("RequiredToPreview", guards_preview)}


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


def type_document(qualification_type: QualificationType, caller: Requester) -> Document:
    """The answer key and the test are the owner's alone: others could study for it."""
    is_owner = qualification_type.requester_id == caller.pk
    return {
        "QualificationTypeId": qualification_type.qualification_type_id,
        "CreationTime": qualification_type.created_at,
        "Name": qualification_type.name,
        "Description": qualification_type.description,
        "Keywords": qualification_type.keywords or None,
        "QualificationTypeStatus": qualification_type.status,
        "Test": (qualification_type.test or None) if is_owner else None,
        "TestDurationInSeconds": qualification_type.test_seconds,
        "AnswerKey": (qualification_type.answer_key or None) if is_owner else None,
        "RetryDelayInSeconds": qualification_type.retry_seconds,
        "IsRequestable": qualification_type.status == QualificationType.Status.ACTIVE,
        "AutoGranted": qualification_type.auto_granted,
        "AutoGrantedValue": qualification_type.auto_granted_value if qualification_type.auto_granted else None,
    }


def qualification_document(qualification: Qualification) -> Document:
    return {
        "QualificationTypeId": qualification.qualification_type.qualification_type_id,
        "WorkerId": qualification.worker.worker_id,
        "GrantTime": qualification.granted_at,
        "IntegerValue": qualification.value,
        "Status": qualification.status,
    }


def request_document(request: QualificationRequest) -> Document:
    return {
        "QualificationRequestId": request.request_id,
        "QualificationTypeId": request.qualification_type.qualification_type_id,
        "WorkerId": request.worker.worker_id,
        "Test": request.qualification_type.test or None,
        "Answer": request.answer or None,
        "SubmitTime": request.submitted_at,
    }


def bonus_document(payment: BonusPayment) -> Document:
    return {
        "WorkerId": payment.worker.worker_id,
        "BonusAmount": dollars(payment.cents),
        "AssignmentId": payment.assignment.assignment_id,
        "Reason": payment.reason,
        "GrantTime": payment.granted_at,
    }
