"""Metrics as people know them: the families' names, their usual variant, sets of published studies, and rough times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


@dataclass(frozen=True)
class Known:
    """A family by its name, with the scores that people usually report."""

    name: str
    usual: tuple[str, ...]
    seconds: float
    """About what 100 summaries of news take on one core, with loading: an order of magnitude, no measurement."""


# By the first score of a family.
KNOWN = {
    "ancr-1": Known("Anchored ROUGE", ("ancr-1",), 1),
    "bertscore-p": Known("BERTScore", ("bertscore-r", "bertscore-f"), 15),
    "blanc-help": Known("BLANC", ("blanc-help",), 300),
    "bleu": Known("BLEU", ("bleu",), 1),
    "chrf": Known("chrF", ("chrf",), 1),
    "cider": Known("CIDEr", ("cider",), 1),
    "coverage": Known("Copying", ("coverage", "density"), 1),
    "js-1": Known("Jensen–Shannon", ("js-2",), 1),
    "learned": Known("Learned", (), 2),
    "length": Known("Length", ("length",), 1),
    "meteor": Known("METEOR", ("meteor",), 5),
    "moverscore": Known("MoverScore", ("moverscore",), 20),
    "rouge-1-p": Known("ROUGE", ("rouge-1-f", "rouge-2-f", "rouge-l-f"), 1),
    "rouge-s*-p": Known("ROUGE-S*", ("rouge-s*-f",), 2),
    "rouge-we-1-p": Known("ROUGE-WE", ("rouge-we-1-f",), 10),
    "wms": Known("Sentence Mover's Similarity", ("sms",), 10),
    "s3-pyr": Known("S3, pyramid", ("s3-pyr",), 10),
    "s3-resp": Known("S3, responsiveness", ("s3-resp",), 10),
    "summaqa-f": Known("SummaQA", ("summaqa-f",), 300),
    "supert": Known("SUPERT", ("supert",), 20),
}


@dataclass(frozen=True)
class MetricSet:
    """Metrics to be computed with one click."""

    key: str
    title: "str | _StrPromise"
    metrics: tuple[str, ...]


SUMMEVAL = """
    rouge-1-f rouge-2-f rouge-3-f rouge-4-f rouge-l-f rouge-su*-f rouge-w-f rouge-we-1-f rouge-we-2-f rouge-we-3-f
    s3-pyr s3-resp bertscore-p bertscore-r bertscore-f moverscore sms summaqa-f blanc-help supert bleu chrf cider meteor
    length novel-1 novel-2 novel-3 repeated-1 repeated-2 repeated-3 coverage compression density
"""
SETS = (
    MetricSet("quick", _("Quick"), ("rouge-1-f", "rouge-2-f", "rouge-l-f", "js-2", "chrf", "length")),
    MetricSet(
        "realsumm",
        _("REALSumm's"),
        ("rouge-1-r", "rouge-2-r", "rouge-l-r", "rouge-we-1-r", "js-2", "bertscore-r", "moverscore"),
    ),
    MetricSet("summeval", _("SummEval's"), tuple(SUMMEVAL.split())),
)


def known_family(names: Sequence[str]) -> Known:
    """The family that gives these scores; one of somebody's own is called by its first score."""
    return KNOWN.get(names[0], Known(names[0], (names[0],), 5))


def seconds_for(families: Iterable[Sequence[str]], summaries: int) -> float:
    """About how long these families take for so many summaries."""
    return sum(known_family(names).seconds for names in families) * summaries / 100
