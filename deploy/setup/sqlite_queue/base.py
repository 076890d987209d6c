"""SQLite lets one writer in at a time, and those who wait look again and again: of a hundred, some never see it free
within their time, and are told "database is locked". Here writers queue instead: threads at a lock, processes at a
locked file beside the database. Whoever holds the turn then finds the database free.
"""

import fcntl
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base

WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")
LOOK_EVERY = 0.002
GATE, TURN = 0, 1  # bytes of the file that are locked


class Turns:
    """Who writes next to one database file: first come, first served."""

    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._guard = threading.Lock()
        self._is_taken = False
        self._waiting: deque[threading.Lock] = deque()

    def take(self, seconds: float) -> None:
        """Wait for the turn. Raises OperationalError when it doesn't come in time, as SQLite does."""
        end = time.monotonic() + seconds
        self._wait_for_threads(seconds)
        try:
            # Whoever waits for the turn holds the gate, so that the process that has it can't take it again at once.
            self._lock(GATE, end)
            try:
                self._lock(TURN, end)
            finally:
                self._unlock(GATE)
        except BaseException:
            self._next_thread()
            raise

    def give(self) -> None:
        self._unlock(TURN)
        self._next_thread()

    def _wait_for_threads(self, seconds: float) -> None:
        with self._guard:
            if not self._is_taken:
                self._is_taken = True
                return
            place = threading.Lock()
            place.acquire()
            self._waiting.append(place)
        if place.acquire(timeout=seconds):
            return
        with self._guard:
            if place in self._waiting:  # else it was called up this instant
                self._waiting.remove(place)
                raise OperationalError("database is locked")

    def _next_thread(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_taken = False

    def _lock(self, place: int, end: float) -> None:
        while True:
            try:
                fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
                return
            except BlockingIOError:
                if time.monotonic() > end:
                    raise OperationalError("database is locked") from None
                time.sleep(LOOK_EVERY)

    def _unlock(self, place: int) -> None:
        fcntl.lockf(self.file, fcntl.LOCK_UN, 1, place)


@cache
def _turns(path: str, process: int) -> Turns:
    """By process: after a fork, what threads of the parent wait for is none of the child's business."""
    return Turns(path)


class DatabaseWrapper(base.DatabaseWrapper):
    """Each transaction, and each write outside of one, takes its turn first."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._held: Turns | None = None
        self.execute_wrappers.append(self._write_in_turn)

    def _start_transaction_under_autocommit(self) -> None:
        self._take()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # the stubs lack it
        except BaseException:
            self._give()
            raise

    def _commit(self) -> None:
        with self._given_back():
            super()._commit()  # type: ignore[misc]

    def _rollback(self) -> None:
        with self._given_back():
            super()._rollback()  # type: ignore[misc]

    def _close(self) -> None:
        with self._given_back():
            super()._close()  # type: ignore[misc]

    def _write_in_turn(self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
        if self._held or self.in_atomic_block or not str(sql).lstrip()[:7].upper().startswith(WRITES):
            return execute(sql, params, many, context)
        self._take()
        with self._given_back():
            return execute(sql, params, many, context)

    def _take(self) -> None:
        if self._held is None and not self.is_in_memory_db():
            turns = _turns(f"{self.settings_dict['NAME']}-queue", os.getpid())
            turns.take(self.settings_dict["OPTIONS"].get("timeout", 5.0))
            self._held = turns

    def _give(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.give()

    @contextmanager
    def _given_back(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._give()
