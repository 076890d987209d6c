"""What the exam comes to, in one sentence."""

from __future__ import annotations

from analysis.judges.alternative import FEW_ITEMS, AlternativeTest
from analysis.sentence import Sentence, Value

PASSES = 0.5
"""The share of people it must win over, as the test's authors have it."""
MARGIN = 0.05
"""How much alpha may fall, at the lower end of its interval, when the judge joins the people."""


def verdict(test: AlternativeTest, n_items: int, n_people: int, change_low: float) -> Sentence:
    """May it replace one of the people, stand beside them, or neither? `change_low`: alpha falls no further."""
    if n_people < 2 and n_items >= FEW_ITEMS:
        return Sentence(
            "Not enough people to say: %(people)s judged the same items; the exam needs two, better three.",
            {"people": n_people},
        )
    if not test.rivals:
        return Sentence(
            "Not enough items to say: %(items)s were judged by the judge and by two people; each person needs %(few)s.",
            {"items": test.n_items, "few": FEW_ITEMS},
        )
    values: dict[str, Value] = {
        "wins": round(test.omega * len(test.rivals)),
        "people": len(test.rivals),
        "epsilon": f"{test.epsilon:g}",
        "rho": f"{test.rho:.2f}",
        "change": f"{change_low:+.3f}".replace("-", "−"),
        "margin": f"{MARGIN:g}",
    }
    if test.omega >= PASSES:
        return Sentence(
            "May replace one of the people: it wins over %(wins)s of %(people)s at ε %(epsilon)s, and on a share of "
            "%(rho)s of the items it is at least as close to the others.",
            values,
        )
    if change_low > -MARGIN:
        return Sentence(
            "May stand beside people, not replace one: it wins over %(wins)s of %(people)s at ε %(epsilon)s, but with "
            "it among them alpha changes by %(change)s at worst.",
            values,
        )
    return Sentence(
        "May neither stand beside people nor replace one: it wins over %(wins)s of %(people)s at ε %(epsilon)s, and "
        "with it among them alpha may fall by more than %(margin)s.",
        values,
    )
