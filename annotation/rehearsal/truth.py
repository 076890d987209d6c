"""What is right: a true answer for every item, drawn with a seed, or taken from judgments that the study has.

The simulated workers see what a person sees, texts, so the truth is looked up by texts as well.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from annotation import protocols
from annotation.models import Assignment, Batch, ContentUnit, Judgment, PracticeItem, Summary
from annotation.protocols.descriptions import title_of

PRESENT = 0.45  # of all SCUs in all summaries, about as in REALSumm


def words(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True)
class Truth:
    """The right answers."""

    seed: int
    answers: dict[tuple[str, str], float] = field(default_factory=dict)
    """(the summary's text, the unit as shown) -> the answer."""

    def of(self, text: str, unit: str, values: Sequence[float]) -> float:
        """The right one of `values`."""
        text, unit = words(text), words(unit)
        if unit == "BLANK":
            return values[0]
        if (text, unit) in self.answers:
            mean = self.answers[text, unit]
            return min(values, key=lambda value: (abs(value - mean), value))
        return self._drawn(text, unit, values)

    def between(self, first: str, second: str, values: Sequence[float]) -> float:
        """Which of two texts is better: above 0 the first, below 0 the second. Each has a quality of its own."""
        first, second = words(first), words(second)
        lead = self._chance(first) - self._chance(second)
        lead = self.answers.get((first, second), -self.answers.get((second, first), -lead))
        sign = (lead > 0) - (lead < 0)
        return min(values, key=lambda value: (abs(value - sign), value))

    def _drawn(self, text: str, unit: str, values: Sequence[float]) -> float:
        if len(values) == 2:
            return values[self._chance(text, unit) < PRESENT]
        # A summary has a quality of its own, and its dimensions differ from it a little.
        level = 0.65 * self._chance(text) + 0.35 * self._chance(text, unit)
        return values[min(int(level * len(values)), len(values) - 1)]

    def _chance(self, *keys: object) -> float:
        digest = hashlib.blake2b(":".join(map(str, (self.seed, *keys))).encode(), digest_size=8).digest()
        return int.from_bytes(digest) / 2**64


def truth_of(batch: Batch, seed: int, judged_batches: Iterable[Batch] = ()) -> Truth:
    """The truth for a batch: what `judged_batches` say of the same texts, known checks, and the rest by the seed."""
    protocol = protocols.get(batch.protocol)
    checks = _pairs(batch) if protocol.compares else _checks(batch)
    return Truth(seed, {**_judged(list(judged_batches)), **checks, **_practice(batch)})


def _pairs(batch: Batch) -> dict[tuple[str, str], float]:
    """Check pairs: their units' titles are the damaged texts."""
    titles = protocols.get(batch.protocol).unit_titles(batch)
    twin = (protocols.get(batch.protocol).items(Assignment(task=task)) for task in batch.tasks.select_related("batch"))
    checks = [item for items in twin for item in items if item.is_check]
    summaries = Summary.objects.in_bulk([item.summary_id for item in checks])
    return {
        (words(summaries[item.summary_id].text_shown), words(title)): item.expected or 0.0
        for item in checks
        if (title := title_of(titles, summaries[item.summary_id].document_id, item.unit))
    }


def _practice(batch: Batch) -> dict[tuple[str, str], float]:
    """The right answers of the tutorial and the test, by the text that stands right above the question."""
    items = PracticeItem.objects.filter(plan__study=batch.study, plan__protocol=batch.protocol, retired_at=None)
    protocol = protocols.get(batch.protocol)
    return {
        (words(protocol.practice_texts(item)[-1].text), words(protocol.practice_asked(item))): item.expected
        for item in items.select_related("plan", "summary__document")
    }


def _checks(batch: Batch) -> dict[tuple[str, str], float]:
    units = ContentUnit.objects.filter(document__study=batch.study, is_check=True).in_force()
    by_document: dict[int, list[tuple[str, float]]] = {}
    for document, text, expected in units.values_list("document_id", "text", "expected"):
        by_document.setdefault(document, []).append((words(text), expected or 0.0))
    summaries = Summary.objects.filter(document__in=by_document)
    return {
        (words(summary.text_shown), text): expected
        for summary in summaries
        for text, expected in by_document[summary.document_id]
    }


def _judged(batches: list[Batch]) -> dict[tuple[str, str], float]:
    """The mean of what was judged, by texts: rounding to the nearest value makes it a majority."""
    values_by_texts: dict[tuple[str, str], list[float]] = {}
    for batch in batches:
        titles = protocols.get(batch.protocol).unit_titles(batch)
        rows = Judgment.objects.filter(
            assignment__task__batch=batch, assignment__state=Assignment.State.SUBMITTED, is_current=True, is_check=False
        ).select_related("summary")
        for row in rows.iterator(chunk_size=2000):
            title = title_of(titles, row.summary.document_id, row.unit)
            if title:
                values_by_texts.setdefault((words(row.summary.text_shown), words(title)), []).append(row.value)
    return {key: fmean(values) for key, values in values_by_texts.items()}
