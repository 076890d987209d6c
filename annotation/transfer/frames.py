"""A study's tables, as the analysis and the exports read them."""

from collections.abc import Sequence

import pandas as pd
from django.db.models import Exists, OuterRef, Q

from annotation.models import ContentUnit, Document, Judgment, Reference, Score, Study, Summary

from .folder import WHOLE_SYSTEM
from .judgment_rows import judgments_table
from .streaming import Table


def documents_frame(study: Study) -> pd.DataFrame:
    references: dict[int, list[object]] = {}
    for document, text in (
        Reference.objects.filter(document__study=study)
        .order_by("document_id", "index")
        .values_list("document_id", "text")
    ):
        references.setdefault(document, []).append(text)
    rows = Document.objects.filter(study=study).values_list("pk", "doc_id", "source", "extra")
    return _frame(
        [
            {"doc_id": doc, "source": source, "references": references.get(key, []), **extra}
            for key, doc, source, extra in rows.iterator()
        ],
        ["doc_id", "source", "references"],
        ["doc_id"],
    )


def summaries_frame(study: Study) -> pd.DataFrame:
    rows = Summary.objects.filter(document__study=study).values_list(
        "document__doc_id", "system__name", "system__group", "text", "shown", "extra"
    )
    frame = _frame(
        [
            {
                "doc_id": doc,
                "system": name,
                "group": group,
                "summary": text,
                "shown_to_workers": shown,
                **extra,
            }
            for doc, name, group, text, shown, extra in rows.iterator()
        ],
        ["doc_id", "system", "group", "summary", "shown_to_workers"],
        ["doc_id", "system"],
    )
    return _without_empty(frame, ["group", "shown_to_workers"])


def scus_frame(study: Study) -> pd.DataFrame:
    """The SCUs in force, and retired ones that somebody judged (`retired_in` says which version left them out)."""
    fields = ["scu_id", "text", "reference_index", "start", "end", "weight", "author", "is_check", "expected"]
    fields += ["order", "version", "retired_in"]
    judged = Judgment.objects.filter(summary__document=OuterRef("document"), unit=OuterRef("scu_id"))
    units = ContentUnit.objects.filter(Q(retired_in__isnull=True) | Exists(judged), document__study=study)
    rows = units.values_list("document__doc_id", *fields, "extra")
    frame = _frame(
        [{"doc_id": row[0], **dict(zip(fields, row[1:-1], strict=True)), **row[-1]} for row in rows.iterator()],
        ["doc_id", *fields],
        ["doc_id", "scu_id"],
    )
    frame = _whole(frame, ["reference_index", "start", "end", "order", "version", "retired_in"])
    frame = frame.drop(columns=[name for name, usual in (("order", 0), ("version", 1)) if (frame[name] == usual).all()])
    return _without_empty(frame, [name for name in fields[2:] if name in frame])


def judgments_frame(study: Study, *, raw_workers: bool = False) -> pd.DataFrame:
    """The current judgments that count (counting.py), one row each.

    Workers appear by pseudonym, unless an admin asks for their own ids.
    """
    frame = _assembled(judgments_table(study, raw_workers=raw_workers))
    whole = ["value", "position", "expected", "pastes", "focus_losses"]
    return _whole(frame, [name for name in whole if name in frame])


def _assembled(table: Table) -> pd.DataFrame:
    """A stream as a frame, put together chunk by chunk: strings are compact long before all rows are there."""
    parts = [
        pd.DataFrame(
            {
                column.name: _series(values, column.type)
                for column, values in zip(table.columns, zip(*rows, strict=True), strict=True)
            }
        )
        for rows in table.chunks()
        if rows
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=table.names)


def _series(values: Sequence[object], kind: str) -> pd.Series:
    if kind in ("number", "integer"):
        whole = kind == "integer" and None not in values
        return pd.Series(values, dtype="int64" if whole else "float64")
    return pd.Series(values, dtype={"string": "str", "flag": "bool"}.get(kind, "object"))


def scores_frame(study: Study) -> pd.DataFrame:
    rows = Score.objects.filter(study=study).values_list(
        "document__doc_id", "system__name", "system__group", "metric", "value", "extra"
    )
    names = ["doc_id", "system", "group", "metric", "value", "extra"]
    frame = _spread(pd.DataFrame.from_records(rows.iterator(chunk_size=10_000), columns=names))
    frame["doc_id"] = frame["doc_id"].fillna(WHOLE_SYSTEM)
    frame["value"] = frame["value"].astype(float)
    frame = frame.sort_values(["doc_id", "system", "metric"], kind="stable", ignore_index=True)
    return _without_empty(frame, ["group"])


FRAMES = {
    "documents": documents_frame,
    "summaries": summaries_frame,
    "scus": scus_frame,
    "judgments": judgments_frame,
    "scores": scores_frame,
}


def _frame(rows: list[dict[str, object]], columns: list[str], key: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=None if rows else columns)
    rest = sorted(set(frame.columns) - set(columns))
    return frame[[*columns, *rest]].sort_values(key, kind="stable", ignore_index=True)


def _spread(frame: pd.DataFrame) -> pd.DataFrame:
    """The `extra` dictionaries as columns of their own, in alphabetical order."""
    extra = frame.pop("extra")
    names = sorted({name for cells in extra if cells for name in cells})
    for name in names:
        frame[name] = [(cells or {}).get(name) for cells in extra]
    return frame


def _whole(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Whole numbers are written without a decimal point, also where cells are empty."""
    for name in names:
        numbers = pd.to_numeric(frame[name])
        if (numbers.dropna() % 1 == 0).all():
            frame[name] = numbers.astype("Int64") if numbers.isna().any() else numbers.astype("int64")
    return frame


def _without_empty(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Optional columns that hold nothing are left out."""
    empty = [name for name in names if frame[name].isna().all() or (frame[name].astype(object) == "").all()]
    return frame.drop(columns=empty)
