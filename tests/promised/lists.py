"""The names that others rely on: routes, commands, tables, the API, columns, metrics.

`python -m tests.promised.lists site` (or `marketplace`) writes the list as it is now. A name that is gone from it
breaks somebody's script, bookmark or export, so the list changes only with a line in CHANGELOG.md.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SETTINGS = {"site": "tests.settings", "marketplace": "tests.marketplace_settings"}


def routes(patterns: Any = None, prefix: str = "") -> Iterator[str]:
    """Every address with its route name."""
    from django.urls import URLPattern, get_resolver

    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        address = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield f"{address} {pattern.name or '-'}"
        else:
            yield from routes(pattern.url_patterns, address)


def commands() -> list[str]:
    """Our own commands; one that only adds to Django's of the same name is Django's."""
    import django.core.management as management

    djangos = management.find_commands(management.__path__[0])
    our_apps = ("annotation", "deploy", "annotation.marketplace")
    return sorted(name for name, app in management.get_commands().items() if app in our_apps and name not in djangos)


def tables() -> dict[str, list[str]]:
    """Every table with its columns."""
    from django.apps import apps

    return {
        model._meta.db_table: sorted(field.column for field in model._meta.local_concrete_fields)
        for model in apps.get_models(include_auto_created=True)
    }


def labels() -> list[str]:
    from django.apps import apps

    return sorted(config.label for config in apps.get_app_configs())


def api() -> dict[str, Any]:
    """The OpenAPI document without its prose: operations with their parameters, schemas with their fields."""
    from annotation.api.urls import document

    return dict(_bare(json.loads(json.dumps(document()))))


def _bare(node: Any, within: str = "") -> Any:
    if isinstance(node, list):
        return [_bare(item) for item in node]
    if not isinstance(node, dict):
        return node
    prose = set() if within == "properties" else {"description", "title", "summary", "examples", "example"}
    return {key: _bare(value, key) for key, value in node.items() if key not in prose}


def columns() -> dict[str, list[str]]:
    """The columns of the five tables."""
    from analysis.tables import TABLES

    return {name: [*spec.required, *spec.optional] for name, spec in TABLES.items()}


def metrics() -> dict[str, str]:
    """Every metric with its signature, less the versions and the models of this machine."""
    from scoring import registry
    from scoring.errors import ScoringError

    signatures = {}
    for name in registry.known():
        try:
            signatures[name] = re.sub(r"\d+(\.\d+)+|#\w+", "N", registry.signature(name))
        except ScoringError as error:
            signatures[name] = f"undefined: {type(error).__name__}"
    return signatures


def groups() -> dict[str, list[str]]:
    from scoring import registry

    return {name: list(members) for name, members in sorted(registry.groups().items())}


SITE = {"api": api, "columns": columns, "metrics": metrics, "groups": groups}
BOTH = {"routes": lambda: sorted(routes()), "commands": commands, "tables": tables, "labels": labels}
LISTS: dict[str, dict[str, Callable[[], Any]]] = {"site": {**BOTH, **SITE}, "marketplace": BOTH}


def promised(side: str) -> dict[str, Any]:
    """The list as it was written down."""
    return dict(json.loads((HERE / f"{side}.json").read_text(encoding="utf-8")))


if __name__ == "__main__":
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = SETTINGS[sys.argv[1]]
    django.setup()
    lists = {name: function() for name, function in LISTS[sys.argv[1]].items()}
    text = json.dumps(lists, indent=0, ensure_ascii=False, sort_keys=True)
    (HERE / f"{sys.argv[1]}.json").write_text(text + "\n", encoding="utf-8")
