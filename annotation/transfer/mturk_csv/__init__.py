"""MTurk's CSV forms: a batch out as the `Input.*` file of the old requester site, its results back in.

For requesters who work with such files and forms of their own. Nothing is published or paid from here.
"""

import csv
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TextIO

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from analysis.tables import TableError
from annotation import protocols
from annotation.common.errors import Refused
from annotation.common.text import plain
from annotation.judging.leases import draw_seed
from annotation.models import Assignment, Batch, Document, Judgment, Study, Task, Worker
from annotation.protocols import Protocol

from .rows import FILLER, Result, results_of
from .sheet import defused, read_sheet

PLACES = 16  # statements of REALSumm's form
CROWD = "mturk"  # whose ids the WorkerId column holds
DRAWN = Worker(pseudonym="csv")  # one row serves all workers of a HIT, so all see one order
State = Assignment.State


def with_forms() -> list[str]:
    """The names of the protocols that such files fit."""
    return [name for name, protocol in protocols.PROTOCOLS.items() if protocol.csv_form]


def _check_form(protocol: str) -> None:
    if protocol not in with_forms():
        raise Refused(
            _("There is no CSV form for %(protocol)s, only for %(known)s. Nothing was changed.")
            % {"protocol": protocol[:40], "known": ", ".join(with_forms())}
        )


def _check_round(batch: Batch | None) -> None:
    if batch is not None and batch.round > 1:
        raise Refused(
            _(
                "“%(batch)s” is a second round: it shows everybody other answers, for which there is no CSV form. "
                "Nothing was changed."
            )
            % {"batch": batch}
        )


# Out


def export_batch(batch: Batch, stream: TextIO, *, prefix: str = "Input.") -> int:
    """One row per task; returns how many. The site's upload form wants the names without the prefix."""
    _check_form(batch.protocol)
    _check_round(batch)
    tasks = batch.tasks.select_related("document", "summary__system", "batch__study").order_by("pk")
    protocol = protocols.get(batch.protocol)
    rows = list(WRITERS[protocol.csv_form](protocol, tasks))
    widest = max(rows, key=len, default={})
    writer = csv.DictWriter(stream, [prefix + name for name in widest], restval="", lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({prefix + name: defused(str(row.get(name, ""))) for name in widest})
    return len(rows)


def _assignment_shown(task: Task) -> Assignment:
    return Assignment(task=task, seed=draw_seed(task, task.batch, DRAWN))


def _statement_rows(protocol: Protocol, tasks: Iterable[Task]) -> Iterator[dict[str, object]]:
    items_by_task = [(task, protocol.items(_assignment_shown(task))) for task in tasks]
    places = max([PLACES, *(len(items) for _task, items in items_by_task)])
    for task, items in items_by_task:
        assert task.summary is not None
        texts = [item.text for item in items] + [FILLER] * (places - len(items))
        yield {
            "eventId": task.document.doc_id,
            "summaryId": task.summary.system.name,
            "qIdList": [item.unit for item in items],
            "summary_text": task.summary.text_shown,
            **{f"statement_{number}": text for number, text in enumerate(texts, start=1)},
        }


def _rating_rows(protocol: Protocol, tasks: Iterable[Task]) -> Iterator[dict[str, object]]:
    for task in tasks:
        group = protocol.group(_assignment_shown(task))
        yield {
            "eventId": task.document.doc_id,
            "part": task.part,
            "article": plain(task.document.source),
            **{f"summaryId_{number}": summary.system.name for number, summary in enumerate(group, start=1)},
            **{f"summary_text_{number}": summary.text_shown for number, summary in enumerate(group, start=1)},
        }


# By `Protocol.csv_form`.
WRITERS = {"statements": _statement_rows, "ratings": _rating_rows}


# In


@dataclass(frozen=True)
class Imported:
    """What a result file brought."""

    batch: Batch | None  # None after a dry run that would have made it
    rows: int
    known: int  # rows that were here before
    counted: int  # new assignments that count
    surplus: int  # new assignments beyond the quota: kept, not counted
    rejected: int  # new assignments that the requester had rejected: kept, not counted
    judgments: int
    workers: int  # told apart by WorkerId; 0 where the file has no such column
    wrong_fillers: int  # BLANK places marked Present

    def sentences(self) -> Iterator[str]:
        """For the person who imported."""
        yield _("%(rows)d rows, %(new)d of them new: %(judgments)d judgments.") % {
            "rows": self.rows,
            "new": self.rows - self.known,
            "judgments": self.judgments,
        }
        if self.surplus:
            yield _("%(n)d assignments came after their task was full: kept, not counted.") % {"n": self.surplus}
        if self.rejected:
            yield _("%(n)d assignments had been rejected: kept, not counted.") % {"n": self.rejected}
        if not self.workers:
            yield _("The file names no workers, so that every row counts as a worker of its own.")
        if self.wrong_fillers:
            yield _("%(n)d BLANK places were marked Present: somebody wasn't looking.") % {"n": self.wrong_fillers}


def import_results(
    study: Study,
    content: bytes,
    name: str,
    *,
    batch: Batch | None = None,
    new_batch: str = "",
    protocol: str = "",
    dry_run: bool = False,
) -> Imported:
    """Store a result file's rows in a batch that was exported, or in a new one made for the file.

    The same rows again change nothing. Refused names the rows and columns at fault; then nothing is stored.
    """
    protocol = batch.protocol if batch else protocol or "litepyramid"
    _check_form(protocol)
    _check_round(batch)
    _check_batch(study, batch, new_batch)
    options = batch.options if batch else protocols.get(protocol).options({})
    try:
        form = protocols.get(protocol).csv_form
        results = results_of(read_sheet(content, name), study, form, _scales(protocol, options))
    except TableError as error:
        raise Refused(_("%(problem)s\nNothing was imported.") % {"problem": error}) from None
    with transaction.atomic():
        target = batch or _new_batch(study, new_batch or name[:200], protocol, options, results)
        imported = _store(target, results)
        if dry_run:
            transaction.set_rollback(True)
    return replace(imported, batch=batch) if dry_run else imported


def _check_batch(study: Study, batch: Batch | None, new_batch: str) -> None:
    if batch is not None and batch.postings.exists():
        raise Refused(
            _("“%(batch)s” stands on a market, which tells its own results. Nothing was imported: use Collect.")
            % {"batch": batch}
        )
    if batch is None and new_batch and study.batches.filter(name=new_batch).exists():
        raise Refused(
            _("“%(study)s” has a batch named “%(name)s” already. Nothing was imported.")
            % {"study": study, "name": new_batch}
        )


def _scales(protocol: str, options: dict[str, Any]) -> dict[str, list[float]]:
    """The values that each dimension may have."""
    kind = protocols.get(protocol)
    low, high = kind.scale(options)
    values = [float(value) for value in range(int(low), int(high) + 1)]
    return {dimension.name: values for dimension in kind.dimensions(options)}


def _new_batch(study: Study, name: str, protocol: str, options: dict[str, Any], results: list[Result]) -> Batch:
    """A closed batch with a task for everything the file speaks of, as large as the file has answers for it."""
    low, high = protocols.get(protocol).scale(options)
    batch = Batch.objects.create(
        study=study,
        name=name,
        protocol=protocol,
        crowd=Worker.IMPORTED,
        state=Batch.State.CLOSED,
        options=options,
        scale_min=low,
        scale_max=high,
    )
    sizes = Counter(result.task_key for result in results if not result.rejected)
    quotas = {key: 0 for result in results if (key := result.task_key)} | sizes
    Task.objects.bulk_create(
        Task(batch=batch, document_id=document, summary_id=summary, part=part, quota=max(1, quota))
        for (document, summary, part), quota in quotas.items()
    )
    return batch


def _store(batch: Batch, results: list[Result]) -> Imported:
    tasks = {(task.document_id, task.summary_id, task.part): task for task in batch.tasks.select_for_update()}
    keys = _keys(batch, results)
    known_keys = set(Assignment.objects.filter(task__batch=batch, key__in=keys).values_list("key", flat=True))
    new_rows = [(result, key) for result, key in zip(results, keys, strict=True) if key not in known_keys]
    _check_tasks(batch, tasks, new_rows)
    workers = _workers(batch.study, new_rows)
    free = {key: task.quota - task.live for key, task in tasks.items()}
    assignments = []
    for result, key in new_rows:
        has_place = not result.rejected and free[result.task_key] > 0
        free[result.task_key] -= has_place
        worker = workers[result.worker or key]
        assignments.append(_assignment(batch, tasks[result.task_key], worker, key, result, has_place))
    try:
        Assignment.objects.bulk_create(assignments, batch_size=2000)
    except IntegrityError:
        raise Refused(
            _("A worker in the file has answered one of these tasks before, in other words. Nothing was imported.")
        ) from None
    rows = [
        _judgment(batch, assignment, result, answer)
        for assignment, (result, _key) in zip(assignments, new_rows, strict=True)
        for answer in result.answers
    ]
    Judgment.objects.bulk_create(rows, batch_size=2000)
    n_rejected = sum(result.rejected for result, _key in new_rows)
    n_counted = sum(assignment.state == State.SUBMITTED for assignment in assignments)
    return Imported(
        batch=batch,
        rows=len(results),
        known=len(results) - len(new_rows),
        counted=n_counted,
        surplus=len(assignments) - n_counted - n_rejected,
        rejected=n_rejected,
        judgments=len(rows),
        workers=len({result.worker for result in results if result.worker}),
        wrong_fillers=sum(result.wrong_fillers for result in results),
    )


def _check_tasks(batch: Batch, tasks: dict[Any, Task], new_rows: list[tuple[Result, str]]) -> None:
    without_task = [result for result, _key in new_rows if result.task_key not in tasks]
    if without_task:
        document = Document.objects.get(pk=without_task[0].document_id)
        raise Refused(
            _("Row %(row)d is about document “%(doc)s”, for which “%(batch)s” has no such task. Nothing was imported.")
            % {"row": without_task[0].row, "doc": document, "batch": batch}
        )


def _keys(batch: Batch, results: list[Result]) -> list[str]:
    """What a row is known by: its AssignmentId, or its content (equal rows are counted: two workers may agree)."""
    counts: Counter[str] = Counter()
    keys = []
    for result in results:
        content = result.assignment or repr((result.task_key, result.worker, result.answers, result.submitted_at))
        counts[content] += 1
        digest = hashlib.blake2b(f"{batch.study.salt}:{batch.pk}:{content}:{counts[content]}".encode(), digest_size=12)
        keys.append(f"csv-{digest.hexdigest()}")
    return keys


def _workers(study: Study, new_rows: list[tuple[Result, str]]) -> dict[str, int]:
    """Worker rows by WorkerId, or by the row's key where the file names nobody."""
    crowds = {result.worker or key: CROWD if result.worker else Worker.IMPORTED for result, key in new_rows}
    new_workers = (
        Worker(study=study, crowd=crowd, external_id=name, pseudonym=study.pseudonym(crowd, name))
        for name, crowd in crowds.items()
    )
    Worker.objects.bulk_create(new_workers, batch_size=2000, ignore_conflicts=True)
    rows = Worker.objects.filter(study=study, crowd__in=[CROWD, Worker.IMPORTED])
    return {name: pk for name, crowd, pk in rows.values_list("external_id", "crowd", "pk") if crowds.get(name) == crowd}


def _assignment(batch: Batch, task: Task, worker: int, key: str, result: Result, has_place: bool) -> Assignment:
    task.batch = batch
    return Assignment(
        task=task,
        worker_id=worker,
        key=key,
        state=State.SUBMITTED if has_place else State.SURPLUS,
        leased_at=result.accepted_at,
        submitted_at=result.submitted_at,
        seed=draw_seed(task, batch, DRAWN),
    )


def _judgment(batch: Batch, assignment: Assignment, result: Result, answer: Any) -> Judgment:
    return Judgment(
        assignment=assignment,
        summary_id=answer.summary_id,
        unit=answer.unit,
        value=answer.value,
        scale_min=batch.scale_min,
        scale_max=batch.scale_max,
        is_check=answer.is_check,
        position=answer.position,
        submitted_at=result.submitted_at,
    )
