"""A study's texts, SCUs, scores and assignments as streams."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.common.text import plain
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

from .pseudonyms import without_ids
from .stream import (
    Column,
    Row,
    Table,
    by_path,
    documents_in_order,
    extra_columns,
    has_groups,
    in_portions,
    paths_of,
    rows_of,
    streamed,
    survey,
    with_raw_ids,
)

PORTION = 500  # documents whose texts are in memory at a time


def text_hash(text: Any) -> str:
    """What a text hashes to, so that whoever has it can see that it is the same."""
    return hashlib.sha256(plain(text).encode()).hexdigest()


def _hashes(texts: Sequence[Any]) -> str:
    return json.dumps([text_hash(text) for text in texts])


DOCUMENTS = (
    Column("doc_id", paths=("doc_id",)),
    Column("source", "text", ("source",)),
    Column("references", "texts", ("references",)),
)
DOCUMENT_HASHES = (
    Column("doc_id", paths=("doc_id",)),
    Column("source_sha256", paths=("source",), cell=text_hash),
    Column("references_sha256", paths=("references",), cell=_hashes),
)
SUMMARY = (
    Column("doc_id", paths=("document__doc_id",)),
    Column("system", paths=("system__name",)),
    Column("group", paths=("system__group",), filled=has_groups),
)
SUMMARIES = (
    *SUMMARY,
    Column("summary", "text", ("text",)),
    Column("shown_to_workers", "text", ("shown",), filled=Q(shown__isnull=False)),
)
SUMMARY_HASHES = (*SUMMARY, Column("summary_sha256", paths=("text",), cell=text_hash))
SCUS = (
    Column("doc_id", paths=("document__doc_id",)),
    Column("scu_id", paths=("scu_id",)),
    Column("text", paths=("text",)),
    Column("reference_index", "integer", ("reference_index",), filled=Q(reference_index__isnull=False)),
    Column("start", "integer", ("start",), filled=Q(start__isnull=False)),
    Column("end", "integer", ("end",), filled=Q(end__isnull=False)),
    Column("weight", "number", ("weight",), filled=Q(weight__isnull=False)),
    Column("author", paths=("author",), filled=~Q(author=""), may_hold_ids=True),
    Column("is_check", "flag", ("is_check",), filled=Q(is_check__isnull=False)),
    Column("expected", "number", ("expected",), filled=Q(expected__isnull=False)),
    Column("order", "integer", ("order",), filled=~Q(order=0)),
    Column("version", "integer", ("version",), filled=~Q(version=1)),
    Column("retired_in", "integer", ("retired_in",), filled=Q(retired_in__isnull=False)),
)
SCORES = (
    Column("doc_id", paths=("document__doc_id",), cell=lambda doc: doc or WHOLE_SYSTEM),
    Column("system", paths=("system__name",)),
    Column("group", paths=("system__group",), filled=has_groups),
    Column("metric", paths=("metric",)),
    Column("value", "number", ("value",)),
)
ASSIGNMENTS = (
    Column("assignment_id", paths=("key",)),
    Column("doc_id", paths=("task__document__doc_id",)),
    Column("system", paths=("task__summary__system__name",)),
    Column("part", "integer", ("task__part",)),
    Column("worker_id", paths=("worker__pseudonym",), raw="worker__external_id"),
    Column("batch", paths=("task__batch__name",)),
    Column("protocol", paths=("task__batch__protocol",)),
    Column("role", paths=("task__batch__role",)),
    Column("round", "integer", ("task__batch__round",)),
    Column("state", paths=("state",)),
    Column("leased_at", "time", ("leased_at",)),
    Column("submitted_at", "time", ("submitted_at",)),
    Column("seed", paths=("seed",), cell=str),  # text: a spreadsheet would round it
    Column("active_seconds", "number", ("signals",), lambda signals: signals.active_seconds),
    Column("focus_lost", "integer", ("signals",), lambda signals: signals.focus_lost),
    Column("pastes", "integer", ("signals",), lambda signals: signals.pastes),
    Column("changes", "integer", ("signals",), lambda signals: signals.changes),
    Column("loads", "integer", ("signals",), lambda signals: signals.loads),
)


def documents_table(study: Study, *, raw_workers: bool = False) -> Table:
    columns = [*DOCUMENTS, *_extras(study, Document.objects.filter(study=study), raw_workers)]
    return _documents(study, "documents", columns)


def document_hashes_table(study: Study) -> Table:
    return _documents(study, "document_hashes", DOCUMENT_HASHES)


def _documents(study: Study, name: str, columns: Sequence[Column]) -> Table:
    documents = documents_in_order(study)
    paths = [path for path in paths_of(columns) if path != "references"]

    def chunks() -> Iterator[list[Row]]:
        for keys in in_portions(documents, dict.fromkeys((key for key, _ in documents), 20_000 // PORTION)):
            references: dict[int, list[Any]] = {key: [] for key in keys}
            texts = Reference.objects.filter(document__in=keys).order_by("document_id", "index")
            for key, text in texts.values_list("document_id", "text"):
                references[key].append(text)
            rows = Document.objects.filter(pk__in=keys).values_list("pk", *paths)
            values = by_path(["pk", *paths], rows)
            yield rows_of(columns, {**values, "references": [references[key] for key in values["pk"]]}, ["doc_id"])

    return Table(name, tuple(columns), len(documents), chunks)


def summaries_table(study: Study, *, raw_workers: bool = False) -> Table:
    summaries = Summary.objects.filter(document__study=study).order_by("pk")
    columns = [*SUMMARIES, *_extras(study, summaries, raw_workers)]
    return _by_document(study, "summaries", summaries, columns, ("doc_id", "system"), weight=20)


def summary_hashes_table(study: Study) -> Table:
    summaries = Summary.objects.filter(document__study=study).order_by("pk")
    return _by_document(study, "summary_hashes", summaries, SUMMARY_HASHES, ("doc_id", "system"), weight=20)


def scus_table(study: Study, *, texts: bool = True, raw_workers: bool = False) -> Table:
    """The SCUs in force, and retired ones that somebody judged (`retired_in` says which version left them out)."""
    judgments = Judgment.objects.filter(summary__document=OuterRef("document"), unit=OuterRef("scu_id"))
    units = ContentUnit.objects.filter(Q(retired_in__isnull=True) | Exists(judgments), document__study=study)
    columns = [*SCUS, *extra_columns(units)]
    columns = columns if raw_workers else without_ids(study, units, columns)
    if not texts:
        columns = [column.then(lambda text: "") if column.name == "text" else column for column in columns]
    return _by_document(study, "scus", units, columns, ("doc_id", "scu_id"))


def scores_table(study: Study, *, raw_workers: bool = False) -> Table:
    """Every score that is stored, metrics and imported human measures alike."""
    scores = Score.objects.filter(study=study)
    columns = [*SCORES, *_extras(study, scores, raw_workers)]
    return _by_document(study, "scores", scores, columns, ("doc_id", "system", "metric"))


def _extras(study: Study, rows: "QuerySet[Any]", raw_workers: bool) -> list[Column]:
    extras = extra_columns(rows)
    return extras if raw_workers else without_ids(study, rows, extras)


def _by_document(
    study: Study, name: str, query: "QuerySet[Any]", columns: Sequence[Column], order: Sequence[str], weight: int = 1
) -> Table:
    """A table whose rows come a portion of documents at a time; one weighs in memory as much as `weight` usual ones."""
    sizes, file_columns = survey(study, query, columns)
    paths = paths_of(file_columns)

    def chunks() -> Iterator[list[Row]]:
        documents = sorted([*documents_in_order(study), (0, WHOLE_SYSTEM)], key=itemgetter(1))
        for keys in in_portions(documents, {key: size * weight for key, size in sizes.items()}):
            of_systems = Q(document__isnull=True) if 0 in keys else Q(pk__in=[])
            rows = query.filter(Q(document__in=keys) | of_systems).values_list(*paths)
            yield rows_of(file_columns, by_path(paths, rows), order)

    return Table(name, tuple(file_columns), sum(sizes.values()), chunks)


def assignments_table(study: Study, *, raw_workers: bool = False) -> Table:
    """Every assignment with its times and signals (annotation/judging/attention.py)."""
    in_order = ("key", "task__document__doc_id", "task__summary__system__name", "task__part", "pk")
    assignments = Assignment.objects.reached().filter(task__batch__study=study).order_by(*in_order)
    columns = with_raw_ids(ASSIGNMENTS) if raw_workers else ASSIGNMENTS
    return streamed("assignments", assignments, columns, {"signals": totals})
