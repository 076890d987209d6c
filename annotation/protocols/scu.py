"""SCU extraction: the facts of a reference, one short sentence each. (Shapira et al. 2019; Bhandari et al. 2020)"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from annotation.common.text import plain, sentences
from annotation.models import Assignment, Batch, PracticeItem, Reference, Task

from .base import Item, Protocol, answer_value
from .descriptions import Choice, OptionField, PracticeText
from .model_question import ModelAnswer, ModelItem, ModelQuestion, ModelText
from .scu_units import Unit, extracted_rows, read_units, store_units, units_of

FIELD = "units"  # the whole list as one text: from a page without script, from programs, in old drafts
UNIT, ORDER = "unit:", "unit-order"  # in drafts: a field for each SCU by its id, and the ids in their order
MOST_UNITS = 16  # REALSumm

INSTRUCTIONS = """\
## What to do

You see a reference summary. Write down **every fact** in it, one short sentence each.

- One fact per sentence. Split until no part could be true while another part is false.
- Each sentence must be understandable by itself: write the name, not “he” or “it”.
- Two or three names or numbers at most.
- Use the reference's own words where you can, and nothing that isn't in it.

Select the words of a fact in the reference and press Enter: they become a new sentence that you can edit. The words you
have used are shaded, so you see what is still missing.

## Worked example

> Bayern Munich beat Porto 6–1 in the Champions League on Tuesday.

1. Bayern Munich beat Porto.
2. Bayern Munich won 6–1.
3. Bayern Munich won in the Champions League.
4. Bayern Munich won on Tuesday.

Not like this: “They won 6–1 on Tuesday.” It joins two facts and doesn't say who won.
"""


class SCU(Protocol):
    """One task per reference (`part` is its index); the answer is a list of units, stored as such."""

    name = "scu"
    title = _("SCU extraction")
    work = _("Write down the facts of a text")
    template = "annotation/judging/scu.html"
    scale_min = 0
    scale_max = 1
    extracts_scus = True
    rates_dimensions = False
    instructions = INSTRUCTIONS
    practice_heading = _("Reference")
    practice_question = _("Is this a good SCU of the reference?")
    practice_label = _("Statement")
    usual_minutes = 5
    shows = "one reference"

    def items(self, assignment: Assignment) -> list[Item]:
        return []

    def values(self, task: Task) -> list[float]:
        return []

    def tasks(self, batch: Batch, quota: int) -> list[Task]:
        references = Reference.objects.filter(document__study_id=batch.study_id).order_by("document__sort_key", "index")
        if batch.chosen is not None:
            references = references.filter(document__in={document for document, _summary in self.summaries(batch)})
        return [
            Task(batch=batch, document_id=document, part=index, quota=quota)
            for document, index in references.values_list("document_id", "index")
        ]

    def option_fields(self) -> dict[str, Any]:
        return {"max_units": MOST_UNITS}

    def option_form(self) -> list[OptionField]:
        return [OptionField("max_units", _("SCUs per reference, at most"), "number")]

    def options(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        options = super().options(overrides)
        limit = options["max_units"]
        if type(limit) is not int or not 1 <= limit <= 100:
            raise ValueError(f"max_units is {limit!r}, but must be a whole number from 1 to 100.")
        return options

    def page(self, assignment: Assignment, answers: Mapping[str, Any]) -> dict[str, Any]:
        reference = reference_of(assignment.task)
        drafted = _raw(answers)
        return {
            "sentences": sentences(reference.text),
            "reference_text": plain(reference.text),
            "lines": drafted_lines(drafted),
            "scu": editor_config(max_units(assignment.task.batch)),
        }

    def store(self, assignment: Assignment, form: Mapping[str, Any], now: datetime) -> int:
        return store_units(assignment, _read(assignment.task, form), now)

    def revise(self, assignment: Assignment, form: Mapping[str, Any], now: datetime) -> int:
        units = _read(assignment.task, form)
        return 0 if units == units_of(assignment) else store_units(assignment, units, now)

    def model_question(self, assignment: Assignment) -> ModelQuestion:
        most = max_units(assignment.task.batch)
        asked = f"Every fact of the reference, one short sentence each; at most {most} sentences."
        reference = plain(reference_of(assignment.task).text)
        return ModelQuestion([ModelText("Reference", reference)], [ModelItem("scus", FIELD, asked)])

    def store_model(self, assignment: Assignment, answers: Mapping[str, ModelAnswer], now: datetime) -> int:
        """A proposal: what the model wrote lies in the SCU desk, and nothing is in force until a person freezes it."""
        if FIELD not in answers:
            return 0
        lines = answers[FIELD].value[: max_units(assignment.task.batch)]
        return store_units(assignment, _read(assignment.task, {FIELD: "\n".join(lines)}), now)

    def withdraw(self, assignment: Assignment) -> None:
        assignment.extracted.filter(is_current=True).update(is_current=False)

    def answers_of(self, assignment: Assignment) -> dict[str, Any]:
        rows = {f"r{row.revision}.{row.order}": row for row in extracted_rows(assignment)}
        units = {f"{UNIT}{name}": {"value": row.text, "spans": row.spans} for name, row in rows.items()}
        return {**units, ORDER: {"value": " ".join(rows)}}

    def count_answers(self, assignment: Assignment) -> int:
        return assignment.extracted.filter(is_current=True).count()

    def choices(self, batch: Batch | None = None) -> list[Choice]:
        return [
            Choice("1", gettext("Good SCU"), pgettext("key for Good SCU", "p"), "yes"),
            Choice("0", gettext("Not a good SCU"), pgettext("key for Not a good SCU", "n"), "no"),
        ]

    def practice_texts(self, item: PracticeItem) -> list[PracticeText]:
        reference = item.summary.document.references.order_by("index").first()
        return [PracticeText(self.practice_heading, plain(reference.text) if reference else "")]

    def expected_help(self) -> str:
        return gettext("1 for a good SCU, 0 for one that isn't.")

    def one_judgment(self, scus: int) -> str:
        return ""


def reference_of(task: Task) -> Reference:
    return Reference.objects.get(document_id=task.document_id, index=task.part)


def _read(task: Task, form: Mapping[str, Any]) -> list[Unit]:
    return read_units(_raw(form), plain(reference_of(task).text), max_units(task.batch))


def max_units(batch: Batch) -> int:
    return int(batch.options.get("max_units", MOST_UNITS))


def drafted_lines(raw: Any) -> str:
    """A draft for a page without script: one SCU per line."""
    try:
        entries = json.loads(raw) if isinstance(raw, str) and raw.lstrip().startswith("[") else raw
        return "\n".join(entry["text"] for entry in entries) if isinstance(entries, list) else entries or ""
    except (ValueError, TypeError, KeyError):
        return ""


def editor_config(limit: int, advice_url: str = "") -> dict[str, Any]:
    """Read by static/annotation/scus/editor.js: what it needs to know, and its sentences in the reader's language.

    On a work page the address of the advice stands among the page's own (judging/page_config.py).
    """
    return {
        "field": FIELD,
        "most": limit,
        "adviceUrl": advice_url,
        "texts": {
            "unit": gettext("SCU {n}"),
            "made": gettext("SCU {n} made. Edit it to a single short fact; Enter goes on."),
            "full": gettext("{most} SCUs is the most for this reference. Merge or delete one first."),
            "selectFirst": gettext("Select words in the reference first."),
            "nothingSelected": gettext("No words selected"),
            "noneYet": gettext("There is no SCU yet: write at least one."),
            "deleted": gettext("Deleted. Undo brings it back."),
            "split": gettext("Split in two."),
            "splitWhere": gettext("Put the cursor where the SCU should be split."),
            "merged": gettext("Merged."),
            "mergeLast": gettext("There is no SCU below to merge with."),
            "sourced": gettext("The selected words are now the source of SCU {n}."),
            "count": gettext("SCUs: {n}"),
            "coverage": gettext("{percent} % of content words covered ({n} of {all})"),
        },
    }


def _raw(form: Mapping[str, Any]) -> Any:
    """The list as `read_units` takes it. A text that a form sends as a whole stands before what was drafted."""
    raw = form.get(FIELD)
    if isinstance(raw, str):
        return raw
    fields = {name: content for name, content in form.items() if name.startswith(UNIT) and isinstance(content, Mapping)}
    if fields:
        return _listed(fields, answer_value(form.get(ORDER)).split())
    return raw.get("value", "") if isinstance(raw, Mapping) else raw or ""


def _listed(fields: Mapping[str, Mapping[str, Any]], order: list[str]) -> list[dict[str, Any]]:
    """The SCUs of a draft in their order; those that another device added come behind. Without a text: deleted."""
    places = {f"{UNIT}{name}": place for place, name in enumerate(order)}
    names = sorted(fields, key=lambda name: (places.get(name, len(places)), name))
    return [
        {"text": fields[name]["value"], "spans": fields[name].get("spans", [])}
        for name in names
        if fields[name].get("value") is not None
    ]
