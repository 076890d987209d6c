"""A task as a model is asked it: the texts that people see, what they are asked, and the answers there are."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ModelText:
    """A text to judge, under the heading that it has on the page."""

    label: str
    text: str


@dataclass(frozen=True)
class ModelItem:
    """One thing to answer. `name` stands in the question and in the answer, `field` is the item's on the page."""

    name: str
    field: str
    question: str
    claim: str = ""
    """The statement that must follow from `ModelQuestion.premise`, where the question is one of entailment."""


@dataclass(frozen=True)
class ModelQuestion:
    """All that a task asks, at once."""

    texts: Sequence[ModelText]
    items: Sequence[ModelItem]
    values: Mapping[int, str] = field(default_factory=dict)
    """The answers to each item, with what they mean; none: the answer is a list of sentences."""
    premise: str = ""
    """What a model of entailment reads beside each item's claim; empty: it can't be asked."""


@dataclass(frozen=True)
class Reading:
    """One answer to one item, as it could be read."""

    value: Any
    probabilities: Mapping[int, float] | None = None
    """Of each value, by the probabilities of its tokens; None where the endpoint gave none."""


@dataclass(frozen=True)
class ModelAnswer:
    """What counts as a model's answer to an item, over all its samples."""

    value: Any
    extra: dict[str, Any] = field(default_factory=dict)


def settled(readings: Sequence[Reading], level: str) -> ModelAnswer:
    """One answer from several: of probabilities the expectation, of samples the mean; for yes and no what is likelier.

    At even chances the answer is the lower value, as people's ties are.
    """
    extra: dict[str, Any] = {}
    if len(readings) > 1:
        extra["samples"] = " ".join(f"{reading.value:g}" for reading in readings)
    shares = _shares(readings)
    if all(reading.probabilities for reading in readings):
        extra["probability"] = round(shares.get(1, 0.0), 6) if level == "nominal" else None
    mean = sum(value * share for value, share in shares.items())
    value = min(shares, key=lambda choice: (-shares[choice], choice)) if level == "nominal" else round(mean, 6)
    return ModelAnswer(float(value), {name: content for name, content in extra.items() if content is not None})


def _shares(readings: Sequence[Reading]) -> dict[int, float]:
    shares: Counter[int] = Counter()
    for reading in readings:
        for value, share in (reading.probabilities or {int(reading.value): 1.0}).items():
            shares[value] += share / len(readings)  # type: ignore[assignment]
    return {value: float(share) for value, share in shares.items()}
