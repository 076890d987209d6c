"""Section 4 of the datasheet: each quality criterion that people judged."""

from collections.abc import Iterator

from django.utils.translation import override

from annotation.protocols import among
from annotation.protocols.descriptions import Criterion

from .study_facts import Facts


def criteria(facts: Facts) -> Iterator[tuple[str, Criterion]]:
    """What people judged, and by which protocol."""
    with override("en"):
        for protocol in among(facts.protocols):
            for criterion in protocol.criteria([batch for batch in facts.batches if batch.protocol == protocol.name]):
                yield protocol.name, criterion


def rows(criterion: Criterion, protocol: str, facts: Facts) -> Iterator[tuple[str, str, str]]:
    """The answers: number, question, and what the platform knows."""
    kind, aspect, frame = criterion.kind
    yield "4.1.1", "Which type of quality is judged (correctness, goodness, a feature)?", kind
    yield "4.1.2", "Which aspect (form, content, both)?", aspect
    yield "4.1.3", "In its own right, or relative to something?", frame
    yield "4.2.1", "Objective or subjective?", "Subjective: each evaluator's own judgment."
    yield "4.2.2", "Absolute or relative?", "Absolute: each output gets a value of its own."
    yield "4.2.3", "Intrinsic or extrinsic?", "Intrinsic: the text is judged, not what somebody does with it."
    yield "4.3.1", "What is the criterion called for evaluators?", f"“{criterion.name}”"
    yield "4.3.2", "How is it defined for them?", criterion.definition if facts.judged_here else ""
    yield "4.3.3", "How many values has the rating instrument?", str(criterion.size)
    yield "4.3.4", "Which values?", criterion.values
    yield "4.3.5", "How is the instrument presented?", criterion.instrument if facts.judged_here else ""
    yield "4.3.7", "What is the question, word by word?", criterion.prompt if facts.judged_here else ""
    yield "4.3.8", "How are responses elicited?", "By direct quality estimation, one value per item."
    yield "4.3.9", "How are raw responses turned into reported values?", criterion.aggregation
    yield "4.3.10", "How are effects and their significance worked out?", SIGNIFICANCE
    yield "4.3.11.1", "How is agreement measured?", _coefficients(facts, protocol)
    yield "4.3.11.2", "What agreement was found?", _agreement(facts, protocol)


SIGNIFICANCE = (
    "Bootstrap intervals over documents, paired bootstrap between systems, permutation tests between metrics with "
    "Holm's correction; `python -m analysis report` on the export gives them, with its seed."
)


def _coefficients(facts: Facts, protocol: str) -> str:
    names = [row["name"] for row in facts.agreement if row["protocol"] == protocol]
    return "; ".join(dict.fromkeys(names))


def _agreement(facts: Facts, protocol: str) -> str:
    measured = [row for row in facts.agreement if row["protocol"] == protocol and row["value"] is not None]
    return "; ".join(f"{row['name']}: {row['value']:.3f}{_interval(row)}" for row in measured)


def _interval(row: dict[str, float | None]) -> str:
    if row.get("low") is None or row.get("high") is None:
        return ""
    return f" [{row['low']:.3f}, {row['high']:.3f}]"
