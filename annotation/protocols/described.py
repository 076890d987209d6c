"""What a protocol says of itself, for every page and file that would otherwise have to know it by name.

All of it has a default that suits ratings on a scale of whole numbers, so that a lab's own protocol says only what is
special about it (docs/extending.md).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import Assignment, Batch, Judgment, Summary

if TYPE_CHECKING:
    import pandas as pd

MOST_DIMENSIONS = 50  # in a datasheet


@dataclass(frozen=True)
class Choice:
    """An answer as a button."""

    value: str
    label: str
    key: str  # on the keyboard
    style: str = ""


@dataclass(frozen=True)
class Dimension:
    """What is rated. Texts of the default dimensions are translated; a study's own are shown as given."""

    name: str
    title: str
    definition: str = ""
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class ContestedRule:
    """Which answers of a first round go back to those who gave them."""

    explanation: str | Promise
    thresholds: Mapping[str, float]
    apply: "Callable[..., pd.DataFrame]"
    """Called with a judgments table and the thresholds; returns the rows to look at again, with `reason`."""


@dataclass(frozen=True)
class Criterion:
    """A quality criterion that people judged, as section 4 of the datasheet (HEDS) asks for it."""

    name: str
    definition: str
    values: str
    size: int
    instrument: str
    prompt: str
    aggregation: str
    kind: tuple[str, str, str] = ("", "", "")
    """Type of quality, aspect and frame of reference; what HEDS and Howcroft et al. (2020) call them."""


def _contested_ratings(judgments: "pd.DataFrame", **thresholds: float) -> "pd.DataFrame":
    from analysis.agreement.contested import contested_ratings

    return contested_ratings(judgments, **thresholds)


SUMMEVAL_RULE = ContestedRule(
    _(
        "SummEval’s rule: who is more than the gap away from another one, while all others lie near each other, looks "
        "again alone; where scores differ by more than the gap without that pattern, everybody does."
    ),
    {"gap": 2.0, "near": 1.0},
    _contested_ratings,
)


class Described:
    """The self-description of a protocol."""

    name: str
    title: str | Promise
    scale_min: float
    scale_max: float
    scale_varies: bool = False
    """Whether a batch may have another scale than this one."""
    level: Literal["nominal", "interval"] = "interval"
    """What differences between values mean: nothing, or how far apart two judges are."""
    judges_scus: bool = False
    """The units are the documents' SCUs, present (1) or not (0); otherwise they are dimensions, alike everywhere."""
    extracts_scus: bool = False
    """The answer is a list of SCUs; there are no judgments."""
    shows_source: bool = False
    """Judges need the article beside the summary."""
    csv_form: str = ""
    """The form of MTurk's old CSV files that it fits: statements, ratings, or none."""
    contested_rule: ContestedRule = SUMMEVAL_RULE

    # Guidance
    instructions: str = ""
    """The text, in Markdown, that a new study starts with."""
    practice_heading: str | Promise = _("Summary")
    practice_question: str | Promise = _("How do you rate the summary?")
    practice_label: str | Promise = _("Dimension or question")
    """How the admin's form calls what is asked."""

    # Datasheet and dataset card, in English
    asks: str = ""
    """What is judged, in a few words; empty: the protocol's name."""
    shows: str = ""
    """What judges see while they answer."""
    instrument: str = ""
    """How the answers are laid out."""
    prompt: str = ""
    """The question, word by word."""

    def option_fields(self) -> dict[str, Any]:
        """The options that a batch takes, with their defaults."""
        return {}

    def dimensions(self, options: Mapping[str, Any]) -> list[Dimension]:
        """What a batch with these options rates; none where the units speak for themselves."""
        return []

    def unit_titles(self, batch: Batch, document: int | None = None) -> dict[tuple[int, str], str]:
        """What units are called on the page, by document (0: in all of them) and unit."""
        return {(0, dimension.name): dimension.title for dimension in self.dimensions(batch.options)}

    def group(self, assignment: Assignment) -> list[Summary]:
        """The summaries that a task shows, in their order."""
        return [assignment.task.summary] if assignment.task.summary else []

    # Guidance

    def choices(self, batch: Batch | None = None) -> list[Choice]:
        """The answers in tutorial, test and second round; without a batch, on the protocol's own scale."""
        low, high = (batch.scale_min, batch.scale_max) if batch else (self.scale_min, self.scale_max)
        return [Choice(str(value), str(value), str(value)) for value in range(int(low), int(high) + 1)]

    def practice_text(self, summary: Summary) -> str:
        """The text that a practice item is about."""
        return summary.text_shown

    def expected_values(self) -> list[str]:
        """The answers that a practice item may expect; empty where that is for the batch to say."""
        return [] if self.scale_varies else [choice.value for choice in self.choices()]

    def expected_help(self) -> str:
        """Tells an admin what to enter as the expected answer."""
        return ", ".join(_meaning(choice) for choice in self.choices()) + "."

    # Datasheet

    def one_judgment(self, scus: int) -> str:
        """What one judgment is; `scus` is how many the study has."""
        return "a whole number for one dimension of one summary, by one person"

    def criteria(self, batches: Iterable[Batch]) -> Iterator[Criterion]:
        """What people judged in these batches: every dimension once."""
        seen = set()
        for batch in batches:
            for dimension in self.judged_dimensions(batch):
                if dimension.name not in seen:
                    seen.add(dimension.name)
                    yield self.criterion(dimension, batch)

    def judged_dimensions(self, batch: Batch) -> list[Dimension]:
        """The dimensions that a batch asks for; where nobody says, the units that were judged."""
        return self.dimensions(batch.options) or [Dimension(unit, unit) for unit in judged_units(batch)]

    def criterion(self, dimension: Dimension, batch: Batch) -> Criterion:
        low, high = int(batch.scale_min), int(batch.scale_max)
        ends = " – ".join(filter(None, (dimension.low, dimension.high)))
        return Criterion(
            name=dimension.name,
            definition=dimension.definition,
            values=f"{low} to {high}{f'; the ends read “{ends}”' if ends else ''}.",
            size=high - low + 1,
            instrument=self.instrument,
            prompt=self.prompt,
            aggregation="The mean over the kept workers' ratings, of several rounds the last.",
        )


def _meaning(choice: Choice) -> str:
    if choice.label == choice.value:
        return choice.value
    return gettext("%(value)s for %(label)s") % {"value": choice.value, "label": choice.label}


def title_of(titles: Mapping[tuple[int, str], str], document: int, unit: str) -> str | None:
    """A unit's name among `unit_titles`; None where it has none."""
    return titles.get((document, unit)) or titles.get((0, unit))


def judged_units(batch: Batch) -> list[str]:
    """The units that somebody judged, by name."""
    units = Judgment.objects.filter(assignment__task__batch=batch).values_list("unit", flat=True).distinct()
    return sorted(units[:MOST_DIMENSIONS])
