"""Looks at a deployment and says what to fix: `manage.py doctor`.

Each check is a function among Django's system checks, under the tag "doctor". They are registered when the doctor comes
and not at every start, because they ask the database, the disks and the market.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from django.apps import apps
from django.core.checks import Error, register, run_checks
from django.db import DatabaseError

Problems = Iterator[Error]
Check = Callable[[], Problems]
TAG = "doctor"
NAMES: list[str] = []
"""Of this product's checks, in the order they are written down: Django keeps none."""


def check(name: str, *, site_only: bool = False) -> Callable[[Check], Check]:
    """Register a function that yields what is wrong, with what to do as its hint. The first problem is enough."""

    def add(function: Check) -> Check:
        if not site_only or is_site():
            NAMES.append(name)
            register(_system_check(name, function), TAG, deploy=True)
        return function

    return add


def _system_check(name: str, function: Check) -> Callable[..., list[Error]]:
    def run_check(**_: Any) -> list[Error]:
        try:
            problems = list(islice(function(), 1))
        except DatabaseError as error:
            first = (str(error).splitlines() or [""])[0][:120]
            problems = [Error(f"The database did not answer this check ({first}).", "Mend the check “database” first.")]
        for problem in problems:
            problem.id = f"{TAG}.{name}"
        return problems

    return run_check


def examine() -> dict[str, str]:
    """What is wrong and what to do, by the name of the check; empty where all is well."""
    problems = run_checks(tags=[TAG], include_deployment_checks=True)
    sentences = {problem.id: f"{problem.msg} {problem.hint}" for problem in problems}
    return {name: sentences.get(f"{TAG}.{name}", "") for name in NAMES}


def is_site() -> bool:
    return apps.is_installed("annotation")


def setting_name(name: str) -> str:
    """What this product calls a setting that both have."""
    return name if is_site() else f"MARKETPLACE_{name}"


def manage(command: str) -> str:
    """How this product's command is typed."""
    if is_site():
        return f"manage.py {command}"
    return f"python -m django {command} --settings deploy.marketplace_settings"


from . import configuration, database, files, markets  # noqa: E402, F401  registers them, in this order
