"""What a batch's workers did and how well, worked out for all of them at once: no page goes through all answers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q

from annotation import protocols
from annotation.crowds.launch.top_up import kept_answers
from annotation.jobs.page_cache import cached_page
from annotation.models import (
    REFERENCE_GROUP,
    Assignment,
    Batch,
    ContentUnit,
    FilterDecision,
    Judgment,
    Study,
    Submission,
    WorkerFigures,
)
from annotation.models.attention import totals
from annotation.models.work import counted
from annotation.tables.records import records
from annotation.tables.trusted import Trusted, trusted_judgments

if TYPE_CHECKING:
    import pandas as pd

FOCUS = 5
"""Leaving the page so often per task is worth a look."""
COLUMNS = {
    "worker_id": "assignment__worker",
    "doc_id": "summary__document",
    "system": "summary__system",
    "unit": "unit",
    "value": "value",
    "seconds": "seconds",
    "is_check": "is_check",
    "round": "assignment__task__batch__round",
    "rejected": "assignment__submission__state",
}


def handed_in(prefix: str = "") -> Q:
    """What counts, and what was rejected: the evidence for a rejection stays."""
    rejected = Q(**{f"{prefix}state": "surplus", f"{prefix}submission__state": Submission.State.REJECTED})
    return counted(prefix) | rejected


@cached_page("workers")
def make_figures(study: Study) -> dict[str, Any]:
    """Write the figures of every batch anew; the content says how many answers the filter leaves of each task."""
    trusted = _trusted(study)
    dropped = _dropped(trusted) if trusted else {}
    for batch in study.batches.all():
        rows = _rows(batch, dropped)
        with transaction.atomic():
            Batch.objects.select_for_update(no_key=True).get(pk=batch.pk)  # whoever makes them too waits
            WorkerFigures.objects.filter(batch=batch).delete()
            WorkerFigures.objects.bulk_create(rows, batch_size=500)
    kept = {batch.pk: Counter(kept_answers(batch, trusted)) for batch in study.batches.all()} if trusted else {}
    return {"kept": kept}


def _trusted(study: Study) -> Trusted | None:
    """What the filter in force leaves; None without one, or while one of its rules doesn't apply."""
    from analysis.tables import AnalysisError

    decision: FilterDecision | None = study.filter_in_force()
    try:
        return trusted_judgments(study) if decision else None
    except AnalysisError:  # the Quality page says why
        return None


def _dropped(trusted: Trusted) -> dict[str, list[str]]:
    """Pseudonym -> the rules in force that drop answers of theirs."""
    from analysis.filters.caught import caught_by

    caught = caught_by(trusted.drops, trusted.choice.judgments)
    workers = trusted.choice.workers
    return {workers.get(name, name): rules for name, rules in caught.items()}


def _rows(batch: Batch, dropped: dict[str, list[str]]) -> list[WorkerFigures]:
    rows, pseudonyms = _attention(batch)
    for figures in _figures(batch):
        if row := rows.get(int(figures.pop("worker_id"))):
            for name, value in figures.items():
                setattr(row, name, value)
    for row in rows.values():
        row.dropped_by = dropped.get(pseudonyms[row.worker_id], [])
        row.stands_out = 10 * bool(row.dropped_by) + len(odd_things(row))
    return list(rows.values())


def odd_things(row: WorkerFigures) -> list[str]:
    """What about somebody is worth a look, by name."""
    facts = {
        "checks": row.fails_checks,
        "fast": row.is_fast,
        "pastes": row.pastes > 0,
        "focus": row.tasks > 0 and row.focus_lost / row.tasks >= FOCUS,
    }
    return [name for name, is_odd in facts.items() if is_odd]


def _attention(batch: Batch) -> tuple[dict[int, WorkerFigures], dict[int, str]]:
    """A row for everybody who handed in work, with their tasks and signals; and their pseudonyms."""
    rows: dict[int, WorkerFigures] = {}
    pseudonyms: dict[int, str] = {}
    work = Assignment.objects.filter(handed_in(), task__batch=batch)
    for worker, pseudonym, signals in work.values_list("worker", "worker__pseudonym", "signals").iterator():
        pseudonyms[worker] = pseudonym
        row, sums = rows.setdefault(worker, WorkerFigures(batch=batch, worker_id=worker)), totals(signals)
        row.tasks += 1
        row.active_seconds += sums.active_seconds
        row.focus_lost += sums.focus_lost
        row.pastes += sums.pastes
    return rows, pseudonyms


def _figures(batch: Batch) -> list[dict[str, Any]]:
    """Answers, time, checks and agreement by worker. Who has rejected work is compared with it beside the rest."""
    from analysis.filters.workers import standing_out, worker_figures

    judgments, level = _frame(batch), protocols.level_of(batch.protocol)
    if judgments.empty:
        return []
    is_rejected = judgments["rejected"] == Submission.State.REJECTED
    figures = worker_figures(judgments[~is_rejected], level)
    if is_rejected.any():
        with_rejected = worker_figures(judgments, level)
        rejected_workers = set(judgments.loc[is_rejected, "worker_id"])
        others, theirs = (
            ~figures["worker_id"].isin(rejected_workers),
            with_rejected["worker_id"].isin(rejected_workers),
        )
        figures = _joined(figures[others], with_rejected[theirs])
    figures = standing_out(figures)
    return records(figures.astype(object).where(figures.notna(), None))


def _joined(*frames: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([frame for frame in frames if len(frame)], ignore_index=True)


def _frame(batch: Batch) -> pd.DataFrame:
    """The answers of a batch that were handed in, without rated references; checks with what they expect."""
    import pandas as pd

    rows = Judgment.objects.filter(handed_in("assignment__"), assignment__task__batch=batch, is_current=True)
    rows = rows.exclude(summary__system__group=REFERENCE_GROUP)
    frame = pd.DataFrame(rows.values_list(*COLUMNS.values()).iterator(chunk_size=5000), columns=list(COLUMNS))
    checks = ContentUnit.objects.filter(document__tasks__batch=batch, is_check=True, expected__isnull=False).distinct()
    expected = {
        (document, unit): value for document, unit, value in checks.values_list("document", "scu_id", "expected")
    }
    pairs = zip(frame["doc_id"], frame["unit"], strict=True)
    return frame.assign(
        expected=pd.Series([expected.get(pair) for pair in pairs], dtype=float),
        seconds=frame["seconds"].astype(float),
        worker_id=frame["worker_id"].astype(str),
    )
