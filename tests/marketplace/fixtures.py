"""What the marketplace's tests share: people, HITs, and boto3 against a live server."""

import os
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from botocore.config import Config

from annotation.common import clock
from annotation.marketplace import people
from annotation.marketplace.books import books
from annotation.marketplace.hits import work
from annotation.marketplace.hits.hits import TypeValues, create_hit, register_hit_type
from annotation.marketplace.models import HIT, Assignment, Requester, Worker
from annotation.marketplace.people import access_keys

__all__ = ["anna", "at", "bob", "client_of", "live_client", "on_postgres", "requester", "workers"]

XSD = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
EXTERNAL = (
    f'<ExternalQuestion xmlns="{XSD}/2006-07-14/ExternalQuestion.xsd">'
    "<ExternalURL>https://example.org/task?n=1</ExternalURL><FrameHeight>600</FrameHeight></ExternalQuestion>"
)
HTML = (
    f'<HTMLQuestion xmlns="{XSD}/2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA['
    "<!DOCTYPE html><html><body><form name='mturk_form' method='post' action='/mturk/externalSubmit'>"
    "<input type='hidden' name='assignmentId'><input name='answer'></form></body></html>"
    "]]></HTMLContent><FrameHeight>450</FrameHeight></HTMLQuestion>"
)
FORM = (
    f'<QuestionForm xmlns="{XSD}/2017-11-06/QuestionForm.xsd"><Overview><Title>Colours</Title></Overview><Question>'
    "<QuestionIdentifier>colour</QuestionIdentifier><IsRequired>true</IsRequired><QuestionContent><Text>The sky?</Text>"
    "</QuestionContent><AnswerSpecification><SelectionAnswer><StyleSuggestion>radiobutton</StyleSuggestion><Selections>"
    "<Selection><SelectionIdentifier>blue</SelectionIdentifier><Text>Blue</Text></Selection>"
    "<Selection><SelectionIdentifier>green</SelectionIdentifier><Text>Green</Text></Selection>"
    "</Selections></SelectionAnswer></AnswerSpecification></Question></QuestionForm>"
)
KEY = (
    f'<AnswerKey xmlns="{XSD}/2005-10-01/AnswerKey.xsd"><Question><QuestionIdentifier>colour</QuestionIdentifier>'
    "<AnswerOption><SelectionIdentifier>blue</SelectionIdentifier><AnswerScore>10</AnswerScore></AnswerOption>"
    "</Question><QualificationValueMapping><PercentageMapping><MaximumSummedScore>10</MaximumSummedScore>"
    "</PercentageMapping></QualificationValueMapping></AnswerKey>"
)
ANSWER = (
    f'<QuestionFormAnswers xmlns="{XSD}/2005-10-01/QuestionFormAnswers.xsd"><Answer>'
    "<QuestionIdentifier>colour</QuestionIdentifier><FreeText>blue</FreeText></Answer></QuestionFormAnswers>"
)
START = datetime(2026, 11, 16, 12, tzinfo=UTC)


def on_postgres() -> bool:
    return os.environ.get("MARKETPLACE_DATABASE_URL", "").startswith("postgres")


def at(**delta: float):
    """Inside this block it is START plus so much."""
    return clock.fixed(START + timedelta(**delta))


@pytest.fixture
def requester(db) -> Requester:
    lab = people.make_requester("Summaries Lab")
    books.top_up(lab, 100_000_00, "play money")
    return lab


@pytest.fixture
def anna(db) -> Worker:
    return people.make_worker(country="US", subdivision="CA")


@pytest.fixture
def bob(db) -> Worker:
    return people.make_worker(country="DE")


@pytest.fixture
def workers(db) -> list[Worker]:
    return [people.make_worker() for _ in range(12)]


def make_hit(requester: Requester, *, places: int = 1, lifetime: int = 3600, question: str = EXTERNAL, **values) -> HIT:
    """A HIT at 10 cents with a duration of ten minutes, unless told otherwise."""
    values = {
        "title": "Judge a summary",
        "description": "Read it and say",
        "reward_cents": 10,
        "assignment_seconds": 600,
        **values,
    }
    hit_type = register_hit_type(requester, TypeValues(**values))
    return create_hit(requester, hit_type, question, lifetime_seconds=lifetime, max_assignments=places)


def submit_work(worker: Worker, hit_id: str) -> Assignment:
    """The worker accepts the HIT and hands in an answer."""
    return work.submit_assignment(work.accept_hit(worker, hit_id).assignment_id, ANSWER)


def deliver(hit_id: str) -> tuple[str, str]:
    """Somebody works on the HIT; the ids of the assignment and the worker."""
    worker = people.make_worker()
    return submit_work(worker, hit_id).assignment_id, worker.worker_id


def client_of(requester: Requester, url: str, **options):
    """boto3, pointed at a server with a fresh key of this requester."""
    key = access_keys.issue_key(requester)
    return boto3.client(
        "mturk",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id=key.key_id,
        aws_secret_access_key=key.secret,
        config=Config(retries={"max_attempts": 0}, **options),
    )


@pytest.fixture
def live_client(live_server, requester):
    """boto3 over a socket, with the parameters checked by the server alone."""
    return client_of(requester, live_server.url, parameter_validation=False)
