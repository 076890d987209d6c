"""The one clock. Tests set it with `clock.fixed(moment)`; the whole process sees it, so a live server does too."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.utils import timezone

_fixed: list[datetime] = []


def now() -> datetime:
    return _fixed[-1] if _fixed else timezone.now()


@contextmanager
def fixed(moment: datetime) -> Iterator[None]:
    """Inside this block it is `moment`, in every thread."""
    _fixed.append(moment)
    try:
        yield
    finally:
        _fixed.pop()
