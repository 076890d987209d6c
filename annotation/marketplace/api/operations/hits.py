"""Operations on HITs and HIT types."""

from typing import Any

from django.db import transaction
from django.db.models import TextField
from django.db.models.functions import Cast

from annotation.common import clock
from annotation.marketplace.api.paging import page
from annotation.marketplace.api.registry import operation
from annotation.marketplace.api.render import Document, hit_document, review_report
from annotation.marketplace.books import money
from annotation.marketplace.checks import DAY
from annotation.marketplace.errors import BadParameter, HITDoesNotExist, QualificationTypeDoesNotExist
from annotation.marketplace.hits import hits, layouts, lifecycle
from annotation.marketplace.hits.review_scores import POLICIES
from annotation.marketplace.models import HIT, HITType, QualificationType, Requester, ReviewRecord
from annotation.marketplace.qualifications import eligibility


def _type_values(params: Document) -> hits.TypeValues:
    return hits.TypeValues(
        title=params["Title"],
        description=params["Description"],
        keywords=params.get("Keywords", ""),
        reward_cents=money.cents(params["Reward"]),
        assignment_seconds=params["AssignmentDurationInSeconds"],
        auto_approve_seconds=params.get("AutoApprovalDelayInSeconds", 30 * DAY),
        requirements=params.get("QualificationRequirements", []),
    )


def _create(requester: Requester, hit_type: HITType, params: Document) -> Document:
    names = {"Assignment": "AssignmentReviewPolicy", "HIT": "HITReviewPolicy"}
    hit = hits.create_hit(
        requester,
        hit_type,
        _question(requester, params),
        lifetime_seconds=params["LifetimeInSeconds"],
        max_assignments=params.get("MaxAssignments", 1),
        annotation=params.get("RequesterAnnotation", ""),
        token=params.get("UniqueRequestToken"),
        layout_id=params.get("HITLayoutId", ""),
        review_policies={level: params[name] for level, name in names.items() if name in params},
    )
    return {"HIT": hit_document(hit)}


def _question(requester: Requester, params: Document) -> str:
    """The question as sent, or made from a layout."""
    if "HITLayoutId" not in params and "HITLayoutParameters" in params:
        raise BadParameter("HITLayoutParameters needs the HITLayoutId whose placeholders it fills.")
    if ("Question" in params) == ("HITLayoutId" in params):
        raise BadParameter("Either Question or HITLayoutId is required, and not both.")
    if "Question" in params:
        question: str = params["Question"]
        return question
    layout = layouts.own_layout(requester, params["HITLayoutId"])
    return layouts.question_from(layout, params.get("HITLayoutParameters", []))


@operation("CreateHIT")
def create_hit(requester: Requester, params: Document) -> Document:
    with transaction.atomic():  # a refused HIT leaves no new type behind
        return _create(requester, hits.register_hit_type(requester, _type_values(params)), params)


@operation("CreateHITType")
def create_hit_type(requester: Requester, params: Document) -> Document:
    return {"HITTypeId": hits.register_hit_type(requester, _type_values(params)).hit_type_id}


@operation("CreateHITWithHITType")
def create_hit_with_hit_type(requester: Requester, params: Document) -> Document:
    return _create(requester, hits.own_hit_type(requester, params["HITTypeId"]), params)


@operation("CreateAdditionalAssignmentsForHIT")
def create_additional_assignments(requester: Requester, params: Document) -> None:
    hits.extend_hit(
        requester, params["HITId"], params["NumberOfAdditionalAssignments"], params.get("UniqueRequestToken")
    )


def own_hit(requester: Requester, hit_id: str) -> HIT:
    """To look at, deleted or not. Raises HITDoesNotExist."""
    hit = HIT.objects.select_related("hit_type").filter(requester=requester, hit_id=hit_id).first()
    if hit is None:
        raise HITDoesNotExist(f"HIT {hit_id} does not exist, or is not yours.")
    if hit.due_at is not None and hit.due_at <= clock.now():
        with transaction.atomic():  # more was due than one call does for all; this HIT is looked at, so it is next
            return lifecycle.locked_hit(hit_id, requester)
    return hit


@operation("GetHIT")
def get_hit(requester: Requester, params: Document) -> Document:
    return {"HIT": hit_document(own_hit(requester, params["HITId"]))}


def _list_hits(requester: Requester, name: str, params: Document, **filters: Any) -> Document:
    rows = HIT.objects.select_related("hit_type").filter(requester=requester, **filters)
    if "status" not in filters:
        rows = rows.exclude(status=HIT.Status.DISPOSED)
    listing = page(requester, name, params, rows, newest_first=True)
    return listing.document("HITs", [hit_document(hit) for hit in listing.rows])


@operation("ListHITs")
def list_hits(requester: Requester, params: Document) -> Document:
    return _list_hits(requester, "ListHITs", params)


@operation("ListReviewableHITs")
def list_reviewable_hits(requester: Requester, params: Document) -> Document:
    filters: dict[str, Any] = {"status": params.get("Status", HIT.Status.REVIEWABLE)}
    if "HITTypeId" in params:
        filters["hit_type"] = hits.own_hit_type(requester, params["HITTypeId"])
    return _list_hits(requester, "ListReviewableHITs", params, **filters)


@operation("ListHITsForQualificationType")
def list_hits_for_qualification_type(requester: Requester, params: Document) -> Document:
    type_id = params["QualificationTypeId"]
    is_system_type = type_id in eligibility.SYSTEM_NAMES
    if not is_system_type and not QualificationType.objects.filter(qualification_type_id=type_id).exists():
        raise QualificationTypeDoesNotExist(f"Qualification type {type_id} does not exist.")
    # Ids are capitals and digits, so looking for one in the JSON text finds it and nothing else, on both databases.
    hit_types = HITType.objects.filter(requester=requester).annotate(asked=Cast("requirements", TextField()))
    hit_types = hit_types.filter(asked__contains=f'"{type_id}"')
    return _list_hits(requester, "ListHITsForQualificationType", params, hit_type__in=hit_types.values("pk"))


@operation("UpdateExpirationForHIT")
def update_expiration(requester: Requester, params: Document) -> None:
    hits.update_expiration(requester, params["HITId"], params["ExpireAt"])


@operation("UpdateHITReviewStatus")
def update_review_status(requester: Requester, params: Document) -> None:
    hits.update_review_status(requester, params["HITId"], params.get("Revert", False))


@operation("UpdateHITTypeOfHIT")
def update_hit_type_of_hit(requester: Requester, params: Document) -> None:
    hits.update_hit_type(requester, params["HITId"], params["HITTypeId"])


@operation("DeleteHIT")
def delete_hit(requester: Requester, params: Document) -> None:
    hits.delete_hit(requester, params["HITId"])


@operation("ListReviewPolicyResultsForHIT")
def list_review_policy_results(requester: Requester, params: Document) -> Document:
    """In the order they came about; what is not asked for is left out."""
    hit = own_hit(requester, params["HITId"])
    levels = params.get("PolicyLevels") or list(POLICIES)
    rows = ReviewRecord.objects.filter(hit=hit, level__in=levels)
    for name, is_action in (("RetrieveActions", True), ("RetrieveResults", False)):
        if not params.get(name, True):
            rows = rows.exclude(is_action=is_action)
    listing = page(requester, "ListReviewPolicyResultsForHIT", params, rows)
    reports = {f"{level}ReviewReport": review_report(listing.rows, level) for level in levels}
    names = {
        f"{level}ReviewPolicy": {"PolicyName": policy["PolicyName"]} for level, policy in hit.review_policies.items()
    }
    return {"HITId": hit.hit_id, **names, **reports, "NextToken": listing.next_token}
