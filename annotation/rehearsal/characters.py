"""Who comes to work: kinds of workers with known habits, good and bad, drawn with a seed."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from annotation.common.errors import Refused

PART = re.compile(r"([a-z-]+)\s*(?:=\s*(\d{1,4}))?")


@dataclass(frozen=True)
class Character:
    """One kind of worker."""

    name: str
    summary: str
    attention: float = 0.95
    """How often an item is really looked at."""
    skill: float = 0.96
    """How often a look gives the true answer."""
    yes: float | None = 0.5
    """The share of high answers where nobody looks; None: whichever answer, evenly."""
    seconds: float = 11.0
    """Median active seconds per item."""
    planted: bool = False
    """Bad answers, which the filters are to find."""
    leaves: float = 0.0
    """How often a task is taken and not finished."""
    is_late: bool = False
    """Hands in after the market's time is up."""
    clicks: int = 1
    """How often, and all at once, everything is sent."""


CHARACTERS: dict[str, Character] = {
    character.name: character
    for character in (
        Character("careful", "looks at everything", attention=0.99, skill=0.98, seconds=14.0),
        Character("average", "looks nearly always, errs sometimes", attention=0.95, skill=0.94, seconds=10.0),
        Character("fast-and-careless", "looks at a third, in no time", attention=0.3, seconds=1.6, planted=True),
        Character("always-yes", "says yes to everything", attention=0.0, yes=1.0, seconds=3.0, planted=True),
        Character("random", "tosses a coin", attention=0.0, yes=None, seconds=4.0, planted=True),
        Character("abandoning", "takes tasks and leaves half of them unfinished", leaves=0.5),
        Character("late", "hands in after the time is up", is_late=True, seconds=20.0),
        Character("double-clicking", "sends everything twice at once", clicks=2),
    )
}
USUAL = "careful=4,average=6,fast-and-careless=2,always-yes=1,random=2,abandoning=1,late=1,double-clicking=1"


@dataclass(frozen=True)
class Person:
    """One simulated worker."""

    name: str
    """The account on the marketplace; the same seed gives the same people."""
    character: Character
    seed: int

    def draw(self, *keys: object) -> Random:
        """Chance that depends on the person and the matter alone, not on the order in which things happen."""
        return Random(":".join(map(str, (self.seed, self.name, *keys))))

    def draw_for_all(self, *keys: object) -> Random:
        """Chance that depends on the matter alone: what everybody finds who looks."""
        return Random(":".join(map(str, (self.seed, *keys))))

    def answer(self, truth: float, values: list[float], *keys: object) -> float:
        """What this person answers where `truth` is right; `values` are the possible answers, in order."""
        chance, kind = self.draw("answer", *keys), self.character
        if chance.random() >= kind.attention:
            return chance.choice(values) if kind.yes is None else _by_habit(chance, values, kind.yes)
        if chance.random() < kind.skill:
            return truth
        # An honest error lies next to the truth, as on a scale.
        place = values.index(truth)
        return chance.choice([values[n] for n in (place - 1, place + 1) if 0 <= n < len(values)])

    def seconds(self, *keys: object) -> float:
        """Active seconds on one item."""
        return round(self.character.seconds * math.exp(self.draw("seconds", *keys).gauss(0, 0.35)), 1)


def _by_habit(chance: Random, values: list[float], yes: float) -> float:
    upper = values[len(values) // 2 :]
    return chance.choice(upper if chance.random() < yes else values[: len(values) // 2])


def parse_crowd(text: str) -> dict[str, int]:
    """How many of which kind, from "careful=4,random=2"; Refused lists the kinds for one that isn't known."""
    counts: dict[str, int] = {}
    for entry in filter(None, (piece.strip() for piece in text.split(","))):
        match = PART.fullmatch(entry)
        if match is None or match[1] not in CHARACTERS:
            raise Refused(
                f"“{entry[:40]}” is no part of a crowd: write KIND=NUMBER. Kinds: {', '.join(CHARACTERS)}. "
                "Nothing was begun."
            )
        counts[match[1]] = counts.get(match[1], 0) + int(match[2] or 1)
    if not sum(counts.values()):
        raise Refused("A crowd needs at least one worker. Nothing was begun.")
    return counts


def people_of(crowd: Mapping[str, int], seed: int) -> list[Person]:
    """The people, in an order that says nothing about their kinds."""
    people = [
        Person(f"sim{seed}-{kind}-{number}", CHARACTERS[kind], seed)
        for kind, count in crowd.items()
        for number in range(1, count + 1)
    ]
    Random(f"{seed}:people").shuffle(people)
    return people
