"""What a protocol says of itself is made of these: choices, dimensions, a rule for second rounds, criteria."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import Batch, Judgment

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
class OptionField:
    """An option of a batch in the form that makes one.

    Kinds: flag, number, text, choice; scale (lowest and highest), numbers (one for each of `choices`), dimensions
    (of `choices` and of one's own).
    """

    name: str
    label: str | Promise
    kind: str
    help: str | Promise = ""
    choices: tuple[tuple[str, str | Promise], ...] = ()


def plain_field(name: str, default: Any) -> OptionField:
    """The field that an option gets whose protocol says nothing of it: by the type of its default."""
    kinds = {bool: "flag", int: "number", str: "text"}
    return OptionField(name, name.replace("_", " ").capitalize(), kinds.get(type(default), ""))


@dataclass(frozen=True)
class Dimension:
    """What is rated. Texts of the default dimensions are translated; a study's own are shown as given."""

    name: str
    title: str
    definition: str = ""
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class PracticeText:
    """A text of a practice item, under its heading."""

    heading: str | Promise
    text: str


@dataclass(frozen=True)
class ContestedRule:
    """Which answers of a first round go back to those who gave them."""

    explanation: str | Promise
    thresholds: Mapping[str, float]
    apply: "Callable[..., pd.DataFrame]"
    """Called with a judgments table and the thresholds; returns the rows to look at again, with `reason`."""


@dataclass(frozen=True)
class Highlight:
    """What an answer points to in the summary as shown: characters [start, end), or None for no place."""

    start: int | None
    end: int | None
    label: str
    degree: str = ""
    is_strong: bool = False


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


def choice_meaning(choice: Choice) -> str:
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
