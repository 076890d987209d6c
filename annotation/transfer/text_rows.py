"""A study's texts, SCUs, scores and assignments as streams."""

import hashlib
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q

from annotation.models import (
    WHOLE_SYSTEM,
    Assignment,
    ContentUnit,
    Document,
    Judgment,
    Reference,
    Score,
    Study,
    Summary,
)
from annotation.models.attention import totals
from annotation.words import plain

from .hiding import Hiding, own_cells
from .streaming import Column, Row, Table, documents_in_order, extra_cells, extra_columns, in_portions

PORTION = 500  # documents whose texts are in memory at a time


def documents_table(study: Study, *, raw_workers: bool = False) -> Table:
    every = Document.objects.filter(study=study)
    extras = extra_columns(every)
    own = own_cells(study, every, extras, raw_workers=raw_workers)
    known = documents_in_order(study)

    def chunks() -> Iterator[list[Row]]:
        for keys in in_portions(known, dict.fromkeys((key for key, _ in known), 20_000 // PORTION)):
            references: dict[int, list[Any]] = {key: [] for key in keys}
            given = Reference.objects.filter(document__in=keys).order_by("document_id", "index")
            for key, text in given.values_list("document_id", "text"):
                references[key].append(text)
            rows = Document.objects.filter(pk__in=keys).values_list("pk", "doc_id", "source", "extra")
            yield sorted(
                ((doc, source, references[key], *own(extra)) for key, doc, source, extra in rows),
                key=lambda row: row[0],
            )

    columns = (Column("doc_id"), Column("source", "text"), Column("references", "texts"), *extras)
    return Table("documents", columns, len(known), chunks)


def summaries_table(study: Study, *, raw_workers: bool = False) -> Table:
    every = Summary.objects.filter(document__study=study)
    extras = extra_columns(every)
    own = own_cells(study, every, extras, raw_workers=raw_workers)
    has_group = study.systems.exclude(group="").exists()
    has_shown = every.filter(shown__isnull=False).exists()
    sizes = dict(every.values_list("document").annotate(n=Count("pk")))

    def chunks() -> Iterator[list[Row]]:
        for keys in in_portions(documents_in_order(study), {key: n * 20 for key, n in sizes.items()}):
            rows = every.filter(document__in=keys).order_by("pk")
            found = rows.values_list("document__doc_id", "system__name", "system__group", "text", "shown", "extra")
            yield sorted(
                (
                    (
                        *(doc, system, *((group,) if has_group else ()), text),
                        *((shown,) if has_shown else ()),
                        *own(extra),
                    )
                    for doc, system, group, text, shown, extra in found
                ),
                key=lambda row: row[:2],
            )

    columns = [Column("doc_id"), Column("system"), *([Column("group")] if has_group else []), Column("summary", "text")]
    columns += [*([Column("shown_to_workers", "text")] if has_shown else []), *extras]
    return Table("summaries", tuple(columns), sum(sizes.values()), chunks)


UNITS = {"reference_index": "integer", "start": "integer", "end": "integer", "weight": "number", "author": "string"}
UNITS |= {"is_check": "flag", "expected": "number", "order": "integer", "version": "integer", "retired_in": "integer"}


def scus_table(study: Study, *, texts: bool = True) -> Table:
    """The SCUs in force, and retired ones that somebody judged (`retired_in` says which version left them out)."""
    judged = Judgment.objects.filter(summary__document=OuterRef("document"), unit=OuterRef("scu_id"))
    every = ContentUnit.objects.filter(Q(retired_in__isnull=True) | Exists(judged), document__study=study)
    used = every.aggregate(
        total=Count("pk"),
        **{f"n_{name}": Count(name) for name in UNITS if name not in ("author", "order", "version")},
        n_author=Count("pk", filter=~Q(author="")),
        n_order=Count("pk", filter=~Q(order=0)),
        n_version=Count("pk", filter=~Q(version=1)),
    )
    names = [name for name in UNITS if used[f"n_{name}"]]
    extras, hide = extra_columns(every), Hiding(study)
    sizes = dict(every.values_list("document").annotate(n=Count("pk")))

    def chunks() -> Iterator[list[Row]]:
        for keys in in_portions(documents_in_order(study), sizes):
            rows = every.filter(document__in=keys).values_list("document__doc_id", "scu_id", "text", *names, "extra")
            yield sorted(
                ((doc, unit, text if texts else "", *map(hide, facts), *map(hide, extra_cells(extra, extras)))
                 for doc, unit, text, *facts, extra in rows),
                key=lambda row: row[:2],
            )  # fmt: skip

    columns = [Column("doc_id"), Column("scu_id"), Column("text"), *(Column(name, UNITS[name]) for name in names)]
    return Table("scus", (*columns, *extras), used["total"], chunks)


def scores_table(study: Study, *, raw_workers: bool = False) -> Table:
    """Every score that is stored, metrics and imported human measures alike."""
    every = Score.objects.filter(study=study)
    extras = extra_columns(every)
    own = own_cells(study, every, extras, raw_workers=raw_workers)
    has_group = study.systems.exclude(group="").exists()
    sizes = dict(every.values_list("document").annotate(n=Count("pk")))

    def chunks() -> Iterator[list[Row]]:
        known = sorted([*documents_in_order(study), (0, WHOLE_SYSTEM)], key=lambda pair: pair[1])
        for keys in in_portions(known, {0 if key is None else key: n for key, n in sizes.items()}):
            where = Q(document__in=keys) | (Q(document__isnull=True) if 0 in keys else Q(pk__in=[]))
            rows = every.filter(where).values_list(
                "document__doc_id", "system__name", "system__group", "metric", "value", "extra"
            )
            yield sorted(
                (
                    (
                        *(doc or WHOLE_SYSTEM, system, *((group,) if has_group else ()), metric, value),
                        *own(extra),
                    )
                    for doc, system, group, metric, value, extra in rows
                ),
                key=lambda row: (row[0], row[1], row[-2 - len(extras)]),
            )

    columns = [Column("doc_id"), Column("system"), *([Column("group")] if has_group else []), Column("metric")]
    return Table("scores", (*columns, Column("value", "number"), *extras), sum(sizes.values()), chunks)


WORK = {
    "assignment_id": "key",
    "doc_id": "task__document__doc_id",
    "system": "task__summary__system__name",
    "part": "task__part",
    "worker_id": "worker__pseudonym",
    "batch": "task__batch__name",
    "protocol": "task__batch__protocol",
    "role": "task__batch__role",
    "round": "task__batch__round",
    "state": "state",
    "leased_at": "leased_at",
    "submitted_at": "submitted_at",
    "seed": "seed",
}
IN_ORDER = ("key", "task__document__doc_id", "task__summary__system__name", "task__part", "pk")
SIGNALS = ("active_seconds", "focus_lost", "pastes", "changes", "loads")


def assignments_table(study: Study, *, raw_workers: bool = False) -> Table:
    """Every assignment with its times and signals (annotation/signals.py). The seed is text: a spreadsheet rounds."""
    fields = WORK | ({"worker_id": "worker__external_id"} if raw_workers else {})
    every = Assignment.objects.filter(task__batch__study=study).order_by(*IN_ORDER)

    def chunks() -> Iterator[list[Row]]:
        rows = every.values_list(*fields.values(), "signals").iterator(chunk_size=2000)
        while chunk := [_assignment(row) for row in islice(rows, 5000)]:
            yield chunk

    types = {"part": "integer", "round": "integer", "active_seconds": "number"}
    types |= dict.fromkeys(SIGNALS[1:], "integer")
    columns = tuple(Column(name, types.get(name, "string")) for name in (*fields, *SIGNALS))
    return Table("assignments", columns, every.count(), chunks)


def _assignment(row: Row) -> Row:
    *facts, leased, submitted, seed, signals = row
    times = (time.isoformat() if time else "" for time in (leased, submitted))
    found = totals(signals)
    return (*facts, *times, str(seed), *(getattr(found, name) for name in SIGNALS))


# Without texts: what they hash to, so that whoever has them can see that they are the same


def text_hash(text: Any) -> str:
    return hashlib.sha256(plain(text).encode()).hexdigest()


def document_hashes_table(study: Study) -> Table:
    whole = documents_table(study)

    def chunks() -> Iterator[list[Row]]:
        for rows in whole.chunks():
            yield [(row[0], text_hash(row[1]), json.dumps([text_hash(text) for text in row[2]])) for row in rows]

    columns = (Column("doc_id"), Column("source_sha256"), Column("references_sha256"))
    return Table("document_hashes", columns, whole.total, chunks)


def summary_hashes_table(study: Study) -> Table:
    whole = summaries_table(study)
    place = whole.names.index("summary")

    def chunks() -> Iterator[list[Row]]:
        for rows in whole.chunks():
            yield [(*row[:place], text_hash(row[place])) for row in rows]

    columns = (*whole.columns[:place], Column("summary_sha256"))
    return Table("summary_hashes", columns, whole.total, chunks)
