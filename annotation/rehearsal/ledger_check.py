"""The ledger beside the marketplace's own books: its balance, its lists, its statement. To the cent."""

import csv
import io
from collections import Counter
from dataclasses import dataclass

from annotation.common.demo_accounts import PASSWORD
from annotation.common.money import to_cents
from annotation.crowds.lookup import market_for
from annotation.models import Batch, Entry, Submission

from .browser import Browser

DEMO_REQUESTER = "requester"  # the public account of the marketplace demo


@dataclass(frozen=True)
class Sums:
    """Cents, as one side has them."""

    rewards: int
    bonuses: int
    fees: int
    held: int
    """Promised, and neither paid nor given back."""

    @property
    def total(self) -> int:
        return self.rewards + self.bonuses + self.fees + self.held


@dataclass(frozen=True)
class Books:
    """One batch in every book."""

    ledger: Sums
    listed: Sums
    """By the requester API: ListAssignmentsForHIT and ListBonusPayments, priced by the postings."""
    statement: Sums | None
    """By the marketplace's statement page; None where nobody can sign in as the requester."""
    balance_change: int | None
    """By how much GetAccountBalance fell since before the launch."""

    @property
    def differences(self) -> list[str]:
        differences = []
        ledger = (self.ledger.rewards, self.ledger.bonuses, self.ledger.fees)
        if (self.listed.rewards, self.listed.bonuses, self.listed.fees) != ledger:
            differences.append(f"The market lists {self.listed}, the ledger has {self.ledger}.")
        if self.statement is not None and self.statement != self.ledger:
            differences.append(f"The market's statement has {self.statement}, the ledger {self.ledger}.")
        if self.balance_change is not None and self.balance_change != self.ledger.total:
            differences.append(f"The balance fell by {self.balance_change} cents, the ledger says {self.ledger.total}.")
        return differences

    @property
    def balanced(self) -> bool:
        return not self.differences


def ledger_sums(batch: Batch) -> Sums:
    """What our ledger says of a batch."""
    rewards = bonuses = fees = promised = 0
    for entry in batch.entries.exclude(state=Entry.State.FAILED):
        promised += entry.promised_cents
        if entry.kind == Entry.Kind.APPROVE:
            rewards, fees = rewards + entry.reward_cents, fees + entry.fee_cents
        elif entry.kind == Entry.Kind.BONUS:
            bonuses, fees = bonuses + entry.reward_cents, fees + entry.fee_cents
    return Sums(rewards, bonuses, fees, promised)


def listed_sums(batch: Batch) -> Sums:
    """What the market lists for the batch's postings, by its API. Ask before they are closed: then they are gone."""
    market = market_for(batch.crowd, batch.study)
    rewards = bonuses = fees = 0
    for posting in batch.postings.exclude(market_id="").select_related("batch__study"):
        n_approved = sum(report.state == Submission.State.APPROVED for report in market.listed(posting))
        rewards, fees = rewards + n_approved * posting.reward_cents, fees + n_approved * posting.fee_cents
        for bonus in market.bonuses(posting):
            bonuses, fees = bonuses + bonus.cents, fees + market.bonus_fee_cents(bonus.cents)
    return Sums(rewards, bonuses, fees, 0)


def statement_sums(batch: Batch, market_url: str) -> Sums | None:
    """What the marketplace's statement has for the batch's HITs, read as its demo requester."""
    browser, base = Browser(), market_url.rstrip("/")
    form = browser.get(f"{base}/sign-in/").form("/sign-in/")
    if form is None:
        return None
    browser.send_form(form, {"username": DEMO_REQUESTER, "password": PASSWORD})
    page = browser.get(f"{base}/requester/statement/?format=csv")
    if page.status != 200 or not page.body.startswith("at,"):
        return None
    hits = set(batch.postings.exclude(market_id="").values_list("market_id", flat=True))
    kinds, pots = Counter[str](), Counter[str]()
    for row in csv.DictReader(io.StringIO(page.body)):
        if row["hit_id"] in hits:
            cents = to_cents(row["usd"])
            kinds[row["what"]] += cents
            pots[row["from"]] -= cents
            pots[row["to"]] += cents
    return Sums(kinds["reward"], kinds["bonus"], kinds["fee"], pots["held"])
