"""What requesters do with qualifications."""

from typing import Any

from django.db import IntegrityError, transaction

from annotation.common import clock
from annotation.marketplace.checks import DAY, check_length, check_range
from annotation.marketplace.errors import (
    BadParameter,
    InvalidQualificationState,
    QualificationDoesNotExist,
    QualificationRequestDoesNotExist,
    QualificationTypeAlreadyExists,
    QualificationTypeDoesNotExist,
)
from annotation.marketplace.models import Qualification, QualificationRequest, QualificationType, Requester, Worker
from annotation.marketplace.people import notices
from annotation.marketplace.people.workers import any_worker
from annotation.marketplace.questions.answers import check_answer_key
from annotation.marketplace.questions.questions import check_test
from annotation.marketplace.questions.xml import INTEGERS

from .requests import grant


def own_type(requester: Requester, qualification_type_id: str) -> QualificationType:
    """A qualification type of this requester's. Raises QualificationTypeDoesNotExist."""
    matches = QualificationType.objects.existing().filter(
        requester=requester, qualification_type_id=qualification_type_id
    )
    qualification_type = matches.first()
    if qualification_type is None:
        raise QualificationTypeDoesNotExist(
            f"Qualification type {qualification_type_id} does not exist, or is not yours."
        )
    return qualification_type


def create_type(requester: Requester, **values: Any) -> QualificationType:
    """Values by the model's field names. Raises BadParameter, BadXML or QualificationTypeAlreadyExists."""
    qualification_type = QualificationType(requester=requester, created_at=clock.now(), **values)
    check_length("Name", qualification_type.name, 200)
    check_length("Keywords", qualification_type.keywords, 1000, minimum=0)
    _check(qualification_type)
    try:
        with transaction.atomic():
            qualification_type.save()
    except IntegrityError:
        raise QualificationTypeAlreadyExists(
            "You have already created a QualificationType with this name. "  # clients look for these very words
            f"It is {qualification_type.name!r}; nothing was changed."
        ) from None
    return qualification_type


def update_type(requester: Requester, qualification_type_id: str, **values: Any) -> QualificationType:
    """Change what is named. A new test replaces test, duration and key together."""
    with transaction.atomic():
        qualification_type = own_type(requester, qualification_type_id)
        if "test" in values:
            qualification_type.answer_key = ""
        elif "answer_key" in values or "test_seconds" in values:
            raise BadParameter("To change AnswerKey or TestDurationInSeconds, give the Test as well.")
        if values.get("auto_granted") and (qualification_type.test or values.get("test")):
            raise BadParameter("A qualification type with a test can't be AutoGranted.")
        for name, value in values.items():
            setattr(qualification_type, name, value)
        _check(qualification_type)
        qualification_type.save()
    return qualification_type


def _check(qualification_type: QualificationType) -> None:
    check_length("Description", qualification_type.description, 2000)
    if qualification_type.test:
        if qualification_type.test_seconds is None:
            raise BadParameter("A Test needs TestDurationInSeconds.")
        check_test(qualification_type.test)
    elif qualification_type.answer_key:
        raise BadParameter("An AnswerKey needs the Test that it scores.")
    if qualification_type.answer_key:
        check_answer_key(qualification_type.answer_key)
    if qualification_type.test_seconds is not None:
        check_range("TestDurationInSeconds", qualification_type.test_seconds, 1, 365 * DAY)
    if qualification_type.retry_seconds is not None:
        check_range("RetryDelayInSeconds", qualification_type.retry_seconds, 0, INTEGERS[1])
    if qualification_type.auto_granted and qualification_type.test:
        raise BadParameter("A qualification type with a test can't be AutoGranted.")
    check_range("AutoGrantedValue", qualification_type.auto_granted_value, *INTEGERS)


def delete_type(requester: Requester, qualification_type_id: str) -> None:
    """Nobody can ask for it or require it any more. Open requests are rejected; what was granted stays on record."""
    with transaction.atomic():
        qualification_type = own_type(requester, qualification_type_id)
        qualification_type.deleted_at = clock.now()
        qualification_type.save(update_fields=["deleted_at"])
        qualification_type.requests.filter(state__in=["Started", "Pending"]).update(
            state=QualificationRequest.State.REJECTED, reason="The qualification type was deleted."
        )


def associate(requester: Requester, qualification_type_id: str, worker_id: str, value: int, notify: bool) -> None:
    """Give a worker a qualification, or another score."""
    check_range("IntegerValue", value, *INTEGERS)
    with transaction.atomic():
        qualification_type, worker = own_type(requester, qualification_type_id), any_worker(worker_id)
        grant(qualification_type, worker, value)
        if notify:
            subject = f"You have the qualification {qualification_type.name}"
            notices.tell_worker(
                worker, subject, f"{requester.name} gave it to you. {qualification_type.description}", requester
            )


def disassociate(requester: Requester, qualification_type_id: str, worker_id: str, reason: str = "") -> None:
    """Take a qualification from a worker. Raises QualificationDoesNotExist when they don't have it."""
    with transaction.atomic():
        qualification_type, worker = own_type(requester, qualification_type_id), any_worker(worker_id)
        granted = Qualification.objects.filter(
            qualification_type=qualification_type, worker=worker, status=Qualification.Status.GRANTED
        )
        if not granted.update(status=Qualification.Status.REVOKED):
            raise QualificationDoesNotExist(
                f"Worker {worker_id} does not have the qualification {qualification_type.name!r}."
            )
        body = reason or "No reason was given."
        notices.tell_worker(worker, f"You no longer have the qualification {qualification_type.name}", body, requester)


def score_of(requester: Requester, qualification_type_id: str, worker_id: str) -> Qualification:
    """What a worker has of a type, also when it was revoked. Raises QualificationDoesNotExist."""
    qualification_type = own_type(requester, qualification_type_id)
    matches = Qualification.objects.select_related("worker", "qualification_type").filter(
        qualification_type=qualification_type, worker__worker_id=worker_id
    )
    qualification = matches.first()
    if qualification is None:
        raise QualificationDoesNotExist(
            f"Worker {worker_id} does not have the qualification {qualification_type.name!r}."
        )
    return qualification


def _pending(requester: Requester, request_id: str) -> QualificationRequest:
    rows = QualificationRequest.objects.select_for_update(of=("self",)).select_related("qualification_type", "worker")
    request = (
        rows.filter(request_id=request_id, qualification_type__requester=requester).exclude(state="Started").first()
    )
    if request is None:
        raise QualificationRequestDoesNotExist(f"Qualification request {request_id} does not exist, or is not to you.")
    if request.state != QualificationRequest.State.PENDING:
        raise InvalidQualificationState(f"Qualification request {request_id} is {request.state} already.")
    return request


def accept_request(requester: Requester, request_id: str, value: int) -> None:
    check_range("IntegerValue", value, *INTEGERS)
    with transaction.atomic():
        request = _pending(requester, request_id)
        request.state = QualificationRequest.State.GRANTED
        request.save(update_fields=["state"])
        grant(request.qualification_type, request.worker, value)
        _tell(request, "You have the qualification", "Your request was granted.")


def reject_request(requester: Requester, request_id: str, reason: str = "") -> None:
    with transaction.atomic():
        request = _pending(requester, request_id)
        request.state, request.reason = QualificationRequest.State.REJECTED, reason
        request.save(update_fields=["state", "reason"])
        _tell(request, "Your request was not granted:", reason or "No reason was given.")


def _tell(request: QualificationRequest, start: str, body: str) -> None:
    worker: Worker = request.worker
    qualification_type = request.qualification_type
    notices.tell_worker(worker, f"{start} {qualification_type.name}", body, qualification_type.requester)
