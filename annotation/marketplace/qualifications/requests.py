"""Workers asking for qualifications: at once, by a test, or with the requester's consent."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import transaction

from annotation.common import clock
from annotation.marketplace.errors import (
    AlreadySubmitted,
    BadXML,
    NotYours,
    QualificationTypeDoesNotExist,
    TimeIsUp,
    TooSoon,
)
from annotation.marketplace.models import Qualification, QualificationRequest, QualificationType, Worker
from annotation.marketplace.questions.answers import Answer, parse_answers, score_answers
from annotation.marketplace.questions.xml import INTEGERS

State = QualificationRequest.State


def grant(qualification_type: QualificationType, worker: Worker, value: int) -> Qualification:
    """Give a qualification, or change its score."""
    qualification, _ = Qualification.objects.update_or_create(
        qualification_type=qualification_type,
        worker=worker,
        defaults={"value": value, "status": Qualification.Status.GRANTED, "granted_at": clock.now()},
    )
    return qualification


def may_ask_again_at(qualification_type: QualificationType, worker: Worker) -> datetime | None:
    """When this worker may ask (again): now or earlier means yes, None means never."""
    last = qualification_type.requests.filter(worker=worker).order_by("-started_at").first()
    if last is None:
        return clock.now()
    if last.state in (State.STARTED, State.PENDING) or qualification_type.retry_seconds is None:
        return None
    return last.started_at + timedelta(seconds=qualification_type.retry_seconds)


def request_qualification(worker: Worker, qualification_type_id: str) -> QualificationRequest:
    """Ask for a qualification. What comes back is Granted, Pending, or Started: then there is a test to take.

    Asking again while a test is in work gives that one. Raises TooSoon or QualificationTypeDoesNotExist.
    """
    with transaction.atomic():
        Worker.objects.select_for_update().get(pk=worker.pk)  # a double click takes turns, and gets the same test
        qualification_type = _requestable(qualification_type_id)
        _lapse_late(worker, qualification_type)
        in_work = qualification_type.requests.filter(worker=worker, state=State.STARTED).first()
        if in_work is not None:
            return in_work
        again_at = may_ask_again_at(qualification_type, worker)
        if again_at is None or again_at > clock.now():
            raise TooSoon
        return _ask(qualification_type, worker)


def _requestable(qualification_type_id: str) -> QualificationType:
    qualification_type = (
        QualificationType.objects.requestable().filter(qualification_type_id=qualification_type_id).first()
    )
    if qualification_type is None:
        raise QualificationTypeDoesNotExist("There is no such qualification to ask for.")
    return qualification_type


def _ask(qualification_type: QualificationType, worker: Worker) -> QualificationRequest:
    now = clock.now()
    request = QualificationRequest(qualification_type=qualification_type, worker=worker, started_at=now)
    if qualification_type.test:
        request.state, request.deadline = State.STARTED, now + timedelta(seconds=qualification_type.test_seconds or 0)
    elif qualification_type.auto_granted:
        request.state, request.submitted_at = State.GRANTED, now
        grant(qualification_type, worker, qualification_type.auto_granted_value)
    else:
        request.state, request.submitted_at = State.PENDING, now
    request.save()
    return request


def _lapse_late(worker: Worker, qualification_type: QualificationType) -> None:
    overdue_tests = qualification_type.requests.filter(worker=worker, state=State.STARTED, deadline__lte=clock.now())
    overdue_tests.update(state=State.LAPSED)


def submit_test(worker: Worker, request_id: str, answer_xml: str) -> QualificationRequest:
    """Hand in a test. With an answer key it is scored and granted at once; otherwise the requester decides."""
    answers = parse_answers(answer_xml)
    with transaction.atomic():
        requests = QualificationRequest.objects.select_for_update(of=("self",)).select_related("qualification_type")
        request = requests.filter(request_id=request_id, worker=worker).first()
        if request is None:
            raise NotYours("There is no such test of yours. Nothing was changed.")
        if request.state in (State.PENDING, State.GRANTED, State.REJECTED):
            raise AlreadySubmitted("You have handed in this test already. Nothing was changed.")
        now = clock.now()
        if request.state == State.LAPSED or (request.deadline and request.deadline <= now):
            raise TimeIsUp("The time for this test has ended, so it could not be handed in.")
        request.answer, request.submitted_at, request.state = answer_xml, now, State.PENDING
        key = request.qualification_type.answer_key
        value = _score(key, answers) if key else None
        if value is not None:
            grant(request.qualification_type, worker, value)
            request.state = State.GRANTED
        request.save(update_fields=["answer", "submitted_at", "state"])
    return request


def _score(key: str, answers: Mapping[str, Answer]) -> int | None:
    """None for a key of former days that gives no value to store: then the requester decides."""
    try:
        value = score_answers(key, answers)
    except BadXML:
        return None
    return value if INTEGERS[0] <= value <= INTEGERS[1] else None
