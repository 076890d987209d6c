"""How many threads a process may use: all cores in a run of one process, its share in a pool."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

_allowed: int | None = None
_single = False


def use(count: int | None) -> None:
    """Set this process's number of threads; None means every core it may run on."""
    global _allowed
    _allowed = count


def count() -> int:
    """The threads of this process."""
    return _allowed or len(os.sched_getaffinity(0))


def share(jobs: int) -> int:
    """What each of several processes on this machine gets."""
    return max(1, len(os.sched_getaffinity(0)) // jobs)


@contextmanager
def single_blas() -> Iterator[None]:
    """Matrix products in one thread: those of a pair are small, and bits must not depend on the number of cores."""
    global _single
    if _single:
        yield
        return
    _single = True
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _single = False


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
