"""Our ROUGE against the Perl program itself, on texts that no dataset has."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from scoring.metrics.rouge.perl155 import COUNTS, score
from scoring.metrics.rouge.texts import Reference, Words
from tests.scoring.metrics.perl_rouge import SWITCHES, Pair, PerlRouge

SEED = 20261116
ODD = ["naïve", "U.S.", "e-mail", "_", "--", "don't", "3.14", "K", "İstanbul", "ﬁne", "日本", "x\x00y", "<S>",
       "&amp;", "A1b2", "'", "٣", "co-\u00adop", "tab\there", "line\nend", "yes/no", "\u200b", "CamelCase",
       "ümlaut", "$5"]  # fmt: skip
IRREGULAR = ["best", "better", "offers", "testes", "was", "were", "geese", "men", "children", "ran", "ponies",
             "yelled", "yes", "yoyo", "axes"]  # fmt: skip
REGULAR = ["tournament", "professional", "relational", "adjustment", "hopping", "falling", "agreed", "ties", "of",
           "the", "and", "a"]  # fmt: skip
KEEP = "zebra"
"""In every reference: the program divides by zero when a reference has no word left."""


def _sentence(rng: random.Random, words: list[str], longest: int) -> str:
    return " ".join(rng.choices(words, k=rng.randint(0, longest)))


def _text(rng: random.Random, words: list[str], sentences: int, longest: int) -> list[str]:
    return [_sentence(rng, words, longest) for _ in range(rng.randint(1, sentences))]


def _odd(rng: random.Random) -> list[str]:
    return _text(rng, ODD + IRREGULAR, 4, 12)


def _repeated(rng: random.Random) -> list[str]:
    # Two or three words only: ties everywhere, in the walk of L and in the weights of W.
    return _text(rng, rng.sample(["a1", "b2", "c3", "run"], rng.randint(2, 3)), 5, 14)


def _single(rng: random.Random) -> list[str]:
    return [rng.choice(["", " ", "word", "the", "-", "Running"])]


def _plain(rng: random.Random) -> list[str]:
    return _text(rng, IRREGULAR + REGULAR + ["zebra"], 5, 25)


def _long(rng: random.Random) -> list[str]:
    return [_sentence(rng, REGULAR + [f"w{k}" for k in range(60)], 150) for _ in range(3)]


def _pair(rng: random.Random, make: Callable[[random.Random], list[str]]) -> Pair:
    references = []
    for _ in range(rng.randint(1, 3)):
        reference = make(rng)
        reference.insert(rng.randint(0, len(reference)), f"{KEEP} {rng.choice(['', 'run', 'tournament'])}")
        references.append(reference)
    summary = make(rng)
    if rng.random() < 0.3:  # copied sentences share whole runs of words
        summary.append(rng.choice(references[0]))
    return Pair(summary, references)


def pairs() -> list[Pair]:
    rng = random.Random(SEED)
    kinds = [_odd] * 120 + [_repeated] * 180 + [_single] * 40 + [_plain] * 155 + [_long] * 5
    return [_pair(rng, make) for make in kinds]


@pytest.mark.parametrize(
    ("options", "mode"), [*((options, "A") for options in SWITCHES), ("", "B"), ("stem,stop", "B")]
)
def test_500_random_pairs_equal_the_perl_program(perl: PerlRouge, options: str, mode: str) -> None:
    all_pairs = pairs()
    assert len(all_pairs) == 500
    expected = perl.score(all_pairs, options, mode)
    stem, stop = ("wordnet" if "stem" in options else "no"), "stop" in options
    for pair, scores in zip(all_pairs, expected, strict=True):
        references = [Reference(tuple(text), stem, stop) for text in pair.references]
        summary = Words(tuple(pair.summary), stem, stop)
        our_scores = score(references, summary, COUNTS, mode == "B")
        assert {count: (result.r, result.p, result.f) for count, result in our_scores.items()} == scores, pair
