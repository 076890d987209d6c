"""Marked errors: spans of the summary, each with a category and a severity; then 0 to 100 for the whole.

Categories after FRANK (Pagnoni et al. 2021) or MQM (Lommel et al. 2014), or the study's own; the score for the whole
after ESA (Kocmi et al. 2024). docs/protocols/errors.md states the rules, docs/decisions/0125 why answers are a row per
category.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from annotation.common.text import Sentence, find_words, plain, sentences
from annotation.models import Assignment, Batch, Task

from .base import Answer, Item, Protocol, answer_value, named
from .descriptions import Choice, Criterion, Dimension, Highlight, OptionField
from .error_marks import (
    MAJOR,
    MINOR,
    MOST_MARKS,
    MOST_POINTS,
    NO_ERROR,
    SEVERITIES,
    SPAN,
    Category,
    read_marks,
    read_overall,
    span_list,
    with_plain_answers,
    worst_severities,
)

OVERALL = "overall"
MOST_CATEGORIES = 30
WEIGHTS = {MINOR: 1, MAJOR: 5}  # MQM's usual points


# FRANK's kinds of factual errors; definitions in our own words.
FRANK: dict[str, dict[str, Any]] = {
    "relation": {"title": _("Relation"), "definition": _("What is said to happen is not what the article says.")},
    "entity": {"title": _("Entity"), "definition": _("Somebody or something else than in the article.")},
    "circumstance": {"title": _("Circumstance"), "definition": _("The time, the place or the manner is wrong.")},
    "coreference": {
        "title": _("Coreference"),
        "definition": _("“He”, “it” or “the city” points to nothing, or wrongly."),
    },
    "link": {
        "title": _("Connection"),
        "definition": _("Statements are joined wrongly: a cause, a contrast, an order."),
    },
    "out_of_article": {"title": _("Not in the article"), "definition": _("The article says nothing of it.")},
    "grammar": {"title": _("Grammar"), "definition": _("So ill-formed that the meaning suffers.")},
    "omission": {
        "title": _("Omission"),
        "definition": _("Something important is missing. It has no words in the summary."),
        "placed": False,
    },
}
# Of MQM's kinds those that a text in one language can have.
MQM: dict[str, dict[str, Any]] = {
    "accuracy": {"title": _("Accuracy"), "definition": _("The article says something else.")},
    "addition": {"title": _("Addition"), "definition": _("The article doesn’t have it.")},
    "omission": FRANK["omission"],
    "terminology": {"title": _("Terminology"), "definition": _("The wrong word for a thing.")},
    "linguistic": {
        "title": _("Linguistic conventions"),
        "definition": _("Grammar, spelling, punctuation, capitals."),
    },
    "style": {"title": _("Style"), "definition": _("Clumsy, repeated, or in the wrong tone.")},
    "locale": {"title": _("Locale"), "definition": _("Dates, numbers, currencies in the wrong form.")},
    "design": {"title": _("Markup"), "definition": _("Remains of markup, broken characters.")},
}
PRESETS = {"frank": FRANK, "mqm": MQM}
KNOWN = {**MQM, **FRANK}

INSTRUCTIONS = """\
## What to do

You see an article and a summary of it. Mark **every error** in the summary: choose its words, say what kind of error it
is, and how bad.

- **Minor**: a reader is not misled. **Major**: a reader would believe something wrong, or can't understand it.
- Mark as few words as hold the error: “11 to 4”, not the whole sentence.
- Marks may overlap: a wrong name in an invented sentence is two errors.
- Something important that is missing is an omission: it has no words, so report it without any.
- If there is no error, say so.

Then give the whole summary 0 to 100: 0 is worthless, 100 is as good as a careful person would write it.

## Worked example

> **Article (in short):** The council voted 11 to 4 on Tuesday to keep the night ferry for three more years. Harbour
> parking rises from 2 to 3 crowns.
>
> **Summary:** The mayor voted 11 to 4 to keep the night ferry. Ships will be painted blue.

| Words | Kind | How bad | Why |
|---|---|---|---|
| The mayor | Entity | Major | It was the council. |
| Ships will be painted blue. | Not in the article | Major | The article doesn't say so. |
| (none) | Omission | Minor | That parking will cost more is missing. |

## Keys

Arrows move over the words, `Shift` with arrows selects, `1` to `9` mark what is selected, `-` is minor, `+` is major,
`E` adds evidence from the article, `U` takes back, `?` shows help.
"""


class Errors(Protocol):
    name = "errors"
    title = _("Marked errors")
    work = _("Mark errors in summaries")
    template = "annotation/judging/errors.html"
    scale_min = 0
    scale_max = MOST_POINTS
    shows_source = True
    contested_rule = None  # what one marked isn't changed by what others did
    instructions = INSTRUCTIONS
    practice_question = _("How bad is the worst error of this kind in the summary?")
    practice_label = _("Kind of error")
    usual_minutes = 4
    asks = "marked errors (spans with category and severity)"
    shows = "the source and one summary"
    instrument = "Words are selected in the summary, then a category and a severity are chosen."
    prompt = "Mark every error in the summary: its words, its kind, and how bad it is."

    # Options

    def option_fields(self) -> dict[str, Any]:
        return {"categories": list(FRANK), "overall": True, "weights": dict(WEIGHTS), "seed": 0}

    def option_form(self) -> list[OptionField]:
        known = tuple((name, texts["title"]) for name, texts in KNOWN.items())
        return [
            OptionField(
                "categories", _("Kinds of errors"), "dimensions", _("FRANK’s are ticked; others are MQM’s."), known
            ),
            OptionField("overall", _("Then ask for 0 to 100 for the whole"), "flag"),
            OptionField(
                "weights",
                _("Points that an error costs"),
                "numbers",
                choices=((MINOR, pgettext("severity", "minor")), (MAJOR, pgettext("severity", "major"))),
            ),
            OptionField("seed", _("Seed"), "number", _("What is drawn by chance follows from it.")),
        ]

    def options(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        options = super().options(overrides)
        if isinstance(options["categories"], str):
            if options["categories"] not in PRESETS:
                raise ValueError(f"There is no list {options['categories']!r}. Known: {', '.join(PRESETS)}.")
            options["categories"] = list(PRESETS[options["categories"]])
        names = [category.name for category in self.categories(options)]
        if not names or len(set(names)) < len(names) or len(names) > MOST_CATEGORIES or OVERALL in names:
            raise ValueError(
                f"The kinds of errors are {', '.join(names) or 'empty'}; each needs a name of its own, other than "
                f"{OVERALL}, and {MOST_CATEGORIES} are the most."
            )
        options["weights"] = _weights(options["weights"])
        return options

    def categories(self, options: Mapping[str, Any]) -> list[Category]:
        """Known ones by name, or {"name", "title", "definition", "placed"} of one's own."""
        return [_category(description) for description in options.get("categories", ())]

    def dimensions(self, options: Mapping[str, Any]) -> list[Dimension]:
        dimensions = [Dimension(kind.name, kind.title, kind.definition) for kind in self.categories(options)]
        if dimensions and options.get("overall"):
            definition = gettext("The whole summary, all errors considered.")
            dimensions.append(
                Dimension(OVERALL, gettext("Overall"), definition, gettext("worthless"), gettext("perfect"))
            )
        return dimensions

    # Tasks

    def tasks(self, batch: Batch, quota: int) -> list[Task]:
        """One task per summary."""
        return [
            Task(batch=batch, document_id=document, summary_id=summary, quota=quota)
            for document, summary in self.summaries(batch)
        ]

    def items(self, assignment: Assignment) -> list[Item]:
        task = assignment.task
        assert task.summary_id is not None
        items = [
            Item(task.summary_id, dimension.name, dimension.title, position=place)
            for place, dimension in enumerate(self.dimensions(task.batch.options), start=1)
        ]
        return named(assignment, items)

    def page(self, assignment: Assignment, answers: Mapping[str, Any]) -> dict[str, Any]:
        task = assignment.task
        assert task.summary is not None
        text, options = task.summary.text_shown, task.batch.options
        worst = worst_severities(answers)
        items = self.items(assignment)
        rows = [
            (item, category, answer_value(answers.get(item.field)) or worst.get(item.unit, ""))
            for item, category in zip(items, self.categories(options), strict=False)
        ]
        overall = next((item for item in items if item.unit == OVERALL), None)
        return {
            "text": text,
            "sentences": sentences(text),
            "article": _lines(task.document.source),
            "article_lines": plain(task.document.source).split("\n"),
            "rows": rows,
            "choices": self.choices(),
            "overall": overall,
            "overall_value": answer_value(answers.get(overall.field)) if overall else "",
            "errors_config": page_config(rows, overall),
        }

    # Answers

    def check_answers(self, assignment: Assignment, form: Mapping[str, Any]) -> list[Answer]:
        """A value for every category, with the marks behind it, and the 0 to 100; BadAnswers says what is wrong."""
        task = assignment.task
        assert task.summary is not None
        text, options = task.summary.text_shown, task.batch.options
        items = self.items(assignment)
        kinds = {category.name: category for category in self.categories(options)}
        marks = read_marks(form, kinds, len(text), len(plain(task.document.source)))
        categories = [item for item in items if item.unit in kinds]
        marks = with_plain_answers(marks, categories, form)
        size = {"words": len(find_words(text)), "characters": len(text)}
        weights = options.get("weights") or WEIGHTS
        answers = []
        for item in categories:
            own = [mark for mark in marks if mark.category == item.unit]
            points = float(min(sum(weights[mark.severity] for mark in own), MOST_POINTS))
            answers.append(Answer(item, points, {"spans": [mark.stored() for mark in own], **size}))
        return [*answers, *(Answer(item, read_overall(form, item)) for item in items if item.unit == OVERALL)]

    def answers_of(self, assignment: Assignment) -> dict[str, Any]:
        rows = {row.unit: row for row in assignment.judgments.filter(is_current=True)}
        answers: dict[str, Any] = {}
        for item in self.items(assignment):
            row = rows.get(item.unit)
            if row is not None and item.unit == OVERALL:
                answers[item.field] = {"value": f"{row.value:g}"}
            for place, mark in enumerate(span_list(row.extra) if row else []):
                answers[f"{SPAN}{item.field}.{place}"] = {"value": item.unit, **mark}
        if rows and not any(name.startswith(SPAN) for name in answers):
            answers[NO_ERROR] = {"value": "1"}
        return answers

    def highlights(self, unit: str, text: str, extra: Any) -> list[Highlight]:
        title = str(KNOWN[unit]["title"]) if unit in KNOWN else text
        return [
            Highlight(
                mark.get("start"), mark.get("end"), title, severity_title(mark["severity"]), mark["severity"] == MAJOR
            )
            for mark in span_list(extra)
        ]

    # What it says of itself

    def choices(self, batch: Batch | None = None) -> list[Choice]:
        """In practice, and on a page without script: how bad the worst error of a kind is."""
        return [
            Choice("0", gettext("None"), "0"),
            Choice("1", severity_title(MINOR), "1"),
            Choice("2", severity_title(MAJOR), "2"),
        ]

    def stored_values(self, batch: Batch, unit: str) -> dict[float, float]:
        if unit == OVERALL:
            return super().stored_values(batch, unit)
        weights = _weights(batch.options.get("weights") or WEIGHTS)
        return {0.0: 0.0, **{float(place): weights[name] for place, name in enumerate(SEVERITIES, start=1)}}

    def labels(self, batch: Batch) -> dict[str, str]:
        """Stored values are points and have no names."""
        return {}

    def one_judgment(self, scus: int) -> str:
        return "the errors of one kind in one summary with their places, or 0 to 100 for the whole, by one person"

    def criterion(self, dimension: Dimension, batch: Batch) -> Criterion:
        if dimension.name == OVERALL:
            values, size = "0 to 100", 101
            aggregation = "The mean over the kept workers (esa)."
        else:
            values, size = "none, or spans of words that are minor or major errors", 0
            aggregation = "100 less the penalty points per 100 words, the mean over the kept workers (mqm)."
        return Criterion(
            name=dimension.name,
            definition=dimension.definition,
            values=values,
            size=size,
            instrument="A slider from 0 to 100." if dimension.name == OVERALL else self.instrument,
            prompt=self.prompt,
            aggregation=aggregation,
            kind=("correctness", "form and content", "relative to the input"),
        )


def severity_title(severity: str) -> str:
    titles = {MINOR: pgettext("severity", "minor"), MAJOR: pgettext("severity", "major")}
    return titles.get(severity, severity)


def _category(description: Any) -> Category:
    if isinstance(description, str):
        if description not in KNOWN:
            raise ValueError(
                f"There is no kind of error {description!r}. Known: {', '.join(KNOWN)}; or describe one of your own: "
                '{"name": …, "title": …, "definition": …}.'
            )
        texts = KNOWN[description]
        return Category(description, str(texts["title"]), str(texts["definition"]), texts.get("placed", True))
    if not isinstance(description, Mapping) or not description.get("name"):
        raise ValueError(f"A kind of error is {description!r}, but must be a name or an object with at least a name.")
    name = str(description["name"])
    title, definition = str(description.get("title") or name.capitalize()), str(description.get("definition", ""))
    return Category(name[:100], title, definition, description.get("placed", True) is not False)


def _weights(weights: Any) -> dict[str, float]:
    """Points by severity; one that isn't named costs nothing."""
    is_good = isinstance(weights, Mapping) and set(weights) <= set(SEVERITIES)
    numbers = [0, *weights.values()] if is_good else []
    if not is_good or not all(
        isinstance(n, int | float) and not isinstance(n, bool) and 0 <= n <= 100 for n in numbers
    ):
        raise ValueError(f'The weights are {weights!r}, but must be points such as {{"minor": 1, "major": 5}}.')
    if not any(numbers):
        raise ValueError("No error costs anything; at least one severity needs points.")
    return {severity: weights.get(severity, 0) for severity in SEVERITIES}


def _lines(source: Any) -> list[Sentence]:
    """The article line by line, or sentence by sentence as given; places are those in the plain text."""
    return [line for line in sentences(source if isinstance(source, list) else source.split("\n")) if line.words]


def page_config(rows: Iterable[tuple[Item, Category, str]], overall: Item | None) -> dict[str, Any]:
    """Read by static/annotation/errors/errors.js: the kinds of errors, and its sentences in the reader's language."""
    return {
        "kinds": [{"name": kind.name, "title": kind.title, "placed": kind.placed} for _item, kind, _value in rows],
        "overall": overall.field if overall else None,
        "most": MOST_MARKS,
        "errorTexts": {
            "selected": gettext("Selected: {words}"),
            "nothingSelected": gettext("Select words of the summary, then choose what is wrong with them."),
            "selectFirst": gettext("Select words of the summary first."),
            "made": gettext("{kind}: {words}. Minor or major?"),
            "set": gettext("{kind}, {severity}: {words}"),
            "removed": gettext("Mark removed. Undo brings it back."),
            "noPlace": gettext("without words"),
            "unknown": gettext("choose again"),
            "full": gettext("{most} marks is the most for a summary. Remove one first."),
            "marks": gettext("Marks: {n}"),
            "noSeverity": gettext("Say of every mark whether it is minor or major. The first one is outlined."),
            "noKind": gettext("A mark has a kind that the list doesn’t have any more. Choose another one."),
            "nothingMarked": gettext("Nothing is marked. Mark an error, or tick that there is none."),
            "noOverall": gettext("Give the whole summary 0 to 100."),
            "evidenceFor": gettext(
                "Evidence for “{words}”: select words of the article, then press Enter or the button."
            ),
            "evidenceKept": gettext("Evidence added: {words}"),
            "evidenceRemove": gettext("Remove the evidence “{words}”"),
            "evidenceWhich": gettext("Mark an error first; evidence belongs to a mark."),
            MINOR: severity_title(MINOR),
            MAJOR: severity_title(MAJOR),
        },
    }
