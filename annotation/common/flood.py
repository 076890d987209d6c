"""Whoever is refused again and again is refused early, and guesses of passwords never fill the house: both products.

Refusals are counted in memory, for each process by itself: by the session of somebody who is signed in, otherwise by
the address. A count drains with time, so that a page left open that asks in vain now and then never reaches the limit.
Who brings a session or a signature of their own is served whatever a neighbour at the same address does. A password is
looked at by a thread of low priority, and few may wait for it at a time.
"""

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, wraps
from importlib import import_module
from threading import BoundedSemaphore, Lock
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext, gettext_noop

from annotation.common.middleware import NextStep
from annotation.common.throttle import address_of

REFUSALS = frozenset((400, 401, 403, 404, 405, 413, 414, 415, 429))
"""What strangers get. That a task is over (409) or incomplete (422) is said to people at work."""
MOST, DRAINED_A_SECOND = 30, 0.5
LONGEST_WAIT = 60  # seconds, until somebody who has gone on all the time is heard again
OWN_ADDRESSES = ("", "127.0.0.1", "::1")
"""This machine's own say nothing of who asks: probes, and a proxy that BEHIND_PROXY doesn't tell of."""
MOST_KEYS = 20_000
DOUBTFUL = 10  # who has been refused so often lately waits for no turn
GUESSES = BoundedSemaphore(2)  # of a process's four threads two are left for work
PATIENCE = 0.5  # seconds: whoever waits for a turn takes a thread as well
LOW_PRIORITY, SOON = 10, 5
TOO_MANY = gettext_noop("Too many requests from here were refused. Nothing was changed; try again in some minutes.")
BUSY = gettext_noop("Many people are signing in just now. Nothing was changed; try again in some seconds.")


class Refusals:
    """How often each key was refused lately."""

    def __init__(self) -> None:
        self._levels: dict[str, tuple[float, float]] = {}
        self._lock = Lock()

    def level(self, key: str) -> float:
        level, at = self._levels.get(key, (0.0, 0.0))
        return max(0.0, level - (time.monotonic() - at) * DRAINED_A_SECOND) if level else 0.0

    def add(self, key: str) -> None:
        with self._lock:
            if len(self._levels) >= MOST_KEYS and key not in self._levels:
                self._drop_drained()
            level = min(self.level(key) + 1, MOST + LONGEST_WAIT * DRAINED_A_SECOND)
            self._levels[key] = (level, time.monotonic())

    def _drop_drained(self) -> None:
        """The emptier half goes: a flood of addresses fills no memory."""
        by_level = sorted(self._levels, key=self.level, reverse=True)
        self._levels = {key: self._levels[key] for key in by_level[: MOST_KEYS // 2]}


class RefuseEarly:
    """Middleware: 429 at once for who was refused too often; a request that names who asks is looked at anyway."""

    def __init__(self, get_response: NextStep) -> None:
        self.get_response, self.refusals = get_response, Refusals()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        address = address_of(request)
        if address in OWN_ADDRESSES:
            return self.get_response(request)
        session = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
        if (key := self._closed_key(request, address, session)) is not None:
            self.refusals.add(key)
            return _later(gettext(TOO_MANY), LONGEST_WAIT)
        request.is_doubtful = self.refusals.level(address) > DOUBTFUL  # type: ignore[attr-defined]
        response = self.get_response(request)
        if response.status_code in REFUSALS and (key := _key(request, address, session)):
            self.refusals.add(key)
        return response

    def _closed_key(self, request: HttpRequest, address: str, session: str) -> str | None:
        if session and self.refusals.level(session) >= MOST:
            return session
        if self.refusals.level(address) < MOST or "Authorization" in request.headers or _is_signed_in(session):
            return None
        return address


def _key(request: HttpRequest, address: str, session: str) -> str:
    """Under what a refusal counts; empty for programs with a key or a token: one knows whose they are."""
    user = getattr(request, "user", None)
    if getattr(request, "is_signed", False):
        return ""
    if user is None or not user.is_authenticated:
        return address
    return session


def _is_signed_in(session: str) -> bool:
    return bool(session) and SESSION_KEY in import_module(settings.SESSION_ENGINE).SessionStore(session)


def takes_turns(view: Callable[..., Any]) -> Callable[..., Any]:
    """What is sent to this view needs a look at a password: few at a time, and who is doubtful waits for nobody."""

    @wraps(view)
    def view_in_turn(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if request.method != "POST":
            return view(request, *args, **kwargs)
        if not GUESSES.acquire(timeout=0 if getattr(request, "is_doubtful", False) else PATIENCE):
            return _later(gettext(BUSY), SOON)
        try:
            return view(request, *args, **kwargs)
        finally:
            GUESSES.release()

    return view_in_turn


def _later(sentence: str, seconds: int) -> HttpResponse:
    headers = {"Retry-After": str(seconds), "Cache-Control": "no-store"}
    return HttpResponse(sentence, status=429, content_type="text/plain; charset=utf-8", headers=headers)


class LowPriorityHasher(PBKDF2PasswordHasher):
    """Django's own, in a thread that yields to whoever works: a password takes a fifth of a second of a processor."""

    def encode(self, *args: Any, **kwargs: Any) -> str:
        return _hashing_thread().submit(super().encode, *args, **kwargs).result()


@cache
def _hashing_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "passwords", initializer=_yield_to_others)


def _yield_to_others() -> None:
    if sys.platform == "linux":  # there a thread has a priority of its own
        os.setpriority(os.PRIO_PROCESS, 0, LOW_PRIORITY)
