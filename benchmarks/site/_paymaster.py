"""Money in the storm, each part in a process of its own: `launch`, `pay` (for ever, until killed), `empty`, `close`.

Two batches of forms over the same summaries stand on the marketplace, and the same crowd hands in to both. Among them
somebody hands in nothing. The paymaster collects, approves, pays a bonus for each, rejects what is empty, tops up the
one batch and closes the other, again and again. It is killed at random; `close` settles and compares the
ledger with the market's books.
"""

from __future__ import annotations

import json
import random
import sys
import time
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import DatabaseError, close_old_connections  # noqa: E402

from annotation.common.errors import Refused  # noqa: E402
from annotation.crowds.base import MarketUnreachable  # noqa: E402
from annotation.crowds.collect import collect  # noqa: E402
from annotation.crowds.launch.close import close as close_batch  # noqa: E402
from annotation.crowds.launch.close import standing_after_close, top_up  # noqa: E402
from annotation.crowds.launch.publish import publish, set_terms  # noqa: E402
from annotation.crowds.pay.approve import approve, bonus, reject  # noqa: E402
from annotation.crowds.pay.work_done import whole_and_other, work_done  # noqa: E402
from annotation.crowds.settle import settle  # noqa: E402
from annotation.crowds.terms import Terms  # noqa: E402
from annotation.models import Batch, Entry, Judgment, Study, Submission  # noqa: E402
from annotation.rehearsal.browser import Browser  # noqa: E402
from annotation.rehearsal.characters import CHARACTERS, Person  # noqa: E402
from annotation.rehearsal.ledger_check import ledger_sums, statement_sums  # noqa: E402
from annotation.rehearsal.truth import Truth  # noqa: E402
from annotation.rehearsal.worker import MarketWorker  # noqa: E402
from annotation.studies.batches import create_batch  # noqa: E402

MAIN, PILOT = "Paid forms", "Paid pilot"
TASKS = {MAIN: 80, PILOT: 40}
REWARD, CENTS, REASON, EMPTY = 12, 3, "For careful work", "There was no answer in it."
TOP_UPS, EMPTY_HANDED = 20, 4
ENOUGH = 8  # approved answers after which the pilot is closed


def launch() -> dict[str, int]:
    study = Study.objects.get(name="Storm")
    postings = 0
    for name, tasks in TASKS.items():
        batch = create_batch(study, name, "litepyramid", 1, crowd="mturk")
        batch.tasks.exclude(pk__in=list(batch.tasks.values_list("pk", flat=True)[:tasks])).delete()
        terms = {"reward_cents": REWARD, "title": name, "description": "Forms.", "question": "html", "minutes": 1}
        set_terms(batch, Terms.parse({**terms, "duration_seconds": 60}))
        postings += publish(batch).postings
    return {"postings": postings}


def waiting(batch: Batch) -> list[Submission]:
    return list(Submission.objects.filter(posting__batch=batch, state="submitted").select_related("posting__batch"))


def approved(batch: Batch) -> list[Submission]:
    return list(Submission.objects.filter(posting__batch=batch, state="approved").select_related("posting__batch"))


def pay() -> None:
    draw = random.Random()
    while True:
        try:
            for batch in Batch.objects.filter(name__in=TASKS):
                if batch.state != Batch.State.CLOSED:
                    _pay(batch)
            _top_up(draw)
            _close_the_pilot()
        except (Refused, MarketUnreachable, DatabaseError):
            time.sleep(0.3)
        close_old_connections()


def _pay(batch: Batch) -> None:
    collect(batch)
    approve(waiting(batch)[:5], None)  # those without answers are left out
    if empty := whole_and_other(waiting(batch))[1]:
        reject(empty[:1], EMPTY, None)
    for submission in [row for row in approved(batch) if not row.entries.filter(kind="bonus").exists()][:3]:
        bonus(submission, CENTS, REASON, None)


def _top_up(draw: random.Random) -> None:
    batch = Batch.objects.get(name=MAIN)
    if batch.entries.filter(kind="extend").count() < TOP_UPS:
        task = draw.choice(list(batch.tasks.values_list("pk", flat=True)))
        top_up(batch, [task], 1, None)


def _close_the_pilot() -> None:
    batch = Batch.objects.get(name=PILOT)
    if batch.state != Batch.State.CLOSED and len(approved(batch)) >= ENOUGH:
        close_batch(batch)  # ClosesLater while somebody works or something waits: the next round comes
    if batch.state == Batch.State.CLOSED:
        with suppress(Refused):
            top_up(batch, None, 1, None)
            raise AssertionError("a closed batch was topped up")


def empty() -> None:
    """Somebody who takes tasks of both batches and hands in nothing."""
    person = Person("storm-empty", CHARACTERS["careful"], 0)
    worker = MarketWorker(person, settings.MTURK_ENDPOINT_URL, Truth(0))
    worker.enlist()
    for title in TASKS:
        for _turn in range(EMPTY_HANDED):
            if (page := worker.take(title)) is None:
                break
            query = {name: values[0] for name, values in parse_qs(urlsplit(page.frames[0]).query).items()}
            target = query["turkSubmitTo"].rstrip("/") + "/mturk/externalSubmit"
            fields = {"assignmentId": query["assignmentId"], "note": "nothing"}
            Browser(cookies=False).post(target, fields, referer=page.frames[0])


def close() -> dict[str, object]:
    study = Study.objects.get(name="Storm")
    batches = list(study.batches.filter(name__in=TASKS))
    closed_before = sum(batch.state == Batch.State.CLOSED for batch in batches)
    for _ in range(3):
        settle(study)
        for batch in batches:
            _judge_all(batch)
    for batch in batches:
        batch.refresh_from_db()
        _close_patiently(batch)
    settled = settle(study)
    everything = [submission for batch in batches for submission in approved(batch)]
    work = work_done(everything)
    answered = set(
        Judgment.objects.filter(assignment__task__batch__in=batches).values_list("assignment__submission", flat=True)
    )
    return {
        "approved": len(everything),
        "bonuses": Entry.objects.filter(batch__in=batches, kind="bonus", state="settled").count(),
        "empty": Submission.objects.filter(posting__batch__in=batches, state="rejected").count(),
        "paid for nothing": sum(not work[row.pk].is_whole or row.pk not in answered for row in everything),
        "closed before": closed_before,
        "topped up": Entry.objects.filter(batch__in=batches, kind="extend", state="settled").count(),
        "in both batches": _in_both(batches),
        "states": sorted(batch.state for batch in study.batches.filter(name__in=TASKS)),
        "standing": standing_after_close(study.batches.all()).count(),
        "differences": settled.differences + settled.unreachable,
        "unsettled": Entry.objects.filter(batch__in=batches, state__in=["planned", "doubtful"]).count(),
        "books": [_books(batch) for batch in batches],
    }


def _judge_all(batch: Batch) -> None:
    whole, other = whole_and_other(waiting(batch))
    approve(whole, None)
    if other:
        reject(other, EMPTY, None)
    for submission in approved(batch):
        if not submission.entries.filter(kind="bonus", state="settled").exists():
            bonus(submission, CENTS, REASON, None)


def _close_patiently(batch: Batch, seconds: float = 100) -> None:
    """Whoever holds a place has a minute; then it closes."""
    end = time.monotonic() + seconds
    while batch.state != Batch.State.CLOSED and time.monotonic() < end:
        try:
            close_batch(batch)
        except Refused:
            _judge_all(batch)
            time.sleep(5)
        batch.refresh_from_db()


def _in_both(batches: list[Batch]) -> int:
    workers = [
        set(Submission.objects.filter(posting__batch=batch).values_list("worker", flat=True)) for batch in batches
    ]
    return len(workers[0] & workers[1])


def _books(batch: Batch) -> dict[str, list[int]]:
    ledger, n = ledger_sums(batch), len(approved(batch))
    statement = statement_sums(batch, settings.MTURK_ENDPOINT_URL)
    assert statement is not None, "the market's statement can't be read"
    return {
        "ledger": [ledger.rewards, ledger.bonuses, ledger.fees, ledger.held],
        "market": [statement.rewards, statement.bonuses, statement.fees, statement.held],
        "expected": [n * REWARD, n * CENTS],
    }


PARTS = {"launch": launch, "pay": pay, "empty": empty, "close": close}

if __name__ == "__main__":
    print(json.dumps(PARTS[sys.argv[1]]()))
