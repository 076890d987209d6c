"""Publishing: every task stands on the market once, by its terms, and the ledger says what was promised."""

import pytest

from annotation.crowds.launch.publish import publish
from annotation.models import Entry
from tests.annotation.crowds.conftest import make_crowd_batch

pytestmark = [pytest.mark.django_db]


def test_every_task_stands_once_and_its_price_is_promised(desk) -> None:
    batch = make_crowd_batch(documents=3, quota=2)
    published = publish(batch)
    # 3 tasks × 2 places × (10 + 2 cents)
    assert (published.postings, published.already, published.cents) == (3, 0, 72)
    books = desk.books
    assert [places for _token, _hit, places, _status in books["hits"]] == [2, 2, 2]
    assert books["held"] == 72
    batch.study.refresh_from_db()
    assert batch.study.committed_cents == 72
    assert set(batch.entries.values_list("state", flat=True)) == {Entry.State.SETTLED}
    assert batch.state == "open"


def test_publishing_again_changes_nothing(desk) -> None:
    batch = make_crowd_batch()
    publish(batch)
    published = publish(batch)
    assert (published.postings, published.already, published.cents) == (0, 2, 0)
    assert len(desk.books["hits"]) == 2
