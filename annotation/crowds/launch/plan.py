"""What would stand on the market for a batch: which postings, with how many places, at what price."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from django.db.models import Max, Sum

from annotation.crowds.base import Market
from annotation.crowds.ledger import posting_token
from annotation.crowds.terms import Terms
from annotation.models import Batch, Task

SMALL = 9
"""MTurk asks an additional fee from ten places on, so a task's places may be cheaper in several postings."""


@dataclass(frozen=True)
class Planned:
    """One posting to be."""

    task_id: int | None
    part: int
    token: str
    places: int
    reward_cents: int
    fee_cents: int

    @property
    def cents(self) -> int:
        return self.places * (self.reward_cents + self.fee_cents)


def plan(batch: Batch, terms: Terms, market: Market) -> Iterator[Planned]:
    """Every posting of a batch: one per task and part, or one for all where the market works in sittings."""
    if market.one_posting:
        yield from _sittings(batch, terms, market)
        return
    options = terms.as_json()
    tasks = Task.objects.filter(batch=batch).order_by("pk")
    for task_id, quota, group in tasks.values_list("pk", "quota", "summary__system__group").iterator():
        reward = terms.reward_for(group or "")
        for part_number, places in enumerate(split(quota, reward, market, terms)):
            fee = market.fee_cents(reward, places, options) if market.pays else 0
            token = posting_token(batch, task_id, part_number)
            yield Planned(task_id, part_number, token, places, reward if market.pays else 0, fee)


def split(places: int, reward: int, market: Market, terms: Terms) -> list[int]:
    """The places of one task over postings: together, or nine and the rest where that costs less."""
    options = terms.as_json()
    if places <= SMALL or not market.pays:
        return [places]
    sizes = [SMALL] * (places // SMALL) + ([places % SMALL] if places % SMALL else [])
    apart = sum(size * market.fee_cents(reward, size, options) for size in sizes)
    return sizes if apart < places * market.fee_cents(reward, places, options) else [places]


def _sittings(batch: Batch, terms: Terms, market: Market) -> Iterator[Planned]:
    """One posting; a participant does so many tasks in one sitting, and no task twice."""
    quotas = Task.objects.filter(batch=batch).aggregate(answers=Sum("quota"), most=Max("quota"))
    if not quotas["answers"]:
        return
    places = max(ceil(quotas["answers"] / terms.tasks_per_participant), quotas["most"])
    reward = terms.reward_cents if market.pays else 0
    fee = market.fee_cents(reward, places, terms.as_json()) if market.pays else 0
    yield Planned(None, 0, posting_token(batch, None, 0), places, reward, fee)
