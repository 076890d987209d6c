"""Judgments on their way in: which protocol they follow, whether they are sound, and the work they came from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from analysis.lazy import numpy as np
from analysis.lazy import pandas as pd
from analysis.tables import Problem, TableError
from analysis.tables.checks import Problems
from annotation import protocols
from annotation.models import Assignment, Batch, Judgment, Study, Task, Worker
from annotation.protocols import Protocol
from annotation.protocols.likert import Likert
from annotation.protocols.litepyramid import LitePyramid
from annotation.tables.judgments import COLUMNS

from .bulk_insert import Progress, insert_rows
from .column_lengths import longest
from .folder import BLANK, Folder, problems_in, refuse

if TYPE_CHECKING:
    from .study import Stored

# What is no column of the study's own: a judgment's own cells, and what is worked out below.
KNOWN = [column.name for column in COLUMNS if column.in_files and not column.derived]
KNOWN += ["scale_min", "scale_max", "assignment"]
MOST_BATCHES = 1000
WORK = ["batch", "protocol", "role", "round"]  # what makes a batch


def check_judgments(folder: Folder, scale: tuple[float, float]) -> pd.DataFrame | None:
    """The judgments with protocol, role, round and assignment filled in; TableError for what can't be stored."""
    if folder["judgments"] is None:
        return None
    frame, scus, name = folder.tables["judgments"], folder["scus"], folder.name_of("judgments")
    frame = _completed(frame, scus)
    judging = {protocol.name: protocol for protocol in protocols.among(protocols.judging())}
    scales = {key: scale if protocol.scale_varies else protocol.scale({}) for key, protocol in judging.items()}
    if frame["batch"].nunique() > MOST_BATCHES:
        found = f"{frame['batch'].nunique():,} different batches"
        raise TableError([Problem(name, None, "batch", found, f"at most {MOST_BATCHES}")])
    problems = [
        _rows(name, frame, "protocol", ~frame["protocol"].isin(list(judging)), " or ".join(judging)),
        *(_values(name, frame, protocol, scales[protocol.name]) for protocol in judging.values()),
        _units(name, frame, scus),
        *_assignments(name, frame),
        *_times(name, frame),
    ]
    refuse(problems)
    return frame.assign(
        scale_min=frame["protocol"].map({key: low for key, (low, _high) in scales.items()}),
        scale_max=frame["protocol"].map({key: high for key, (_low, high) in scales.items()}),
    )


def _completed(frame: pd.DataFrame, scus: pd.DataFrame | None) -> pd.DataFrame:
    columns = {column: frame.get(column, "") for column in ("protocol", "role", "assignment_id", "batch")}
    frame = frame.assign(**columns)
    units = set() if scus is None else set(scus["scu_id"])
    binary = scus is None and bool(frame["value"].isin([0, 1]).all())
    guess = np.where(frame["unit"].isin(units) | binary, LitePyramid.name, Likert.name)
    frame["protocol"] = frame["protocol"].where(frame["protocol"] != "", guess)
    frame["role"] = frame["role"].where(frame["role"] != "", "crowd")
    frame["round"] = frame["round"].fillna(1).astype(int) if "round" in frame else 1
    frame["is_check"] = frame["is_check"].astype(bool) if "is_check" in frame else False
    if scus is not None:  # a check unit's answer is a check, whether or not the file says so
        is_check = scus["text"].str.strip() == BLANK
        is_check |= scus["is_check"].astype(bool) if "is_check" in scus else False
        checks = pd.MultiIndex.from_frame(scus.loc[is_check, ["doc_id", "scu_id"]])
        frame["is_check"] |= pd.MultiIndex.from_frame(frame[["doc_id", "unit"]]).isin(checks)
    if "expected" in frame:  # check units say it themselves; other checks hold it with the judgment
        from_units = frame["protocol"].isin(protocols.judging_scus()) | ~frame["is_check"]
        frame["expected"] = pd.to_numeric(frame["expected"], errors="coerce").mask(from_units)
    # Without an id, what one worker said of one document in one round is one assignment (in other batches others).
    made_up_ids = frame["doc_id"] + "/" + frame["system"] + "/" + frame["worker_id"] + "/" + frame["round"].astype(str)
    made_up_ids += ("/" + frame["batch"]).where(frame["batch"] != "", "")
    frame["assignment_id"] = frame["assignment_id"].where(frame["assignment_id"] != "", made_up_ids)
    return frame


def check_keys(folder: Folder, frame: pd.DataFrame) -> None:
    """TableError for assignment ids that are too long once pseudonyms, all of one length, stand in them."""
    limit, study = longest(Assignment, "key"), Study()
    keys = frame["assignment_id"]
    hidden = keys.map(_hidden_keys(frame, study))
    name, expected = folder.name_of("judgments"), f"at most {limit} characters"
    problems = []
    for row in np.flatnonzero(hidden.str.len() > limit)[:100]:
        lengths = f"{len(keys.iloc[row])} characters, {len(hidden.iloc[row])} once the worker's id is a pseudonym"
        problems.append(Problem(name, int(row) + 1, "assignment_id", lengths, expected))
    if problems:
        raise TableError(problems)


def _hidden_keys(frame: pd.DataFrame, study: Study) -> dict[str, str]:
    """Assignment ids made of a worker's id would give it away in exports: the pseudonym takes its place there."""
    pairs = frame[["assignment_id", "worker_id"]].drop_duplicates()
    return {
        key: key
        if worker not in key
        else re.sub(rf"(?<![^\W_]){re.escape(worker)}(?![^\W_])", study.pseudonym(Worker.IMPORTED, worker), key)
        for key, worker in pairs.itertuples(index=False, name=None)
    }


def _rows(name: str, frame: pd.DataFrame, column: str, is_bad: Any, expected: str) -> Problems:
    return problems_in(name, frame, [column], is_bad, expected)


def _values(name: str, frame: pd.DataFrame, protocol: Protocol, scale: tuple[float, float]) -> Problems:
    follows, (low, high) = frame["protocol"] == protocol.name, scale
    if protocol.judges_scus:
        return _rows(name, frame, "value", follows & ~frame["value"].isin([0, 1]), f"0 or 1, {protocol.title}'s scale")
    remark = "(--scale sets another)" if protocol.scale_varies else f"of {protocol.title}"
    expected = f"a value on the scale {low:g} to {high:g} {remark}"
    return _rows(name, frame, "value", follows & ~frame["value"].between(low, high), expected)


def _units(name: str, frame: pd.DataFrame, scus: pd.DataFrame | None) -> Problems:
    about_scus = frame["protocol"].isin(protocols.judging_scus())
    if scus is None:
        first = about_scus & ~about_scus.duplicated()
        return _rows(name, frame, "unit", first, "scus.* in the folder, which LitePyramid judgments point to")
    scu_ids = pd.MultiIndex.from_frame(scus[["doc_id", "scu_id"]])
    strange = about_scus & ~pd.MultiIndex.from_frame(frame[["doc_id", "unit"]]).isin(scu_ids)
    return _rows(name, frame, "unit", strange, "an scu_id of this document in scus.*")


def _assignments(name: str, frame: pd.DataFrame) -> list[Problems]:
    """An assignment is one worker's, on one document, in one batch; a worker judges a summary once per batch."""
    first = frame.groupby("assignment_id", sort=False)[["worker_id", "doc_id", *WORK]].transform("first")
    mixed = (first != frame[first.columns]).any(axis=1)
    frame = frame.assign(pair=_pairs(frame))
    judged_summaries = frame.drop_duplicates(["assignment_id", "doc_id", "system", "pair", "worker_id", *WORK])
    is_repeated = judged_summaries.duplicated(["doc_id", "system", "pair", "worker_id", *WORK])
    is_repeated = is_repeated.reindex(frame.index, fill_value=False)
    once = "a worker who judges a summary once (a second time is another round or another batch)"
    return [
        _rows(name, frame, "assignment_id", mixed, "an assignment of one worker on one document in one round"),
        _rows(name, frame, "worker_id", is_repeated, once),
    ]


def _pairs(frame: pd.DataFrame) -> pd.Series:
    """What a summary is compared with; empty where it is judged by itself."""
    return frame["unit"].where(frame["protocol"].isin(protocols.comparing()), "")


def _times(name: str, frame: pd.DataFrame) -> list[Problems]:
    if "submitted_at" not in frame:
        return []
    return [_rows(name, frame, "submitted_at", ~frame["submitted_at"].map(_is_time), "an ISO 8601 time")]


def store_judgments(study: Study, frame: pd.DataFrame, texts: Stored, progress: Progress) -> None:
    """Rebuild the work that the judgments came from: batches, tasks, assignments; then the judgments themselves."""
    frame = frame.assign(assignment_id=frame["assignment_id"].map(_hidden_keys(frame, study)))
    work = _work(study, frame, texts)
    frame = frame.assign(assignment=frame["assignment_id"].map(work))
    insert_rows(Judgment, FIELDS, _judgments(frame, texts), len(frame), progress)


def _work(study: Study, frame: pd.DataFrame, texts: Stored) -> dict[str, int]:
    ids = list(frame["worker_id"].unique())
    crowd = Worker.IMPORTED
    Worker.objects.bulk_create(
        Worker(study=study, crowd=crowd, external_id=worker_id, pseudonym=study.pseudonym(crowd, worker_id))
        for worker_id in ids
    )
    workers = dict(Worker.objects.filter(study=study).values_list("external_id", "pk"))
    keys: dict[str, int] = {}
    for name, rows in _batches_of(frame):
        first = rows.iloc[0]
        batch = Batch.objects.create(
            study=study,
            name=name,
            protocol=first["protocol"],
            role=first["role"],
            round=first["round"],
            crowd=Worker.IMPORTED,
            state=Batch.State.CLOSED,
            scale_min=first["scale_min"],
            scale_max=first["scale_max"],
        )
        keys |= _assignments_of(batch, rows, workers, texts)
    return keys


def _batches_of(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The rows of every batch by its name, in the order of the file: the batch that is made later is the later one."""
    parts: dict[Any, pd.DataFrame] = dict(list(frame.groupby(WORK, sort=False)))
    n_kinds = Counter(name for name, *_kind in parts)
    batches: dict[str, pd.DataFrame] = {}
    for key in (*sorted(key for key in parts if not key[0]), *(key for key in parts if key[0])):
        (name, protocol, role, number), rows = key, parts[key]
        kind = f"{protocol} judgments, {role}, round {number}"
        wanted = name if name and n_kinds[name] == 1 else f"{name[:100]} ({kind})" if name else f"Imported {kind}"
        numbered = (f"{wanted[:190]} ({n})" for n in range(2, len(parts) + 2))
        batches[next(free for free in (wanted, *numbered) if free not in batches)] = rows
    return list(batches.items())


def _assignments_of(batch: Batch, rows: pd.DataFrame, workers: dict[str, int], texts: Stored) -> dict[str, int]:
    """One task per judged set of summaries, as large as the number of workers who had it."""
    sets: dict[str, set[tuple[str, str]]] = {}
    subjects = rows.assign(pair=_pairs(rows))[["assignment_id", "system", "pair"]].drop_duplicates()
    for key, *subject in subjects.itertuples(index=False, name=None):
        sets.setdefault(key, set()).add((subject[0], subject[1]))
    first = rows.drop_duplicates("assignment_id")
    times = first.get("submitted_at", [""] * len(first))
    cells = zip(first["assignment_id"], first["doc_id"], first["worker_id"], times, strict=True)
    file_assignments = {
        key: _Work(doc, worker, tuple(sorted(sets[key])), moment(submitted)) for key, doc, worker, submitted in cells
    }
    tasks = _tasks_of(batch, file_assignments.values(), texts)
    assignments = Assignment.objects.bulk_create(
        Assignment(
            task_id=tasks[assignment.doc_id, assignment.subjects],
            worker_id=workers[assignment.worker_id],
            key=key,
            state=Assignment.State.SUBMITTED,
            submitted_at=assignment.submitted_at,
        )
        for key, assignment in file_assignments.items()
    )
    return {row.key: row.pk for row in assignments}


@dataclass(frozen=True)
class _Work:
    """An assignment as the file tells it."""

    doc_id: str
    worker_id: str
    subjects: tuple[tuple[str, str], ...]
    """Systems, each with what it is compared with."""
    submitted_at: datetime | None


def _tasks_of(
    batch: Batch, assignments: Iterable[_Work], texts: Stored
) -> dict[tuple[str, tuple[tuple[str, str], ...]], int]:
    quotas = Counter((assignment.doc_id, assignment.subjects) for assignment in assignments)
    n_groups: Counter[str] = Counter()  # several groups of one document's summaries are numbered
    rows = []
    for (doc, subjects), quota in sorted(quotas.items()):
        single = len(subjects) == 1 and not subjects[0][1]
        rows.append(
            Task(
                batch=batch,
                document_id=texts.documents[doc],
                summary=texts.summaries[doc, subjects[0][0]] if single else None,
                part=0 if single else n_groups[doc],
                quota=quota,
            )
        )
        n_groups[doc] += not single
    tasks = Task.objects.bulk_create(rows)
    return {key: task.pk for key, task in zip(sorted(quotas), tasks, strict=True)}


def moment(text: str) -> datetime | None:
    """A time as written in a table (ISO 8601; without a zone it is UTC); None for an empty cell."""
    if not text:
        return None
    parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _is_time(text: str) -> bool:
    try:
        moment(text)
    except ValueError:
        return False
    return True


FIELDS = (
    *("assignment_id", "summary_id", "unit", "value", "scale_min", "scale_max"),
    *("is_check", "seconds", "position", "submitted_at", "extra"),
)


def _judgments(frame: pd.DataFrame, texts: Stored) -> Iterator[tuple[Any, ...]]:
    from .study import extras, optional

    keys = {pair: summary.pk for pair, summary in texts.summaries.items()}
    return zip(
        frame["assignment"].tolist(),
        (keys[pair] for pair in zip(frame["doc_id"], frame["system"], strict=True)),
        frame["unit"],
        frame["value"].tolist(),
        frame["scale_min"].tolist(),
        frame["scale_max"].tolist(),
        frame["is_check"].tolist(),
        optional(frame, "seconds"),
        optional(frame, "position"),
        (moment(text) for text in optional(frame, "submitted_at", "")),
        (extra or None for extra in extras(frame, KNOWN)),
        strict=True,
    )
