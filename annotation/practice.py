"""Practice items as the tutorial and the test show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.words import plain

from .errors import BadAnswers
from .guidance import Marked, mark
from .models import Batch, PracticeItem
from .numbers import whole


@dataclass(frozen=True)
class Choice:
    value: str
    label: str
    key: str  # on the keyboard
    style: str = ""


def choices(batch: Batch) -> list[Choice]:
    """The answers that an item of this batch's protocol has."""
    if batch.protocol == "likert":
        low, high = int(batch.scale_min), int(batch.scale_max)
        return [Choice(str(value), str(value), str(value)) for value in range(low, high + 1)]
    if batch.protocol == "scu":
        return [Choice("1", _("Good SCU"), "p", "yes"), Choice("0", _("Not a good SCU"), "n", "no")]
    return [Choice("1", _("Present"), "p", "yes"), Choice("0", _("Not present"), "n", "no")]


def shown_text(item: PracticeItem, protocol: str) -> str:
    """What the question is about: the summary, or for SCU extraction the reference."""
    if protocol == "scu":
        reference = item.summary.document.references.order_by("index").first()
        return plain(reference.text) if reference else ""
    return item.summary.text_shown


@dataclass(frozen=True)
class Question:
    """An item with the answer given so far; empty for none."""

    item: PracticeItem
    given: str
    text: str


def practice_page(items: Sequence[PracticeItem], given: Mapping[str, str]) -> list[Question]:
    return [Question(item, given.get(str(item.pk), ""), shown_text(item, item.plan.protocol)) for item in items]


@dataclass(frozen=True)
class Step:
    """Where somebody is in the tutorial: a question to answer, or its answer with the reason."""

    number: int
    of: int
    question: Question | None  # None: all is done, or there is nothing to do
    feedback: Marked | None
    before: list[tuple[str, str]]  # answers that travel along in the form

    @property
    def done(self) -> bool:
        return self.of > 0 and self.question is None


def tutorial_step(items: Sequence[PracticeItem], given: Mapping[str, str]) -> Step:
    """The first item without an answer; or, right after an answer, that item with its feedback.

    The answers travel in the address: going back and forth, or reloading, changes nothing. `seen` counts the items
    whose feedback has been read.
    """
    seen = whole(given.get("seen", ""))
    number = min(seen, len(items))
    before = [(str(item.pk), given.get(str(item.pk), "")) for item in items[:number]]
    if number == len(items):
        return Step(number, len(items), None, None, before)
    question = practice_page([items[number]], given)[0]
    try:
        feedback = mark(question.item, question.given) if question.given else None
    except BadAnswers:
        feedback = None
    return Step(number + 1, len(items), question, feedback, before)
