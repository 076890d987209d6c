"""Final SCU lists: compare what annotators extracted, merge it, freeze it, and keep every version."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from django.db import transaction
from django.db.models import Count, Max, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from annotation import protocols
from annotation.common import clock
from annotation.common.errors import BadAnswers, Refused
from annotation.models import (
    Assignment,
    ContentUnit,
    Document,
    ExtractedUnit,
    Judgment,
    Reference,
    Study,
    UnitList,
    User,
)
from annotation.models.work import MODEL_ROLE
from annotation.protocols.scu_units import Coverage, Unit, as_unit, coverage

from .advice import similarity

MATCH = 0.5  # content words shared by two annotators' SCUs that are taken for the same fact
IN_ORDER = ("document__sort_key", "index")
MOST_FROZEN = 100  # the annotators' limit is a batch's option; an admin may merge several lists
SUBMITTED = (Assignment.State.SUBMITTED, Assignment.State.SURPLUS)


class ListMovedOn(Refused):
    sentence = _("Somebody froze this list while you were at it. Nothing was changed: reload, look, and freeze again.")


@dataclass(frozen=True)
class Extraction:
    """One annotator's SCUs of a reference."""

    author: str  # pseudonym
    units: list[Unit]
    coverage: Coverage
    is_model: bool = False
    """A model proposes them: a person takes, edits or leaves each."""


@dataclass(frozen=True)
class Cell:
    """One annotator's SCU in a row, and as the editor takes it."""

    unit: Unit

    @property
    def json(self) -> str:
        return json.dumps(self.unit.as_json())


@dataclass(frozen=True)
class Row:
    """SCUs of several annotators that say the same; None where one has nothing like it."""

    cells: list[Unit | None]
    is_proposal: bool = False
    """Only models have it."""

    @property
    def shared(self) -> bool:
        return sum(cell is not None for cell in self.cells) > 1

    @property
    def editor_cells(self) -> list[Cell | None]:
        return [Cell(unit) if unit else None for unit in self.cells]

    @property
    def suggestion(self) -> Unit:
        """The shortest wording, on all the words that anybody stood it on."""
        units = [cell for cell in self.cells if cell is not None]
        spans = tuple(sorted({span for unit in units for span in unit.spans}))
        return Unit(min((unit.text for unit in units), key=len), spans)


@dataclass(frozen=True)
class Comparison:
    """A reference, what annotators extracted from it, and the list in force."""

    reference: Reference
    extractions: list[Extraction]
    rows: list[Row]
    in_force: list[ContentUnit]
    version: int  # 0: never frozen nor imported
    judgments: int
    history: list[UnitList] = field(default_factory=list)

    @property
    def shared(self) -> int:
        return sum(row.shared for row in self.rows)

    @property
    def start(self) -> list[Unit]:
        """Where the final list starts from: the list in force, or the suggestion; a model's proposals are for a person
        to take."""
        return [from_content(unit) for unit in self.in_force] or [
            row.suggestion for row in self.rows if not row.is_proposal
        ]

    @property
    def n_people(self) -> int:
        return sum(not extraction.is_model for extraction in self.extractions)


def compare(reference: Reference) -> Comparison:
    """Everything the admin's page shows: a fixed number of queries."""
    document, extractions = reference.document, _extractions(reference)
    units = _units_in_force(document, reference.index)
    return Comparison(
        reference=reference,
        extractions=extractions,
        rows=_marked(align([extraction.units for extraction in extractions]), extractions),
        in_force=units,
        version=current_version(document),
        judgments=_judgments(document).count(),
        history=list(document.unit_lists.select_related("frozen_by").order_by("-version")),
    )


def _marked(rows: list[Row], extractions: Sequence[Extraction]) -> list[Row]:
    """The rows, with those that only models have."""
    by_person = [not extraction.is_model for extraction in extractions]
    return [
        replace(row, is_proposal=not any(cell and person for cell, person in zip(row.cells, by_person, strict=True)))
        for row in rows
    ]


def _extractions(reference: Reference) -> list[Extraction]:
    rows = (
        ExtractedUnit.objects.filter(
            assignment__task__document_id=reference.document_id,
            assignment__task__part=reference.index,
            assignment__state__in=SUBMITTED,
            is_current=True,
        )
        .order_by("assignment_id", "order")
        .values_list("assignment_id", "assignment__worker__pseudonym", "assignment__task__batch__role", "text", "spans")
    )
    by_author: dict[tuple[int, str, bool], list[Unit]] = {}
    for key, author, role, text, spans in rows:
        by_author.setdefault((key, author, role == MODEL_ROLE), []).append(as_unit(text, spans))
    return [
        Extraction(author, units, coverage(reference.text, units), is_model)
        for (_key, author, is_model), units in sorted(by_author.items(), key=lambda item: item[0][2])
    ]


def align(lists: Sequence[Sequence[Unit]]) -> list[Row]:
    """Put SCUs that say the same on one row: each list's best match first, none used twice, the rest alone."""
    rows: list[list[Unit | None]] = []
    for place, units in enumerate(lists):
        rows = [[*cells, None] for cells in rows]
        for unit, row in _pairs(units, rows):
            if row is None:
                rows.append([None] * place + [unit])
            else:
                row[place] = unit
    return [Row(cells) for cells in sorted(rows, key=_first_place)]


def _pairs(units: Sequence[Unit], rows: list[list[Unit | None]]) -> list[tuple[Unit, list[Unit | None] | None]]:
    scored = sorted(
        ((_best(unit, row), -u, -r) for u, unit in enumerate(units) for r, row in enumerate(rows)), reverse=True
    )
    taken_units: dict[int, int] = {}
    for score, u, r in scored:
        if score >= MATCH and -u not in taken_units and -r not in taken_units.values():
            taken_units[-u] = -r
    return [(unit, rows[taken_units[u]] if u in taken_units else None) for u, unit in enumerate(units)]


def _best(unit: Unit, row: list[Unit | None]) -> float:
    return max(similarity(unit.text, cell.text) for cell in row if cell is not None)


def _first_place(cells: list[Unit | None]) -> int:
    """Rows follow the reference; SCUs without known words come last."""
    return min((unit.spans[0][0] for unit in cells if unit and unit.spans), default=10**9)


def from_content(unit: ContentUnit) -> Unit:
    """A frozen SCU as the editor takes it."""
    if unit.extra.get("spans"):
        return as_unit(unit.text, unit.extra["spans"])
    has_span = unit.start is not None and unit.end is not None and unit.start < unit.end
    return Unit(unit.text, ((unit.start, unit.end),) if has_span else ())  # type: ignore[arg-type]


def _units_in_force(document: Document, reference_index: int) -> list[ContentUnit]:
    """The reference's SCUs in force; units without a reference belong to the first one, checks to none."""
    of_reference = Q(reference_index=reference_index)
    if reference_index == 0:
        of_reference |= Q(reference_index__isnull=True)
    return list(ContentUnit.objects.filter(of_reference, document=document, is_check=False).in_force())


def version_of(reference: Reference, version: int) -> list[ContentUnit]:
    """The reference's SCUs as they were in a version."""
    units = ContentUnit.objects.filter(document_id=reference.document_id, is_check=False).of_version(version)
    return [unit for unit in units if (unit.reference_index or 0) == reference.index]


def current_version(document: Document) -> int:
    """The newest version; imported SCUs are version 1, and no SCUs are version 0."""
    frozen = document.unit_lists.aggregate(n=Max("version"))["n"]
    return frozen or int(document.units.filter(is_check=False).exists())


def _judgments(document: Document) -> QuerySet[Judgment]:
    return Judgment.objects.filter(
        summary__document=document, assignment__task__batch__protocol__in=protocols.judging_scus(), is_check=False
    )


def freeze_units(
    reference: Reference, units: Sequence[Unit], user: User | None, *, seen_version: int, note: str = ""
) -> UnitList:
    """Make this the reference's SCU list, as a new version of the document's.

    SCUs with the same words keep their id, and so their judgments; the others that were there are retired, never
    deleted. The same list again makes no new version. Raises ListMovedOn when `seen_version` is not the newest.
    """
    if not units:
        raise BadAnswers(str(_("A list needs at least one SCU. Nothing was frozen.")))
    with transaction.atomic():
        document = Document.objects.select_for_update().get(pk=reference.document_id)
        now_version = current_version(document)
        if seen_version != now_version:
            raise ListMovedOn
        before = {unit.text: unit for unit in _units_in_force(document, reference.index)}
        frozen = document.unit_lists.filter(version=now_version).first()
        if frozen and list(before) == [unit.text for unit in units]:
            return frozen
        return _new_version(document, reference, units, before, user, now_version + 1, note)


def _new_version(
    document: Document,
    reference: Reference,
    units: Sequence[Unit],
    before: dict[str, ContentUnit],
    user: User | None,
    version: int,
    note: str,
) -> UnitList:
    words = {unit.text for unit in units}
    retired_ids = [unit.pk for text, unit in before.items() if text not in words]
    ContentUnit.objects.filter(pk__in=retired_ids).update(retired_in=version)
    ids, authors = _free_ids(document), _authors(reference)
    for order, unit in enumerate({unit.text: unit for unit in units}.values(), start=1):
        row = before.get(unit.text) or ContentUnit(
            document=document, scu_id=next(ids), text=unit.text, version=version, author=authors.get(unit.text, "")
        )
        row.order, row.reference_index = order + 1000 * reference.index, reference.index
        row.start, row.end = (unit.spans[0][0], max(end for _s, end in unit.spans)) if unit.spans else (None, None)
        row.extra = {**row.extra, "spans": [list(span) for span in unit.spans]} if len(unit.spans) > 1 else row.extra
        row.save()
    return UnitList.objects.create(
        document=document,
        version=version,
        reference_index=reference.index,
        size=len(words),
        note=note[:400],
        frozen_by=user,
        frozen_at=clock.now(),
    )


def _free_ids(document: Document) -> Iterator[str]:
    ids = set(document.units.values_list("scu_id", flat=True))
    last = max((int(digits.group()) for name in ids if (digits := re.search(r"\d+$", name))), default=0)
    while True:
        last += 1
        if (name := f"scu{last:02}") not in ids:
            yield name


def _authors(reference: Reference) -> dict[str, str]:
    """Whose wording it was; the first of two who wrote the same."""
    authors: dict[str, str] = {}
    for extraction in _extractions(reference):
        for unit in extraction.units:
            authors.setdefault(unit.text, extraction.author)
    return authors


@dataclass(frozen=True)
class ReferenceState:
    """A line of the overview: one reference, and how far its SCUs are."""

    reference: Reference
    extractions: int
    units: int
    version: int  # 0: not frozen
    is_judged: bool


def neighbours(reference: Reference) -> tuple[int | None, int | None]:
    """The references before and after this one, in the order of the study's list."""
    references = Reference.objects.filter(document__study=reference.document.study_id)
    keys: list[int | None] = [None, *references.order_by(*IN_ORDER).values_list("pk", flat=True), None]
    place = keys.index(reference.pk)
    return keys[place - 1], keys[place + 1]


def reference_states(study: Study) -> list[ReferenceState]:
    """Every reference of a study: five queries, whatever their number."""
    references = Reference.objects.filter(document__study=study).select_related("document")
    n_extractions = {
        (document, index): n
        for document, index, n in Assignment.objects.filter(
            task__batch__study=study, task__batch__protocol__in=protocols.extracting_scus(), state__in=SUBMITTED
        )
        .values_list("task__document", "task__part")
        .annotate(n=Count("pk"))
    }
    units = ContentUnit.objects.filter(document__study=study, is_check=False, retired_in__isnull=True)
    counts = Counter[tuple[int, int]]()
    for document, index, n in units.values_list("document", "reference_index").annotate(n=Count("pk")):
        counts[document, index or 0] += n
    versions = dict(UnitList.objects.filter(document__study=study).values_list("document").annotate(n=Max("version")))
    judged_documents = set(
        Judgment.objects.filter(
            summary__document__study=study, assignment__task__batch__protocol__in=protocols.judging_scus()
        )
        .values_list("summary__document", flat=True)
        .distinct()
    )
    return [
        ReferenceState(
            reference,
            n_extractions.get((reference.document_id, reference.index), 0),
            counts[reference.document_id, reference.index],
            versions.get(reference.document_id, 0),
            reference.document_id in judged_documents,
        )
        for reference in references.defer("document__source").order_by(*IN_ORDER)
    ]
