"""ROUGE-S* and ROUGE-SU* against the Perl program and by hand."""

from __future__ import annotations

import random

import pytest

from scoring import registry
from tests.scoring.conftest import value
from tests.scoring.metrics.perl_rouge import SWITCHES, Pair, PerlRouge

WORDS = [
    "the",
    "cats",
    "sat",
    "on",
    "a",
    "mat",
    "and",
    "the",
    "dogs",
    "ran",
    "after",
    "running",
    "geese",
    "while",
    "committee",
    "members",
    "voted",
]


def pairs() -> list[Pair]:
    rng = random.Random(4)
    return [
        Pair(
            [" ".join(rng.choices(WORDS, k=rng.randint(0, 30)))],
            [[" ".join(["geese", "mat", *rng.choices(WORDS, k=rng.randint(1, 40))])] for _ in range(1 + number % 3)],
        )
        for number in range(40)
    ]


@pytest.mark.parametrize(("mode", "multi"), [("A", "average"), ("B", "best")])
@pytest.mark.parametrize("options", SWITCHES)
def test_it_equals_the_perl_program(perl: PerlRouge, options: str, mode: str, multi: str) -> None:
    expected = perl.score(pairs(), options, mode, gap=-1)
    words = ",".join(filter(None, [options, f"multi={multi}"]))
    for pair, scores in zip(pairs(), expected, strict=True):
        for count in ("s*", "su*"):
            ours = [value(f"rouge-{count}-{part}[{words}]", pair.summary, pair.references) for part in "rpf"]
            assert ours == pytest.approx(scores[count], abs=1e-9)


def test_by_hand() -> None:
    # police killed the gunman | police kill the gunman: of six skip bigrams each, police-the, police-gunman and
    # the-gunman are shared. SU* adds all words but the last: police and the of three.
    assert value("rouge-s*-r", "police killed the gunman", "police kill the gunman") == 0.5
    assert value("rouge-su*-r", "police killed the gunman", "police kill the gunman") == round(5 / 9, 5)
    assert "skip:any" in registry.signature("rouge-su*-f")
