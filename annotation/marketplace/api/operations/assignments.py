"""Operations on assignments."""

from annotation.marketplace.api.paging import page
from annotation.marketplace.api.registry import operation
from annotation.marketplace.api.render import Document, assignment_document, hit_document
from annotation.marketplace.errors import InvalidAssignmentState, NotSupported
from annotation.marketplace.hits import assignments
from annotation.marketplace.models import Assignment, Requester

from .hits import own_hit


@operation("ApproveAssignment")
def approve_assignment(requester: Requester, params: Document) -> None:
    assignments.approve_assignment(
        requester,
        params["AssignmentId"],
        params.get("RequesterFeedback", ""),
        params.get("OverrideRejection", False),
    )


@operation("RejectAssignment")
def reject_assignment(requester: Requester, params: Document) -> None:
    assignments.reject_assignment(requester, params["AssignmentId"], params["RequesterFeedback"])


@operation("GetAssignment")
def get_assignment(requester: Requester, params: Document) -> Document:
    assignment = assignments.own_assignment(requester, params["AssignmentId"])
    if assignment.state not in Assignment.DELIVERED:
        raise InvalidAssignmentState(
            f"Assignment {assignment.assignment_id} is not submitted (it is {assignment.state})."
        )
    return {"Assignment": assignment_document(assignment), "HIT": hit_document(assignment.hit)}


@operation("ListAssignmentsForHIT")
def list_assignments(requester: Requester, params: Document) -> Document:
    """In the order they were submitted, so that one who pages while work comes in misses nothing."""
    hit = own_hit(requester, params["HITId"])
    states = params.get("AssignmentStatuses") or Assignment.DELIVERED
    rows = Assignment.objects.select_related("hit", "worker").filter(hit=hit, state__in=states)
    listing = page(requester, "ListAssignmentsForHIT", params, rows, order_by=("submitted_at", "pk"))
    return listing.document("Assignments", [assignment_document(assignment) for assignment in listing.rows])


@operation("GetFileUploadURL")
def get_file_upload_url(requester: Requester, params: Document) -> Document:
    assignments.own_assignment(requester, params["AssignmentId"])
    raise NotSupported("This marketplace takes no file uploads, so there is no address of one (GetFileUploadURL).")
