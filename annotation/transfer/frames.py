"""A study's tables, as the analysis and the exports read them."""

import pandas as pd
from django.db.models import Exists, OuterRef, Q

from annotation.models import Assignment, ContentUnit, Document, Judgment, Reference, Score, Study, Summary
from annotation.signals import totals

from .folder import WHOLE_SYSTEM


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
    """The current judgments that count: of submitted assignments, one row each.

    Workers appear by pseudonym, unless an admin asks for their own ids.
    """
    fields = {
        "doc_id": "summary__document__doc_id",
        "system": "summary__system__name",
        "group": "summary__system__group",
        "unit": "unit",
        "worker_id": "assignment__worker__external_id" if raw_workers else "assignment__worker__pseudonym",
        "value": "value",
        "assignment_id": "assignment__key",
        "protocol": "assignment__task__batch__protocol",
        "role": "assignment__task__batch__role",
        "round": "assignment__task__batch__round",
        "seconds": "seconds",
        "position": "position",
        "is_check": "is_check",
        "submitted_at": "submitted_at",
    }
    rows = Judgment.objects.filter(
        summary__document__study=study, is_current=True, assignment__state=Assignment.State.SUBMITTED
    ).values_list(*fields.values(), "extra")
    names = [*fields, "extra"]
    frame = pd.DataFrame.from_records(rows.iterator(chunk_size=10_000), columns=names)
    frame = _spread(frame).sort_values(
        ["doc_id", "system", "worker_id", "assignment_id", "unit"], kind="stable", ignore_index=True
    )
    frame["expected"] = _expected_answers(study, frame)
    frame["retired"] = _of_retired_units(study, frame)
    frame["submitted_at"] = [time.isoformat() if not pd.isna(time) else "" for time in frame["submitted_at"]]
    return _without_empty(
        _whole(frame, ["value", "position", "expected"]),
        ["group", "seconds", "position", "submitted_at", "expected", "retired"],
    )


def _of_retired_units(study: Study, frame: pd.DataFrame) -> list[int | None]:
    """1 for judgments of SCUs that a later version of the list left out, 0 for the others; empty if there are none."""
    units = ContentUnit.objects.filter(document__study=study, retired_in__isnull=False)
    gone = set(units.values_list("document__doc_id", "scu_id"))
    pairs = zip(frame["doc_id"], frame["unit"], strict=True)
    return [int(pair in gone) for pair in pairs] if gone else [None] * len(frame)


def _expected_answers(study: Study, frame: pd.DataFrame) -> list[float | None]:
    """The known answers of check items, empty for real ones."""
    units = ContentUnit.objects.filter(document__study=study, is_check=True, expected__isnull=False)
    known = {(doc, unit): value for doc, unit, value in units.values_list("document__doc_id", "scu_id", "expected")}
    pairs = zip(frame["doc_id"], frame["unit"], frame["is_check"], strict=True)
    return [known.get((doc, unit)) if is_check else None for doc, unit, is_check in pairs]


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


def assignments_frame(study: Study) -> pd.DataFrame:
    """Every assignment with its signals (annotation/signals.py): who worked when, for how long, how attentively.

    The seed is text: as a number a spreadsheet would round it.
    """
    fields = {
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
    rows = Assignment.objects.filter(task__batch__study=study).order_by("pk").values_list(*fields.values(), "signals")
    frame = pd.DataFrame.from_records(rows.iterator(chunk_size=10_000), columns=[*fields, "signals"])
    sums = [totals(signals) for signals in frame.pop("signals")]
    for name in ("active_seconds", "focus_lost", "pastes", "changes", "loads"):
        frame[name] = [getattr(one, name) for one in sums]
    for name in ("leased_at", "submitted_at"):
        frame[name] = [time.isoformat() if not pd.isna(time) else "" for time in frame[name]]
    frame["seed"] = frame["seed"].astype(str)
    return frame
