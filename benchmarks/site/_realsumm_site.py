"""REALSumm as a study whose batch stands on a market: its texts and answers imported, its money written in bulk.

Every worker has one assignment, as in the released files. Of the hand-ins most are approved, some wait, a few are
rejected; a filter is in force, and annotators have flagged items.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("REALSUMM", Path(__file__).resolve().parents[3] / "shared" / "data" / "realsumm"))
REWARD, FEE, PLACES = 20, 4, 4
FLAGGED, WAITING, REJECTED = 100, 10, 40
"""Every so many hand-ins one is flagged, waits for a verdict, or is rejected."""
TABLES = ("documents.jsonl.gz", "summaries.jsonl.gz", "scus.csv", "judgments.csv.gz", "scores.csv.gz")


def make_study(folder: Path, name: str, documents: int | None = None) -> Any:
    """The study, with an admin; of the first documents only where a number is given."""
    from django.db import connection, transaction

    from annotation.jobs.page_cache import make_pages
    from annotation.models import FilterDecision, Membership, Study, User
    from annotation.results.explorer.index import refresh
    from annotation.transfer.importing.study import import_study

    import_study(_tables(folder, documents), name)
    study = Study.objects.get(name=name)
    user = User.objects.create_user(f"admin-of-{study.slug}")
    Membership.objects.create(study=study, user=user, role="admin")
    with transaction.atomic():
        for batch in study.batches.all():
            _on_a_market(batch)
    FilterDecision.objects.create(study=study, rules=["majority-dissent"], decided_by=user)
    make_pages(study)
    refresh(study)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # as PostgreSQL does by itself within a minute
    return study


def _tables(folder: Path, documents: int | None) -> Path:
    """The folder to import: links to the files, or their rows of the first documents."""
    import pandas as pd

    if not DATA.is_dir():
        raise RuntimeError(
            f"This benchmark reads REALSumm's tables, and {DATA} is not there. REALSUMM names the folder."
        )
    folder.mkdir()
    if documents is None:
        for table in TABLES:
            (folder / table).symlink_to(DATA / table)
        return folder
    wanted: set[str] = set()
    for table in TABLES:
        is_json = ".jsonl" in table
        frame = pd.read_json(DATA / table, lines=True, dtype={"doc_id": str}) if is_json else _csv(DATA / table)
        wanted = wanted or set(frame["doc_id"].iloc[:documents])
        rows = frame[frame["doc_id"].isin(wanted)]
        if is_json:
            rows.to_json(folder / table, orient="records", lines=True)
        else:
            rows.to_csv(folder / table, index=False)
    return folder


def _csv(path: Path) -> Any:
    import pandas as pd

    return pd.read_csv(path, dtype=str)


def _on_a_market(batch: Any) -> None:
    """The batch as if its answers had come from a market: a HIT per task, a hand-in per assignment, and the ledger."""
    from django.utils import timezone

    from annotation.crowds.terms import Terms
    from annotation.models import Assignment, Entry, Posting, Submission, Worker

    now = timezone.now()
    batch.crowd, batch.state, batch.terms = "mturk", "open", Terms.parse({"preset": "realsumm"}).as_json()
    batch.save()
    Worker.objects.filter(study=batch.study).update(crowd="mturk")
    postings = Posting.objects.bulk_create(
        (
            Posting(
                batch=batch, task=task, token=f"{batch.pk}-{task.pk}", places=PLACES, reward_cents=REWARD,
                fee_cents=FEE, state="open", market_id=f"HIT{task.pk:010}", expires_at=now + timedelta(days=2),
            )
            for task in batch.tasks.order_by("pk")
        ),
        batch_size=1000,
    )  # fmt: skip
    by_task = {posting.task_id: posting for posting in postings}
    assignments = list(Assignment.objects.filter(task__batch=batch).order_by("pk"))
    submissions = Submission.objects.bulk_create(
        (
            Submission(
                posting=by_task[assignment.task_id], worker_id=assignment.worker_id, market_id=f"A{assignment.pk:010}",
                state=_verdict(number), saved_at=now, submitted_at=now, auto_approve_at=now + timedelta(days=3),
            )
            for number, assignment in enumerate(assignments)
        ),
        batch_size=1000,
    )  # fmt: skip
    for number, (assignment, submission) in enumerate(zip(assignments, submissions, strict=True)):
        assignment.submission, assignment.submitted_at = submission, now - timedelta(minutes=number % 1400)
        assignment.signals = {"loads": {"a": {"active": 60 + number % 90, "focus_lost": number % 7, "pastes": 0}}}
    Assignment.objects.bulk_update(assignments, ["submission", "submitted_at", "signals"], batch_size=500)
    Entry.objects.bulk_create(_entries(batch, postings, submissions), batch_size=1000)
    _flags(assignments)


def _verdict(number: int) -> str:
    return "submitted" if number % WAITING == 1 else "rejected" if number % REJECTED == 2 else "approved"


def _entries(batch: Any, postings: list[Any], submissions: list[Any]) -> Iterator[Any]:
    from annotation.models import Entry

    own = {"study": batch.study, "batch": batch, "state": "settled"}
    for posting in postings:
        promised = PLACES * (REWARD + FEE)
        yield Entry(
            **own, posting=posting, kind="post", token=f"p{posting.pk}", reward_cents=PLACES * REWARD,
            fee_cents=PLACES * FEE, promised_cents=promised,
        )  # fmt: skip
    for submission in submissions:
        if submission.state == "approved":
            yield Entry(
                **own, posting=submission.posting, submission=submission, kind="approve", token=f"a{submission.pk}",
                reward_cents=REWARD, fee_cents=FEE, promised_cents=-REWARD - FEE, paid_cents=REWARD + FEE,
            )  # fmt: skip


def _flags(assignments: list[Any]) -> None:
    from annotation.models import Flag, Judgment

    flagged = assignments[::FLAGGED]
    judgments = {row.assignment_id: row for row in Judgment.objects.filter(assignment__in=flagged, is_current=True)}
    Flag.objects.bulk_create(
        Flag(
            assignment_id=key, field=f"{row.summary_id}:{row.unit}", summary_id=row.summary_id, unit=row.unit,
            note="This statement can be read in two ways.", raised_at=row.assignment.submitted_at,
        )
        for key, row in judgments.items()
    )  # fmt: skip
