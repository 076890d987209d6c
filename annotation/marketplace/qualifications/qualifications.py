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
from annotation.marketplace.questions.questions import parse_test

from .requests import grant

INTEGERS = (-(2**31), 2**31 - 1)


def own_type(requester: Requester, qualification_type_id: str) -> QualificationType:
    """A qualification type of this requester's. Raises QualificationTypeDoesNotExist."""
    found = QualificationType.objects.existing().filter(
        requester=requester, qualification_type_id=qualification_type_id
    )
    own = found.first()
    if own is None:
        raise QualificationTypeDoesNotExist(
            f"Qualification type {qualification_type_id} does not exist, or is not yours."
        )
    return own


def create_type(requester: Requester, **values: Any) -> QualificationType:
    """Values by the model's field names. Raises BadParameter, BadXML or QualificationTypeAlreadyExists."""
    made = QualificationType(requester=requester, created_at=clock.now(), **values)
    check_length("Name", made.name, 200)
    check_length("Keywords", made.keywords, 1000, least=0)
    _check(made)
    try:
        with transaction.atomic():
            made.save()
    except IntegrityError:
        raise QualificationTypeAlreadyExists(
            f"You have a qualification type named {made.name!r} already; names are yours to use once."
        ) from None
    return made


def update_type(requester: Requester, qualification_type_id: str, **values: Any) -> QualificationType:
    """Change what is named. A new test replaces test, duration and key together."""
    with transaction.atomic():
        own = own_type(requester, qualification_type_id)
        if "test" in values:
            own.answer_key = ""
        elif "answer_key" in values or "test_seconds" in values:
            raise BadParameter("To change AnswerKey or TestDurationInSeconds, give the Test as well.")
        if values.get("auto_granted") and (own.test or values.get("test")):
            raise BadParameter("A qualification type with a test can't be AutoGranted.")
        for name, value in values.items():
            setattr(own, name, value)
        _check(own)
        own.save()
    return own


def _check(one: QualificationType) -> None:
    check_length("Description", one.description, 2000)
    if one.test:
        if one.test_seconds is None:
            raise BadParameter("A Test needs TestDurationInSeconds.")
        parse_test(one.test)
    elif one.answer_key:
        raise BadParameter("An AnswerKey needs the Test that it scores.")
    if one.answer_key:
        check_answer_key(one.answer_key)
    if one.test_seconds is not None:
        check_range("TestDurationInSeconds", one.test_seconds, 1, 365 * DAY)
    if one.retry_seconds is not None:
        check_range("RetryDelayInSeconds", one.retry_seconds, 0, INTEGERS[1])
    if one.auto_granted and one.test:
        raise BadParameter("A qualification type with a test can't be AutoGranted.")
    check_range("AutoGrantedValue", one.auto_granted_value, *INTEGERS)


def delete_type(requester: Requester, qualification_type_id: str) -> None:
    """Nobody can ask for it or require it any more. Open requests are rejected; what was granted stays on record."""
    with transaction.atomic():
        own = own_type(requester, qualification_type_id)
        own.deleted_at = clock.now()
        own.save(update_fields=["deleted_at"])
        own.requests.filter(state__in=["Started", "Pending"]).update(
            state=QualificationRequest.State.REJECTED, reason="The qualification type was deleted."
        )


def associate(requester: Requester, qualification_type_id: str, worker_id: str, value: int, notify: bool) -> None:
    """Give a worker a qualification, or another score."""
    check_range("IntegerValue", value, *INTEGERS)
    with transaction.atomic():
        own, worker = own_type(requester, qualification_type_id), any_worker(worker_id)
        grant(own, worker, value)
        if notify:
            subject = f"You have the qualification {own.name}"
            notices.tell_worker(worker, subject, f"{requester.name} gave it to you. {own.description}", requester)


def disassociate(requester: Requester, qualification_type_id: str, worker_id: str, reason: str = "") -> None:
    """Take a qualification from a worker. Raises QualificationDoesNotExist when they don't have it."""
    with transaction.atomic():
        own, worker = own_type(requester, qualification_type_id), any_worker(worker_id)
        held = Qualification.objects.filter(qualification_type=own, worker=worker, status=Qualification.Status.GRANTED)
        if not held.update(status=Qualification.Status.REVOKED):
            raise QualificationDoesNotExist(f"Worker {worker_id} does not have the qualification {own.name!r}.")
        body = reason or "No reason was given."
        notices.tell_worker(worker, f"You no longer have the qualification {own.name}", body, requester)


def score_of(requester: Requester, qualification_type_id: str, worker_id: str) -> Qualification:
    """What a worker has of a type, also when it was revoked. Raises QualificationDoesNotExist."""
    own = own_type(requester, qualification_type_id)
    found = Qualification.objects.select_related("worker", "qualification_type").filter(
        qualification_type=own, worker__worker_id=worker_id
    )
    held = found.first()
    if held is None:
        raise QualificationDoesNotExist(f"Worker {worker_id} does not have the qualification {own.name!r}.")
    return held


def _pending(requester: Requester, request_id: str) -> QualificationRequest:
    found = QualificationRequest.objects.select_for_update(of=("self",)).select_related("qualification_type", "worker")
    asked = (
        found.filter(request_id=request_id, qualification_type__requester=requester).exclude(state="Started").first()
    )
    if asked is None:
        raise QualificationRequestDoesNotExist(f"Qualification request {request_id} does not exist, or is not to you.")
    if asked.state != QualificationRequest.State.PENDING:
        raise InvalidQualificationState(f"Qualification request {request_id} is {asked.state} already.")
    return asked


def accept_request(requester: Requester, request_id: str, value: int) -> None:
    check_range("IntegerValue", value, *INTEGERS)
    with transaction.atomic():
        asked = _pending(requester, request_id)
        asked.state = QualificationRequest.State.GRANTED
        asked.save(update_fields=["state"])
        grant(asked.qualification_type, asked.worker, value)
        _tell(asked, "You have the qualification", "Your request was granted.")


def reject_request(requester: Requester, request_id: str, reason: str = "") -> None:
    with transaction.atomic():
        asked = _pending(requester, request_id)
        asked.state, asked.reason = QualificationRequest.State.REJECTED, reason
        asked.save(update_fields=["state", "reason"])
        _tell(asked, "Your request was not granted:", reason or "No reason was given.")


def _tell(asked: QualificationRequest, start: str, body: str) -> None:
    worker: Worker = asked.worker
    own = asked.qualification_type
    notices.tell_worker(worker, f"{start} {own.name}", body, own.requester)
