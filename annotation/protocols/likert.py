"""Likert: summaries of one article side by side, rated on every dimension (SummEval, Fabbri et al. 2021, section 4.3).

A document's summaries are dealt into groups, anew for every annotator, and the reference stands in each group,
unlabelled, as a common point. Grouping and order follow from the assignment's seed (docs/protocols/likert.md).
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from random import Random
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.common.text import plain
from annotation.models import REFERENCE_GROUP, Assignment, Batch, Reference, Summary, System, Task

from .base import Item, Protocol, answer_value, named, opaque
from .descriptions import Criterion, Dimension, OptionField, judged_units
from .model_question import ModelItem, ModelQuestion, ModelText

GROUP_SIZE = 5
SCALE = (1, 5)
PARAGRAPH = 4
SENTENCE_END = re.compile(r"(?<=[.!?…。])\s+")

# SummEval's dimensions; the words in double quotes are its own, which quotes the DUC guidelines (Dang 2005).
DIMENSIONS: dict[str, dict[str, Any]] = {
    "coherence": {
        "title": _("Coherence"),
        "definition": _(
            "How well all sentences hold together. A coherent summary is “well-structured and well-organized”; it is "
            "not “just a heap of related information”, but builds from sentence to sentence."
        ),
        "low": _("a heap of sentences"),
        "high": _("one clear whole"),
    },
    "consistency": {
        "title": _("Consistency"),
        "definition": _(
            "Whether the facts agree with the article. A consistent summary states only what the article entails; "
            "facts that the article doesn’t have cost points."
        ),
        "low": _("contradicts the article"),
        "high": _("all facts agree"),
    },
    "fluency": {
        "title": _("Fluency"),
        "definition": _(
            "The quality of each sentence by itself: “no formatting problems, capitalization errors or obviously "
            "ungrammatical sentences” that make the text hard to read."
        ),
        "low": _("hard to read"),
        "high": _("reads well"),
    },
    "relevance": {
        "title": _("Relevance"),
        "definition": _(
            "Whether the important content was chosen. Only what matters in the article should be there; repetition "
            "and excess cost points."
        ),
        "low": _("misses the point"),
        "high": _("just what matters"),
    },
}


# Type of quality, aspect and frame of reference of SummEval's dimensions, for the datasheet.
KINDS = {
    "coherence": ("goodness", "form and content", "the output in its own right"),
    "consistency": ("correctness", "content", "relative to the input"),
    "fluency": ("goodness", "form", "the output in its own right"),
    "relevance": ("goodness", "content", "relative to the input"),
}

INSTRUCTIONS = """\
## What to do

You see an article and several summaries of it, in random order. Rate each summary on each dimension, from 1 (worst) to
5 (best). Read the article first; then look at one dimension at a time.

- **Coherence**: the sentences together make a well-built whole, not a heap of facts.
- **Consistency**: everything in the summary is backed by the article. An invented or twisted fact costs dearly.
- **Fluency**: each sentence by itself is well-formed and easy to read.
- **Relevance**: the summary holds what matters in the article, and nothing that doesn't.

The dimensions are independent: a fluent summary may be wrong, and a correct one may read badly.

## Worked examples

> **Article (in short):** The council voted 11 to 4 to keep the night ferry. Harbour parking rises from 2 to 3 crowns.

| Summary | Rating | Why |
|---|---|---|
| The council voted to drop the night ferry. | Consistency 1 | It says the opposite of the article. |
| Ferry. Council keep vote 11 4 parking. | Fluency 1 | The facts may be right, but these are no sentences. |
| The council kept the night ferry, and parking pays for it. | Relevance 5 | Both things that matter are there. |

## Keys

`j` and `k` or the arrows move, `1` to `5` rate, `u` takes back, `?` shows help.
"""


class Likert(Protocol):
    name = "likert"
    title = "Likert"
    template = "annotation/judging/likert.html"
    scale_min, scale_max = SCALE
    scale_varies = True
    shows_source = True
    csv_form = "ratings"
    instructions = INSTRUCTIONS
    asks = "ratings on a scale"
    usual_minutes = 10
    shows = "the source and a group of unlabelled summaries in random order"
    instrument = "Radio buttons in a row for each summary."
    prompt = "The name of the dimension; its definition is shown on focus."

    def option_fields(self) -> dict[str, Any]:
        return {
            "dimensions": list(DIMENSIONS),
            "scale": list(SCALE),
            "group_size": GROUP_SIZE,
            "reference": True,
            "overlap": False,
            "seed": 0,
        }

    def option_form(self) -> list[OptionField]:
        known = tuple((name, texts["title"]) for name, texts in DIMENSIONS.items())
        return [
            OptionField("dimensions", _("Dimensions"), "dimensions", choices=known),
            OptionField("scale", _("Scale"), "scale", _("The lowest and the highest rating.")),
            OptionField("group_size", _("Summaries side by side"), "number", _("The reference counts as one of them.")),
            OptionField(
                "reference", _("Put the reference into each group"), "flag", _("Unlabelled, as a common point.")
            ),
            OptionField("overlap", _("Offer to light words shared with the article"), "flag"),
            OptionField("seed", _("Seed"), "number", _("What is drawn by chance follows from it.")),
        ]

    def options(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        options = {**super().options(overrides), "grouped": True}
        low, high = options["scale"]
        if not (isinstance(low, int) and isinstance(high, int) and low < high <= low + 10):
            raise ValueError(f"The scale is {options['scale']!r}, but must be two whole numbers such as [1, 5].")
        if not isinstance(options["group_size"], int) or options["group_size"] < 1 + bool(options["reference"]):
            raise ValueError(f"The group size is {options['group_size']!r}, but must be a whole number of at least 2.")
        names = [dimension.name for dimension in self.dimensions(options)]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"The dimensions are {', '.join(names) or 'empty'}; each needs a name of its own.")
        return options

    def scale(self, options: Mapping[str, Any]) -> tuple[float, float]:
        return options["scale"][0], options["scale"][1]

    def tasks(self, batch: Batch, quota: int) -> list[Task]:
        """A task per document and group; all first groups come first, so that many begin and the same ones finish."""
        if batch.options["reference"]:
            store_references(batch)
        by_document: dict[int, list[int]] = {}
        for document, summary in self.summaries(batch):
            by_document.setdefault(document, []).append(summary)
        group_counts = {document: _n_groups(len(ids), batch.options) for document, ids in by_document.items()}
        return [
            Task(
                batch=batch, document_id=document, part=group, quota=quota, pinned={"summaries": by_document[document]}
            )
            for group in range(max(group_counts.values(), default=0))
            for document, n_groups in group_counts.items()
            if group < n_groups
        ]

    def dimensions(self, options: Mapping[str, Any]) -> list[Dimension]:
        """SummEval's by name, or {"name", "title", "definition", "low", "high"} of one's own."""
        return [_dimension(description) for description in options.get("dimensions", DIMENSIONS)]

    def expected_help(self) -> str:
        return gettext("A rating on the scale, such as 4.")

    def judged_dimensions(self, batch: Batch) -> list[Dimension]:
        """An imported batch names none: then those that were rated."""
        if batch.options.get("dimensions"):
            return self.dimensions(batch.options)
        return [_dimension(unit if unit in DIMENSIONS else {"name": unit}) for unit in judged_units(batch)]

    def criterion(self, dimension: Dimension, batch: Batch) -> Criterion:
        return replace(super().criterion(dimension, batch), kind=KINDS.get(dimension.name, ("", "", "")))

    def group(self, assignment: Assignment) -> list[Summary]:
        """The summaries this annotator sees, in their order: the reference among the systems' own."""
        task = assignment.task
        summaries = Summary.objects.filter(document_id=task.document_id).select_related("system").order_by("pk")
        system_summaries = [summary for summary in summaries if _is_asked(summary, task)]
        draw = Random(assignment.seed)
        draw.shuffle(system_summaries)
        n_groups = _n_groups(len(system_summaries), task.batch.options)
        group = system_summaries[task.part :: n_groups]
        if task.batch.options.get("reference", True):
            group += [summary for summary in summaries if summary.system.group == REFERENCE_GROUP]
        Random(f"{assignment.seed}:{task.part}").shuffle(group)
        return group

    def items(self, assignment: Assignment) -> list[Item]:
        return self._items(assignment, self.group(assignment))

    def _items(self, assignment: Assignment, group: list[Summary]) -> list[Item]:
        dimensions = self.dimensions(assignment.task.batch.options)
        return named(
            assignment,
            [
                Item(summary.pk, dimension.name, f"{dimension.title} ({place})", position=place)
                for place, summary in enumerate(group, start=1)
                for dimension in dimensions
            ],
        )

    def model_question(self, assignment: Assignment) -> ModelQuestion:
        task, group = assignment.task, self.group(assignment)
        dimensions = {dimension.name: dimension for dimension in self.dimensions(task.batch.options)}
        low, high = int(task.batch.scale_min), int(task.batch.scale_max)
        summaries = [ModelText(f"Summary {place}", summary.text_shown) for place, summary in enumerate(group, start=1)]
        return ModelQuestion(
            texts=[ModelText("Article", plain(task.document.source)), *summaries],
            items=[
                ModelItem(f"s{item.position}_{item.unit}", item.field, _asked(item, dimensions[item.unit], low, high))
                for item in self._items(assignment, group)
            ],
            values={value: str(value) for value in range(low, high + 1)},
        )

    def page(self, assignment: Assignment, answers: Mapping[str, Any]) -> dict[str, Any]:
        task = assignment.task
        group, dimensions = self.group(assignment), self.dimensions(task.batch.options)
        items = {(item.summary_id, item.unit): item for item in self._items(assignment, group)}
        scale = [f"{value:g}" for value in self.values(task)]
        cards = [
            {
                "field": opaque(assignment, "card", summary.pk),
                "text": summary.text_shown,
                "rows": [
                    (dimension, item, answer_value(answers.get(item.field)))
                    for dimension in dimensions
                    if (item := items[summary.pk, dimension.name])
                ],
            }
            for summary in group
        ]
        return {
            "cards": cards,
            "dimensions": dimensions,
            "scale": scale,
            "article": paragraphs(task.document.source),
            "overlap": bool(task.batch.options.get("overlap")),
        }


def _asked(item: Item, dimension: Dimension, low: int, high: int) -> str:
    """A dimension of one summary, with the study's own definition and the words at the ends of its scale."""
    ends = f" {low}: {dimension.low}; {high}: {dimension.high}." if dimension.low and dimension.high else ""
    return f"Summary {item.position}, {dimension.title}. {dimension.definition}{ends}"


def _is_asked(summary: Summary, task: Task) -> bool:
    """Whether a summary is dealt into the groups: one of those that were there when the batch was made."""
    if summary.system.group == REFERENCE_GROUP:
        return False
    return task.pinned is None or summary.pk in task.pinned["summaries"]


def _n_groups(n_summaries: int, options: Mapping[str, Any]) -> int:
    """How many groups: as few as hold all summaries beside the reference; then they are nearly equal in size."""
    places = int(options.get("group_size", GROUP_SIZE)) - bool(options.get("reference", True))
    return max(1, ceil(n_summaries / places))


def _dimension(description: Any) -> Dimension:
    if isinstance(description, str):
        if description not in DIMENSIONS:
            raise ValueError(
                f"There is no dimension {description!r}. Known: {', '.join(DIMENSIONS)}; or describe one of your own: "
                '{"name": …, "title": …, "definition": …}.'
            )
        return Dimension(name=description, **{key: str(text) for key, text in DIMENSIONS[description].items()})
    if not isinstance(description, Mapping) or not description.get("name"):
        raise ValueError(f"A dimension is {description!r}, but must be a name or an object with at least a name.")
    name = str(description["name"])
    texts = {key: str(description.get(key, "")) for key in ("definition", "low", "high")}
    return Dimension(name, str(description.get("title") or name.capitalize()), **texts)


def store_references(batch: Batch) -> None:
    """A rated reference is a summary by the system “reference” of the group “reference”: made here where missing."""
    references = Reference.objects.filter(document__study=batch.study, index=0)
    if not references.exists():
        return
    system, _made = System.objects.get_or_create(study=batch.study, name="reference", group=REFERENCE_GROUP)
    document_ids = set(Summary.objects.filter(system=system).values_list("document_id", flat=True))
    Summary.objects.bulk_create(
        Summary(document_id=reference.document_id, system=system, text=reference.text)
        for reference in references
        if reference.document_id not in document_ids
    )


def paragraphs(source: Any) -> list[list[str]]:
    """An article to show: given sentences a few to a paragraph, for the eye; or its lines, cut into sentences."""
    if isinstance(source, list):
        return [source[first : first + PARAGRAPH] for first in range(0, len(source), PARAGRAPH)]
    return [SENTENCE_END.split(line.strip()) for line in plain(source).splitlines() if line.strip()]
