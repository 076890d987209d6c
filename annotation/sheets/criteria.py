"""Section 4 of the datasheet: each quality criterion that people judged."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import override

from annotation.models import Batch, Judgment
from annotation.protocols.likert import DIMENSIONS, Dimension, dimensions_of

from .facts import Facts

# Type of quality, aspect and frame of reference; what HEDS and Howcroft et al. (2020) call them.
KINDS = {
    "coverage of the reference's SCUs": ("correctness", "content", "relative to an external frame: the reference"),
    "coherence": ("goodness", "form and content", "the output in its own right"),
    "consistency": ("correctness", "content", "relative to the input"),
    "fluency": ("goodness", "form", "the output in its own right"),
    "relevance": ("goodness", "content", "relative to the input"),
}


@dataclass(frozen=True)
class Criterion:
    name: str
    definition: str
    values: str
    size: int
    instrument: str
    prompt: str
    aggregation: str
    protocol: str

    def rows(self, facts: Facts) -> Iterator[tuple[str, str, str]]:
        kind, aspect, frame = KINDS.get(self.name, ("", "", ""))
        yield "4.1.1", "Which type of quality is judged (correctness, goodness, a feature)?", kind
        yield "4.1.2", "Which aspect (form, content, both)?", aspect
        yield "4.1.3", "In its own right, or relative to something?", frame
        yield "4.2.1", "Objective or subjective?", "Subjective: each evaluator's own judgment."
        yield "4.2.2", "Absolute or relative?", "Absolute: each output gets a value of its own."
        yield "4.2.3", "Intrinsic or extrinsic?", "Intrinsic: the text is judged, not what somebody does with it."
        yield "4.3.1", "What is the criterion called for evaluators?", f"“{self.name}”"
        yield "4.3.2", "How is it defined for them?", self.definition if facts.here else ""
        yield "4.3.3", "How many values has the rating instrument?", str(self.size)
        yield "4.3.4", "Which values?", self.values
        yield "4.3.5", "How is the instrument presented?", self.instrument if facts.here else ""
        yield "4.3.7", "What is the question, word by word?", self.prompt if facts.here else ""
        yield "4.3.8", "How are responses elicited?", "By direct quality estimation, one value per item."
        yield "4.3.9", "How are raw responses turned into reported values?", self.aggregation
        yield "4.3.10", "How are effects and their significance worked out?", SIGNIFICANCE
        yield "4.3.11.1", "How is agreement measured?", _how(facts, self.protocol)
        yield "4.3.11.2", "What agreement was found?", _found(facts, self.protocol)


SIGNIFICANCE = (
    "Bootstrap intervals over documents, paired bootstrap between systems, permutation tests between metrics with "
    "Holm's correction; `python -m analysis report` on the export gives them, with its seed."
)


def _how(facts: Facts, protocol: str) -> str:
    names = [row["name"] for row in facts.agreement if row["protocol"] == protocol]
    return "; ".join(dict.fromkeys(names))


def _found(facts: Facts, protocol: str) -> str:
    rows = [row for row in facts.agreement if row["protocol"] == protocol and row["value"] is not None]
    return "; ".join(f"{row['name']}: {row['value']:.3f}{_interval(row)}" for row in rows)


def _interval(row: dict[str, float | None]) -> str:
    if row.get("low") is None or row.get("high") is None:
        return ""
    return f" [{row['low']:.3f}, {row['high']:.3f}]"


def criteria(facts: Facts) -> Iterator[Criterion]:
    if "litepyramid" in facts.protocols:
        yield Criterion(
            name="coverage of the reference's SCUs",
            definition="A statement is present if the summary states it or makes it certain, in whatever words.",
            values="Present, Not present",
            size=2,
            instrument="Two buttons beside each statement; the summary stays in view.",
            prompt="The statement itself, with the choice Present / Not present.",
            aggregation="An SCU is present if a strict majority of the kept workers says so, a tie is not; the score "
            "is the share of the reference's SCUs that are present.",
            protocol="litepyramid",
        )
    if "likert" in facts.protocols:
        yield from _dimensions(facts)


def _dimensions(facts: Facts) -> Iterator[Criterion]:
    seen = set()
    with override("en"):
        for batch in facts.batches:
            for one in _of_batch(batch) if batch.protocol == "likert" else ():
                if one.name not in seen:
                    seen.add(one.name)
                    yield _rating(one.name, str(one.definition), " – ".join(filter(None, (one.low, one.high))), batch)


def _of_batch(batch: Batch) -> list[Dimension]:
    """The dimensions a batch asks for; of an imported one, those that were rated."""
    if (batch.options or {}).get("dimensions"):
        return dimensions_of(batch.options)
    rated = Judgment.objects.filter(assignment__task__batch=batch).values_list("unit", flat=True).distinct()
    names = sorted(rated[:50])
    return dimensions_of({"dimensions": [name if name in DIMENSIONS else {"name": name} for name in names]})


def _rating(name: str, definition: str, ends: str, batch: Batch) -> Criterion:
    low, high = int(batch.scale_min), int(batch.scale_max)
    return Criterion(
        name=name,
        definition=definition,
        values=f"{low} to {high}{f'; the ends read “{ends}”' if ends else ''}.",
        size=high - low + 1,
        instrument="Radio buttons in a row for each summary.",
        prompt="The name of the dimension; its definition is shown on focus.",
        aggregation="The mean over the kept workers' ratings, of several rounds the last.",
        protocol="likert",
    )
