"""Money is whole cents. Amounts travel as strings such as "0.10"; fees are computed here and nowhere else."""

import re
from dataclasses import dataclass

from annotation.common.money import money as dollars
from annotation.marketplace.errors import BadParameter
from annotation.marketplace.models import FeeRates

LARGE = 10
"""From this many assignments on, a HIT costs the additional fee."""


@dataclass(frozen=True)
class Price:
    """What one assignment costs its requester."""

    reward_cents: int
    fee_cents: int

    @property
    def cents(self) -> int:
        return self.reward_cents + self.fee_cents


def cents(amount: str, maximum: int = 10**9) -> int:
    """ "1", "1." , "1.5" and "1.50" in cents; signs, other digits and parts of a cent are refused, not guessed."""
    if not re.fullmatch(r"[0-9]{1,20}(\.[0-9]{0,2})?", amount):
        raise BadParameter(f"{amount[:40]!r} is not an amount: write dollars such as 0.10, without a sign.")
    whole_dollars, _, fraction = amount.partition(".")
    value = int(whole_dollars) * 100 + int((fraction + "00")[:2])
    if value > maximum:
        raise BadParameter(f"{amount} is more than this marketplace handles at once ({dollars(maximum)}).")
    return value


def share(amount: int, percent: int) -> int:
    """Percent of an amount, half a cent rounded up."""
    return (amount * percent + 50) // 100


def price(reward_cents: int, max_assignments: int, masters: bool, rates: FeeRates) -> Price:
    """Reward and fee of each assignment of a HIT."""
    percent = rates.percent
    percent += rates.large_percent if max_assignments >= LARGE else 0
    percent += rates.masters_percent if masters else 0
    return Price(reward_cents, max(rates.least_cents, share(reward_cents, percent)))


def bonus_price(bonus_cents: int, rates: FeeRates) -> Price:
    return Price(bonus_cents, max(rates.least_cents, share(bonus_cents, rates.percent)))
