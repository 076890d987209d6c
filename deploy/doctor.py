"""Looks at a deployment and says what to fix: `manage.py doctor`. Each check is one function in doctor_checks.py."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.apps import apps
from django.db import DatabaseError

Check = Callable[[], "str | None"]
CHECKS: dict[str, Check] = {}
SITE_ONLY: set[str] = set()


@dataclass(frozen=True)
class Finding:
    """The outcome of one check."""

    name: str
    problem: str
    """What is wrong and what to do; empty when all is well."""

    @property
    def ok(self) -> bool:
        return not self.problem


def check(name: str, *, site_only: bool = False) -> Callable[[Check], Check]:
    """Register a function that returns what is wrong and what to do, or None."""

    def register(function: Check) -> Check:
        CHECKS[name] = function
        if site_only:
            SITE_ONLY.add(name)
        return function

    return register


def examine(names: Iterable[str] = ()) -> list[Finding]:
    """Every check of this product, or those named, in the order they are written down."""
    from . import doctor_checks  # noqa: F401  registers them

    ours = [name for name in CHECKS if name not in SITE_ONLY or apps.is_installed("annotation")]
    return [Finding(name, _problem(CHECKS[name])) for name in names or ours]


def _problem(function: Check) -> str:
    try:
        return function() or ""
    except DatabaseError as error:
        first = (str(error).splitlines() or [""])[0][:120]
        return f"The database did not answer this check ({first}). Mend the check “database” first."
