"""What every protocol can do: lay out a task for one annotator, check the answers, and store them.

A protocol that stores something else than judgments overrides `store`, `revise` and `answers_of`.
"""

import hashlib
import hmac
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from django.db.models import Max
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.common.errors import BadAnswers
from annotation.common.prepared_queries import PreparedQuery
from annotation.models import REFERENCE_GROUP, Assignment, Batch, Judgment, PracticeItem, Summary, Task

from .descriptions import (
    SUMMEVAL_RULE,
    Choice,
    ContestedRule,
    Criterion,
    Dimension,
    Highlight,
    OptionField,
    PracticeText,
    choice_meaning,
    judged_units,
    plain_field,
)
from .model_question import ModelAnswer, ModelQuestion

if TYPE_CHECKING:
    import pandas as pd

_CURRENT_JUDGMENTS = PreparedQuery(
    lambda assignment: Judgment.objects.filter(assignment=assignment, is_current=True).values_list("pk"), "assignment"
)


@dataclass(frozen=True)
class Item:
    """One thing to answer: a unit of a summary, as the annotator sees it.

    `field` is its name in forms and drafts. It says nothing about the unit: a check looks like any other.
    """

    summary_id: int
    unit: str
    text: str
    is_check: bool = False
    position: int = 1
    field: str = ""
    expected: float | None = None
    """The right answer to a check that no SCU holds; it is stored with the judgment."""


@dataclass(frozen=True)
class Answer:
    """A checked answer to an item."""

    item: Item
    value: float
    extra: dict[str, Any] = field(default_factory=dict)


def opaque(assignment: Assignment, *keys: object) -> str:
    """A name for the browser that stays the same for this assignment and gives nothing away."""
    study = assignment.task.batch.study
    message = ":".join(map(str, (assignment.seed, assignment.task_id, assignment.worker_id, *keys)))
    return "q" + hmac.new(study.salt.encode(), message.encode(), hashlib.sha256).hexdigest()[:12]


def named(assignment: Assignment, items: list[Item]) -> list[Item]:
    """The items with their opaque field names."""
    return [replace(item, field=opaque(assignment, item.summary_id, item.unit)) for item in items]


def answer_value(answer: Any) -> str:
    """The value of an answer as it comes: from a form (a string) or from a draft ({"value": …})."""
    value = answer.get("value") if isinstance(answer, Mapping) else answer
    return "" if value is None or isinstance(value, (list, dict)) else str(value).strip()


class Protocol(ABC):
    """A way of judging, with all that pages and files would otherwise have to know by its name.

    What it says of itself has a default that suits ratings on a scale of whole numbers, so that a lab's own protocol
    says only what is special about it (docs/extending.md).
    """

    template: str
    name: str
    title: str | Promise
    work: str | Promise = _("Rate summaries")
    """What people do, in plain words: they don't know the protocol's name."""
    scale_min: float
    scale_max: float
    scale_varies: bool = False
    """Whether a batch may have another scale than this one."""
    level: Literal["nominal", "interval"] = "interval"
    """What differences between values mean: nothing, or how far apart two judges are."""
    judges_scus: bool = False
    """The units are the documents' SCUs, present (1) or not (0); otherwise they are dimensions, alike everywhere."""
    rates_dimensions: bool = True
    """The units are dimensions, alike in all documents; otherwise they are a document's own."""
    compares: bool = False
    """A unit is another summary of the document; a value above 0 says that the judged one is better."""
    extracts_scus: bool = False
    """The answer is a list of SCUs; there are no judgments."""
    shows_source: bool = False
    """Judges need the article beside the summary."""
    csv_form: str = ""
    """The form of MTurk's old CSV files that it fits: statements, ratings, or none."""
    contested_rule: ContestedRule | None = SUMMEVAL_RULE
    """Which answers a second round takes up; None: there is none."""

    # Guidance
    instructions: str = ""
    """The text, in Markdown, that a new study starts with."""
    practice_heading: str | Promise = _("Summary")
    practice_question: str | Promise = _("How do you rate the summary?")
    usual_minutes: float = 5
    """What a task takes where nobody has worked on one yet, for an estimate."""
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

    @abstractmethod
    def items(self, assignment: Assignment) -> list[Item]:
        """What the holder of this assignment is asked, in the order shown."""

    def values(self, task: Task) -> list[float]:
        """The values that an answer may have: the whole numbers of the batch's scale."""
        return [float(value) for value in range(int(task.batch.scale_min), int(task.batch.scale_max) + 1)]

    def stored_values(self, batch: Batch, unit: str) -> dict[float, float]:
        """What a choice on a page without script is stored as: itself, on the batch's scale."""
        return {float(value): float(value) for value in range(int(batch.scale_min), int(batch.scale_max) + 1)}

    def tasks(self, batch: Batch, quota: int) -> list[Task]:
        """The tasks of a new batch, not saved yet."""
        raise NotImplementedError(f"Batches of {self.name} can't be made this way.")

    def summaries(self, batch: Batch) -> list[tuple[int, int]]:
        """(document, summary) of all that a new batch is to judge, by document; references are not judged alone."""
        summaries = Summary.objects.filter(document__study=batch.study_id).exclude(system__group=REFERENCE_GROUP)
        rows = summaries.order_by("document__sort_key", "pk").values_list("document_id", "pk")
        return [row for row in rows if batch.chosen is None or row[1] in batch.chosen]

    def pin(self, batch: Batch) -> None:  # noqa: B027  # most have nothing to fix
        """Fix in the tasks what they ask, where that could change later: called when a batch is opened."""

    def options(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        """A batch's options, completed by the defaults and checked; ValueError says what is wrong."""
        defaults = self.option_fields()
        if unknown := sorted(set(overrides) - set(defaults)):
            known = ", ".join(defaults) or "none"
            raise ValueError(f"{self.title} has no option {', '.join(map(repr, unknown))[:200]}. Known: {known}.")
        return {**defaults, **overrides}

    def scale(self, options: Mapping[str, Any]) -> tuple[float, float]:
        """The lowest and the highest value."""
        return self.scale_min, self.scale_max

    def page(self, assignment: Assignment, answers: Mapping[str, Any]) -> dict[str, Any]:
        """What the template needs beside the assignment; `answers` as drafted or submitted so far."""
        return {"items": [(item, answer_value(answers.get(item.field))) for item in self.items(assignment)]}

    def check_answers(self, assignment: Assignment, form: Mapping[str, Any]) -> list[Answer]:
        """Every item answered once, with a value of the scale; otherwise BadAnswers says what is wrong."""
        items, values = self.items(assignment), self.values(assignment.task)
        missing = [item for item in items if not answer_value(form.get(item.field))]
        if missing:
            raise BadAnswers(missing_sentence(missing, items))
        pairs = [(item, form[item.field]) for item in items]
        return [
            Answer(item, _value(answer_value(answer), values, item), self._extra(assignment, item, answer))
            for item, answer in pairs
        ]

    def _extra(self, assignment: Assignment, item: Item, answer: Any) -> dict[str, Any]:
        expected = {} if item.expected is None else {"expected": item.expected}
        return {**expected, **self.extra_of(assignment, item, answer)}

    def extra_of(self, assignment: Assignment, item: Item, answer: Any) -> dict[str, Any]:
        """What is stored beside the value of one answer."""
        return {}

    def store(self, assignment: Assignment, form: Mapping[str, Any], now: datetime) -> int:
        """Write the answers of a first submit; returns how many. Raises BadAnswers."""
        return self._write(assignment, self.check_answers(assignment, form), now)

    def _write(self, assignment: Assignment, answers: list[Answer], now: datetime) -> int:
        revision = _last_revision(assignment) + 1 if assignment.revision_keys else 1  # an earlier submit was taken back
        Judgment.objects.insert(_judgment(assignment, answer, revision, now) for answer in answers)
        return len(answers)

    def withdraw(self, assignment: Assignment) -> None:
        """The stored answers count no more; they stay on record. Call it inside a transaction."""
        assignment.judgments.filter(is_current=True).update(is_current=False)

    def revise(self, assignment: Assignment, form: Mapping[str, Any], now: datetime) -> int:
        """Append the answers that changed; the old rows stay, no longer current. Returns how many changed."""
        answers = self.check_answers(assignment, form)
        current = {(row.summary_id, row.unit): row for row in assignment.judgments.filter(is_current=True)}
        changed_answers = [answer for answer in answers if _differs(answer, current.get(_place(answer)))]
        old = {_place(answer): current[_place(answer)] for answer in changed_answers if _place(answer) in current}
        Judgment.objects.filter(pk__in=[row.pk for row in old.values()]).update(is_current=False)
        Judgment.objects.insert(
            _judgment(assignment, answer, old[_place(answer)].revision + 1 if _place(answer) in old else 1, now)
            for answer in changed_answers
        )
        return len(changed_answers)

    def answers_of(self, assignment: Assignment) -> dict[str, Any]:
        """What was submitted, as drafts have it: field -> {"value": …}."""
        rows = {(row.summary_id, row.unit): row for row in assignment.judgments.filter(is_current=True)}
        return {
            item.field: {"value": f"{row.value:g}", **self.draft_of(assignment, row)}
            for item in self.items(assignment)
            if (row := rows.get((item.summary_id, item.unit)))
        }

    def draft_of(self, assignment: Assignment, judgment: Judgment) -> dict[str, Any]:
        """What a draft holds beside the value, read back from a stored judgment: the inverse of `extra_of`."""
        return {}

    def count_answers(self, assignment: Assignment) -> int:
        """How many answers are stored."""
        return len(_CURRENT_JUDGMENTS(assignment=assignment.pk))

    # Asked of a model

    def model_question(self, assignment: Assignment) -> ModelQuestion | None:
        """The task as a model is asked it; None: this protocol can't be asked of a model."""
        return None

    def store_model(self, assignment: Assignment, answers: Mapping[str, ModelAnswer], now: datetime) -> int:
        """Write a model's answers by field; an item without one stays without, never guessed. Returns how many."""
        items = [item for item in self.items(assignment) if item.field in answers]
        rows = [Answer(item, answers[item.field].value, answers[item.field].extra) for item in items]
        return self._write(assignment, rows, now)

    # What it says of itself

    def option_fields(self) -> dict[str, Any]:
        """The options that a batch takes, with their defaults."""
        return {}

    def option_form(self) -> list[OptionField]:
        """The same options as fields of a form; those that no form can hold are left to the API."""
        fields = [plain_field(name, default) for name, default in self.option_fields().items()]
        return [field for field in fields if field.kind]

    def dimensions(self, options: Mapping[str, Any]) -> list[Dimension]:
        """What a batch with these options rates; none where the units speak for themselves."""
        return []

    def unit_titles(self, batch: Batch, document: int | None = None) -> dict[tuple[int, str], str]:
        """What units are called on the page, by document (0: in all of them) and unit."""
        return {(0, dimension.name): dimension.title for dimension in self.dimensions(batch.options)}

    def labels(self, batch: Batch) -> dict[str, str]:
        """Stored values in words, where they have any."""
        return {choice.value: choice.label for choice in self.choices(batch)}

    def highlights(self, unit: str, text: str, extra: Any) -> list[Highlight]:
        """The places in the summary that an answer points to; `text` is what its unit is called."""
        return []

    def group(self, assignment: Assignment) -> list[Summary]:
        """The summaries that a task shows, in their order."""
        return [assignment.task.summary] if assignment.task.summary else []

    def quality_remarks(self, judgments: "pd.DataFrame") -> list[str]:
        """What its judgments (no checks among them) say of themselves beside agreement, for the Quality page."""
        return []

    # Guidance

    def choices(self, batch: Batch | None = None) -> list[Choice]:
        """The answers in tutorial, test and second round; without a batch, on the protocol's own scale."""
        low, high = (batch.scale_min, batch.scale_max) if batch else (self.scale_min, self.scale_max)
        return [Choice(str(value), str(value), str(value)) for value in range(int(low), int(high) + 1)]

    def practice_texts(self, item: PracticeItem) -> list[PracticeText]:
        """The texts that a practice item is about."""
        return [PracticeText(self.practice_heading, item.summary.text_shown)]

    def practice_asked(self, item: PracticeItem) -> str:
        """What a practice item asks, as people read it."""
        return item.question

    def check_practice(self, summary: Summary, question: str) -> None:  # noqa: B027  # most take any question
        """Raises BadAnswers where nobody could answer this question about the summary."""

    def expected_values(self) -> list[str]:
        """The answers that a practice item may expect; empty where that is for the batch to say."""
        return [] if self.scale_varies else [choice.value for choice in self.choices()]

    def expected_help(self) -> str:
        """Tells an admin what to enter as the expected answer."""
        return ", ".join(choice_meaning(choice) for choice in self.choices()) + "."

    def rehearsal_options(self) -> dict[str, Any]:
        """The options of a rehearsal: the usual ones, with check items where there are any."""
        return {}

    # Datasheet

    def one_judgment(self, scus: int) -> str:
        """What one judgment is; `scus` is how many the study has."""
        return "a whole number for one dimension of one summary, by one person"

    def criteria(self, batches: Iterable[Batch]) -> Iterator[Criterion]:
        """What people judged in these batches: every dimension once."""
        names = set()
        for batch in batches:
            for dimension in self.judged_dimensions(batch):
                if dimension.name not in names:
                    names.add(dimension.name)
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


def missing_sentence(missing: list[Item], items: list[Item]) -> str:
    return ngettext(
        "%(n)d of %(all)d items has no answer yet: “%(first)s”. Nothing was submitted; your other answers are kept.",
        "%(n)d of %(all)d items have no answer yet, the first one is: “%(first)s”. "
        "Nothing was submitted; your other answers are kept.",
        len(missing),
    ) % {"n": len(missing), "all": len(items), "first": missing[0].text}


def _value(text: str, values: list[float], item: Item) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value not in values:
        raise BadAnswers(
            gettext(
                "The answer to “%(item)s” is “%(found)s”, but must be one of %(choices)s. "
                "Nothing was submitted; your other answers are kept."
            )
            % {"item": item.text, "found": text[:40], "choices": ", ".join(f"{choice:g}" for choice in values)}
        )
    return value


def _last_revision(assignment: Assignment) -> int:
    return int(assignment.judgments.aggregate(n=Max("revision"))["n"] or 0)


def _place(answer: Answer) -> tuple[int, str]:
    return answer.item.summary_id, answer.item.unit


def _differs(answer: Answer, row: Judgment | None) -> bool:
    return row is None or row.value != answer.value or (row.extra or {}) != answer.extra


def _judgment(assignment: Assignment, answer: Answer, revision: int, now: datetime) -> Judgment:
    batch = assignment.task.batch
    return Judgment(
        assignment=assignment,
        summary_id=answer.item.summary_id,
        unit=answer.item.unit,
        value=answer.value,
        scale_min=batch.scale_min,
        scale_max=batch.scale_max,
        revision=revision,
        is_check=answer.item.is_check,
        seconds=seconds_on(assignment, answer.item.field),
        position=answer.item.position,
        submitted_at=now,
        extra=answer.extra or None,
    )


def seconds_on(assignment: Assignment, name: str) -> float | None:
    """Active seconds on one item, over all the times the page was open; None without signals."""
    loads = (assignment.signals or {}).get("loads", {}).values()
    spent = [load["items"][name]["seconds"] for load in loads if name in load.get("items", {})]
    return round(sum(spent), 1) if spent else None
