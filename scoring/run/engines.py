"""Where work is done: in this process, in a pool of processes, or wherever else an engine is registered.

An engine takes a stream of batches and gives the results in the same order, so that outputs don't depend on it.
"""

from __future__ import annotations

import gc
import importlib.util
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import Protocol

from scoring.errors import NotReady, ScoringError
from scoring.models import threads
from scoring.run.plan import Piece, Results, Step, compute_batch

Batch = Sequence[Piece]

ENGINES = ("local", "ray")


class Engine(Protocol):
    """Runs batches of pieces and gives their results in order."""

    def run(self, batches: Iterable[Batch]) -> Iterator[Results]: ...


class InProcess:
    """One batch after the other, here."""

    def __init__(self, plan: Sequence[Step]) -> None:
        self._plan = plan

    def run(self, batches: Iterable[Batch]) -> Iterator[Results]:
        for batch in batches:
            yield compute_here(self._plan, batch)


class Pool:
    """A pool of processes; each loads word lists and models once."""

    def __init__(self, plan: Sequence[Step], jobs: int) -> None:
        self._plan = plan
        self._jobs = jobs

    def run(self, batches: Iterable[Batch]) -> Iterator[Results]:
        # A fork server, because a fork of a process with threads (a web worker, torch) may hang.
        context = get_context("forkserver")
        initargs = (tuple(self._plan), threads.share(self._jobs))
        pool = ProcessPoolExecutor(self._jobs, context, initializer=_take_plan, initargs=initargs)
        pending: deque[Future[Results] | Results] = deque()
        earlier_processes = set(active_children())
        try:
            for batch in batches:
                has_work = any(piece.missing for piece in batch)
                pending.append(pool.submit(_compute_batch, batch) if has_work else [[] for _ in batch])
                # A bounded window keeps memory flat: a fast reader waits for slow workers.
                while len(pending) > 2 * self._jobs + 1:
                    yield _result(pending.popleft())
            while pending:
                yield _result(pending.popleft())
        except BrokenProcessPool as error:
            raise ScoringError(
                "A scoring process ended before its work was done (out of memory?); run again with fewer jobs, "
                "and with a cache what was scored is not lost."
            ) from error
        except BaseException:
            # Nobody waits for these results any more: Ctrl-C must not last as long as a batch.
            for process in set(active_children()) - earlier_processes:
                process.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def check_engine(name: str, jobs: int) -> None:
    """Refuse an engine that can't run, before any work begins."""
    if name not in ENGINES:
        raise ScoringError(f"Unknown engine {name!r}; there are {', '.join(ENGINES)}.")
    if jobs < 1:
        raise ScoringError(f"The number of jobs is {jobs}; give 1 or more.")
    if name == "ray" and importlib.util.find_spec("ray") is None:
        raise NotReady("The engine ray is not installed; pip install -r requirements-cluster.txt brings it.")


def open_engine(name: str, plan: Sequence[Step], jobs: int) -> Engine:
    """The engine of that name."""
    check_engine(name, jobs)
    if name == "ray":
        from scoring.run.ray_engine import Cluster

        return Cluster(plan, jobs)
    return InProcess(plan) if jobs == 1 else Pool(plan, jobs)


_plan: tuple[Step, ...] = ()


def _take_plan(plan: tuple[Step, ...], cores: int) -> None:
    global _plan
    threads.use(cores)
    # Ctrl-C reaches every process of a terminal; the one that waits for the others answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _plan = plan


def _compute_batch(batch: Batch) -> Results:
    return compute_here(_plan, batch)


def compute_here(plan: Sequence[Step], batch: Batch) -> Results:
    """The results of a batch, in this process."""
    with _collector_at_rest():
        return compute_batch(plan, batch)


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Millions of small tuples come and go in a batch, none of them in a cycle: looking for cycles costs a tenth."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _result(item: Future[Results] | Results) -> Results:
    return item.result() if isinstance(item, Future) else item
