"""The one clock. Tests set it with `clock.fixed(moment)`."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime

from django.utils import timezone

_fixed: ContextVar[datetime | None] = ContextVar("fixed", default=None)


def now() -> datetime:
    return _fixed.get() or timezone.now()


@contextmanager
def fixed(moment: datetime) -> Iterator[None]:
    """Inside this block it is `moment`."""
    token = _fixed.set(moment)
    try:
        yield
    finally:
        _fixed.reset(token)
