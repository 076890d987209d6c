"""Killing a process in the middle of its work, and comparing the ledger with the market's books afterwards."""

import os
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any

from django.db import connections
from django.db.models import Sum

from annotation.crowds.markets import mturk
from annotation.judging.html_form import form_twin
from annotation.models import Batch, Entry, Task
from annotation.protocols import of as protocol_of


def killed_at(point: str, work: Callable[[], Any]) -> None:
    """Do the work in a process that is killed with -9 at a named point (annotation/crowds/ledger/crash_points.py)."""
    connections.close_all()  # a connection must not be shared with the child
    pid = os.fork()
    if pid == 0:
        try:
            os.environ["FAULT_POINT"] = point
            mturk._client_for.cache_clear()  # nor a socket
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(3)
        os._exit(0)
    status = _end_of(pid)
    died = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert died, f"nobody was killed at {point}: exit status {status}"


def _end_of(pid: int, patience: float = 120) -> int:
    """The exit status; a child that hangs is ended, and the test fails."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.01)
    os.kill(pid, signal.SIGTERM)
    return os.waitpid(pid, 0)[1]


def form_answers(task: Task, value: str = "1") -> dict[str, str]:
    """A form of this task with the same answer everywhere."""
    return {item.field: value for item in protocol_of(task.batch).items(form_twin(task))}


def money_of(batch: Batch) -> tuple[int, int]:
    """What the ledger says is promised and paid."""
    entries = batch.entries.exclude(state=Entry.State.FAILED)
    sums = entries.aggregate(promised=Sum("promised_cents"), paid=Sum("paid_cents"))
    return sums["promised"] or 0, sums["paid"] or 0


def check_books(batch: Batch, books: dict[str, Any], point: str = "") -> None:
    """Nothing is open, nothing stands twice, and every cent is where the market has it. One batch per requester."""
    assert not batch.entries.filter(state__in=["planned", "doubtful"]).exists(), f"{point}: lines are still open"
    tokens = [token for token, *_rest in books["hits"]]
    assert sorted(tokens) == sorted(batch.postings.values_list("token", flat=True)), f"{point}: HITs doubled or missed"
    assert money_of(batch) == (books["held"], books["paid"] + books["fees"]), f"{point}: the books differ"
    batch.study.refresh_from_db()
    assert batch.study.committed_cents == sum(money_of(batch)), point
