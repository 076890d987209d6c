"""What the tests of crowds share: one live marketplace for the session, a requester of one's own, and a small batch."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from annotation.models import Batch
from tests.annotation.crowds.market import LiveMarket
from tests.factories import make_batch, make_study


@dataclass
class Desk:
    """A requester's desk at the live market."""

    market: LiveMarket
    requester: str

    def ask(self, question: str, **values: Any) -> Any:
        return self.market.ask(question, **values)

    @property
    def books(self) -> dict[str, Any]:
        return self.market.ask("books", requester=self.requester)


@pytest.fixture(scope="session")
def live_market() -> Iterator[LiveMarket]:
    market = LiveMarket()
    yield market
    market.stop()


@pytest.fixture
def desk(live_market: LiveMarket, settings: Any) -> Desk:
    """The site is pointed at the live market, with a fresh requester who has $1,000."""
    requester = live_market.ask("requester", cents=1_000_00)
    point_at(settings, live_market.url, requester)
    return Desk(live_market, requester["id"])


def point_at(settings: Any, url: str, requester: dict[str, str]) -> None:
    settings.MTURK_ENDPOINT_URL = url
    settings.MTURK_ALLOWED_ENDPOINTS = [url]
    settings.MTURK_ACCESS_KEY_ID, settings.MTURK_SECRET_ACCESS_KEY = requester["key"], requester["secret"]
    settings.SITE_URL = "http://127.0.0.1:8000"
    settings.MTURK_TIMEOUT_SECONDS = 20


TERMS = {
    "reward_cents": 10,
    "title": "Which statements does the summary make?",
    "description": "Read and mark.",
    "keywords": "summary",
    "duration_seconds": 600,
    "lifetime_seconds": 3600,
    "auto_approve_seconds": 86400,
    "minutes": 1,
}


def make_crowd_batch(documents: int = 2, quota: int = 2, **terms: Any) -> Batch:
    """A batch for the MTurk crowd with its terms set: a task for each document."""
    from annotation.crowds.terms import Terms, set_terms

    batch = make_batch(make_study(documents=documents, units=2), quota=quota, state=Batch.State.DRAFT)
    set_terms(batch, Terms.parse({**TERMS, **terms}), crowd="mturk")
    return batch
