"""Operations on qualification types, qualifications and requests for them."""

from typing import Any

from django.db.models import Q

from annotation.marketplace.api.paging import page
from annotation.marketplace.api.registry import operation
from annotation.marketplace.api.render import Document, qualification_document, request_document, type_document
from annotation.marketplace.errors import BadParameter, QualificationTypeDoesNotExist
from annotation.marketplace.models import Qualification, QualificationRequest, QualificationType, Requester
from annotation.marketplace.qualifications import eligibility, qualifications

FIELDS = {
    "Name": "name",
    "Keywords": "keywords",
    "Description": "description",
    "QualificationTypeStatus": "status",
    "RetryDelayInSeconds": "retry_seconds",
    "Test": "test",
    "AnswerKey": "answer_key",
    "TestDurationInSeconds": "test_seconds",
    "AutoGranted": "auto_granted",
    "AutoGrantedValue": "auto_granted_value",
}


def _values(params: Document) -> dict[str, Any]:
    return {field: params[name] for name, field in FIELDS.items() if name in params}


@operation("CreateQualificationType")
def create_qualification_type(requester: Requester, params: Document) -> Document:
    qualification_type = qualifications.create_type(requester, **_values(params))
    return {"QualificationType": type_document(qualification_type, requester)}


@operation("UpdateQualificationType")
def update_qualification_type(requester: Requester, params: Document) -> Document:
    qualification_type = qualifications.update_type(requester, params["QualificationTypeId"], **_values(params))
    return {"QualificationType": type_document(qualification_type, requester)}


@operation("GetQualificationType")
def get_qualification_type(requester: Requester, params: Document) -> Document:
    type_id = params["QualificationTypeId"]
    if type_id in eligibility.SYSTEM_NAMES:
        return {"QualificationType": _system_type(type_id)}
    qualification_type = QualificationType.objects.existing().filter(qualification_type_id=type_id).first()
    if qualification_type is None:
        raise QualificationTypeDoesNotExist(f"Qualification type {type_id} does not exist.")
    return {"QualificationType": type_document(qualification_type, requester)}


def _system_type(type_id: str) -> Document:
    name = eligibility.SYSTEM_NAMES[type_id]
    return {
        "QualificationTypeId": type_id,
        "Name": name,
        "Description": f"{name}. Computed by the marketplace.",
        "QualificationTypeStatus": "Active",
        "IsRequestable": False,
        "AutoGranted": False,
    }


@operation("DeleteQualificationType")
def delete_qualification_type(requester: Requester, params: Document) -> None:
    qualifications.delete_type(requester, params["QualificationTypeId"])


@operation("ListQualificationTypes")
def list_qualification_types(requester: Requester, params: Document) -> Document:
    rows = QualificationType.objects.existing()
    if params["MustBeRequestable"]:
        rows = rows.requestable()
    if params.get("MustBeOwnedByCaller"):
        rows = rows.filter(requester=requester)
    for word in params.get("Query", "").split()[:10]:
        rows = rows.filter(
            Q(name__icontains=word)
            | Q(description__icontains=word)
            | Q(keywords__icontains=word)
            | Q(qualification_type_id=word)
        )
    listing = page(requester, "ListQualificationTypes", params, rows)
    return listing.document("QualificationTypes", [type_document(row, requester) for row in listing.rows])


@operation("AssociateQualificationWithWorker")
def associate(requester: Requester, params: Document) -> None:
    qualifications.associate(
        requester,
        params["QualificationTypeId"],
        params["WorkerId"],
        params.get("IntegerValue", 1),
        params.get("SendNotification", True),
    )


@operation("DisassociateQualificationFromWorker")
def disassociate(requester: Requester, params: Document) -> None:
    qualifications.disassociate(requester, params["QualificationTypeId"], params["WorkerId"], params.get("Reason", ""))


@operation("GetQualificationScore")
def get_qualification_score(requester: Requester, params: Document) -> Document:
    qualification = qualifications.score_of(requester, params["QualificationTypeId"], params["WorkerId"])
    return {"Qualification": qualification_document(qualification)}


@operation("ListWorkersWithQualificationType")
def list_workers(requester: Requester, params: Document) -> Document:
    qualification_type = qualifications.own_type(requester, params["QualificationTypeId"])
    rows = Qualification.objects.select_related("worker", "qualification_type").filter(
        qualification_type=qualification_type, status=params.get("Status", Qualification.Status.GRANTED)
    )
    listing = page(requester, "ListWorkersWithQualificationType", params, rows)
    return listing.document("Qualifications", [qualification_document(qualification) for qualification in listing.rows])


@operation("ListQualificationRequests")
def list_qualification_requests(requester: Requester, params: Document) -> Document:
    rows = QualificationRequest.objects.select_related("worker", "qualification_type").filter(
        qualification_type__requester=requester, state=QualificationRequest.State.PENDING
    )
    if "QualificationTypeId" in params:
        rows = rows.filter(qualification_type=qualifications.own_type(requester, params["QualificationTypeId"]))
    listing = page(requester, "ListQualificationRequests", params, rows)
    return listing.document("QualificationRequests", [request_document(row) for row in listing.rows])


def _request_id(params: Document) -> str:
    request_id: str = params["QualificationRequestId"]
    if not request_id.strip():
        raise BadParameter("QualificationRequestId is empty.")
    return request_id


@operation("AcceptQualificationRequest")
def accept_qualification_request(requester: Requester, params: Document) -> None:
    qualifications.accept_request(requester, _request_id(params), params.get("IntegerValue", 1))


@operation("RejectQualificationRequest")
def reject_qualification_request(requester: Requester, params: Document) -> None:
    qualifications.reject_request(requester, _request_id(params), params.get("Reason", ""))
