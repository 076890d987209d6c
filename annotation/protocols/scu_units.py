"""What an annotator extracted: reading it from a page, storing it, measuring how much of the reference it covers."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.common.errors import BadAnswers
from annotation.common.middleware import strip_unreadable
from annotation.common.text import Text, sentences
from annotation.models import Assignment, ExtractedUnit

LONGEST = 1000  # characters; far above any single fact


@dataclass(frozen=True)
class Unit:
    """An SCU with the places of its words in the plain reference."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {"text": self.text, "spans": [list(span) for span in self.spans]}


@dataclass(frozen=True)
class Coverage:
    """How many of a reference's content words some SCU stands on."""

    covered: int
    of: int

    @property
    def percent(self) -> int:
        return round(100 * self.covered / self.of) if self.of else 0


def read_units(raw: Any, reference: str, limit: int) -> list[Unit]:
    """Units as the page sends them: JSON, or one per line from a page without script. Raises BadAnswers."""
    units = [unit for entry in _entries(raw) if (unit := _unit(entry, len(reference))).text]
    if not units:
        raise BadAnswers(_("There is no SCU yet: write at least one. Nothing was submitted."))
    if len(units) > limit:
        raise BadAnswers(
            _("There are %(n)d SCUs, and at most %(most)d are asked for. Merge or delete some; nothing was submitted.")
            % {"n": len(units), "most": limit}
        )
    return units


def _entries(raw: Any) -> list[Any]:
    if isinstance(raw, str):
        text = raw.strip()
        if not text.startswith("["):
            return [{"text": line} for line in text.splitlines()]
        try:
            raw = json.loads(text)
        except (ValueError, RecursionError):
            raise _unreadable() from None
    if not isinstance(raw, list) or not all(isinstance(entry, dict) for entry in raw):
        raise _unreadable()
    return raw


def _unit(entry: dict[str, Any], length: int) -> Unit:
    text, spans = entry.get("text", ""), entry.get("spans", [])
    if not isinstance(text, str) or not isinstance(spans, list):
        raise _unreadable()
    text = " ".join(strip_unreadable(text).split())
    if len(text) > LONGEST:
        raise BadAnswers(
            _("An SCU has %(n)d characters; at most %(most)d can be kept. Nothing was submitted.")
            % {"n": len(text), "most": LONGEST}
        )
    return Unit(text, tuple(sorted(_span(span, length) for span in spans)))


def _span(span: Any, length: int) -> tuple[int, int]:
    is_pair = isinstance(span, list) and len(span) == 2 and all(type(place) is int for place in span)
    if not is_pair or not 0 <= span[0] < span[1] <= length:
        raise _unreadable()
    return span[0], span[1]


def _unreadable() -> BadAnswers:
    return BadAnswers(_("The SCUs could not be read. Nothing was submitted; reload the page, your draft is kept."))


def store_units(assignment: Assignment, units: Sequence[Unit], now: datetime) -> int:
    """Append the units as the newest revision; earlier ones stay. Call it inside a transaction."""
    rows = ExtractedUnit.objects.filter(assignment=assignment)
    revision = (rows.aggregate(n=Max("revision"))["n"] or 0) + 1
    if revision > 1:
        rows.filter(is_current=True).update(is_current=False)
    ExtractedUnit.objects.bulk_create(
        ExtractedUnit(
            assignment=assignment,
            revision=revision,
            order=order,
            text=unit.text,
            spans=[list(span) for span in unit.spans],
            submitted_at=now,
        )
        for order, unit in enumerate(units, start=1)
    )
    return len(units)


def units_of(assignment: Assignment) -> list[Unit]:
    """What was submitted last, in its order."""
    return [as_unit(row.text, row.spans) for row in extracted_rows(assignment)]


def extracted_rows(assignment: Assignment) -> list[ExtractedUnit]:
    return list(assignment.extracted.filter(is_current=True).order_by("order"))


def as_unit(text: str, spans: Iterable[Sequence[int]]) -> Unit:
    return Unit(text, tuple((span[0], span[1]) for span in spans))


def coverage(reference: Text, units: Iterable[Unit]) -> Coverage:
    """The reference's content words, and how many of them lie in a span of some unit."""
    covered_places = {place for unit in units for start, end in unit.spans for place in range(start, end)}
    content = [word for sentence in sentences(reference) for word in sentence.words if word.is_content]
    return Coverage(sum(word.start in covered_places for word in content), len(content))
