"""Databases of every landed state, filled and brought up to date; a process of its own, with its own settings.

`python -m tests.annotation.models.upgraded_databases FOLDER` prints a line of JSON for each state of the site;
tests/marketplace/upgraded_databases.py does it for the marketplace.
"""

import json
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import django
from django.core.management import call_command
from django.db import connection, models
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

APP = "annotation"

# What makes the rows of the first version's tables fit together; any other field gets some value of its type.
FITTING: dict[str, dict[str, Any]] = {
    "Document": {"doc_id": "d1", "source": "A source text."},
    "Summary": {"text": "A summary."},
    "ContentUnit": {"scu_id": "u1", "text": "A fact."},
    "Batch": {"name": "pilot", "protocol": "litepyramid", "state": "closed"},
    "Task": {"quota": 1},
    "Assignment": {"state": "submitted", "key": "a1"},
    "Judgment": {"unit": "u1", "value": 1.0, "scale_min": 0, "scale_max": 1},
    "Membership": {"role": "admin"},
    "FilterDecision": {"rules": ["majority-dissent"], "undone_at": timezone.now()},
    "Score": {"metric": "m/1", "value": 0.5},
    "Job": {"kind": "page", "state": "done"},
    "Posting": {"places": 1},
}


class Filler:
    """One row in every table of an earlier state, made of values that fit the fields."""

    def __init__(self, apps: Any, app: str, fitting: dict[str, dict[str, Any]]) -> None:
        self.rows: dict[str, Any] = {}
        self.fitting = fitting
        for model in apps.get_app_config(app).get_models():
            self.row(model)

    def row(self, model: type[models.Model]) -> Any:
        name = model.__name__
        if name not in self.rows:
            fields = [field for field in model._meta.concrete_fields if not field.primary_key or field.remote_field]
            values = {field.name: self._value(field) for field in fields if self._is_needed(field)}
            fitting = {key: value for key, value in self.fitting.get(name, {}).items() if _has(model, key)}
            self.rows[name] = model._default_manager.create(**{**values, **fitting})
        return self.rows[name]

    def _is_needed(self, field: Any) -> bool:
        if field.remote_field and field.null:
            return field.related_model.__name__ in self.rows or field.name in ("summary", "document")
        return not field.null and (not field.has_default() or field.name == "slug")

    def _value(self, field: Any) -> Any:
        if field.remote_field:
            return self.row(field.related_model)
        if field.choices:
            return field.choices[0][0]
        kinds = {
            models.DateTimeField: timezone.now(),
            models.JSONField: {},
            models.FloatField: 1.0,
            models.BooleanField: False,
        }
        some = next((value for kind, value in kinds.items() if isinstance(field, kind)), None)
        if some is not None:
            return some
        return 1 if isinstance(field, models.IntegerField) else f"{field.name}1"[: field.max_length or 20]


def _has(model: type[models.Model], name: str) -> bool:
    return any(field.name == name for field in model._meta.concrete_fields)


def contents(database: Any, columns: dict[str, list[str]]) -> dict[str, list[tuple[Any, ...]]]:
    quote = database.ops.quote_name
    with database.cursor() as cursor:
        rows = {}
        for table, names in columns.items():
            cursor.execute(f"SELECT {', '.join(map(quote, names))} FROM {quote(table)} ORDER BY 1")
            rows[table] = cursor.fetchall()
    return rows


def columns_of(database: Any, app: str) -> dict[str, list[str]]:
    with database.cursor() as cursor:
        tables = [name for name in database.introspection.table_names(cursor) if name.startswith(f"{app}_")]
        return {
            table: [column.name for column in database.introspection.get_table_description(cursor, table)]
            for table in tables
        }


def upgrade(apps: Any, app: str, fitting: dict[str, dict[str, Any]]) -> None:
    """Raises where a row of the earlier state is lost or changed."""
    Filler(apps, app, fitting)
    old_columns = columns_of(connection, app)
    before = contents(connection, old_columns)
    call_command("migrate", verbosity=0)
    new_columns = columns_of(connection, app)
    lost = [f"{table}.{name}" for table in old_columns for name in old_columns[table] if name not in new_columns[table]]
    assert not lost, f"columns went away: {lost}"
    assert contents(connection, old_columns) == before, "rows changed"


def check_rule(statement: str) -> None:
    """The database's own rules are in force again."""
    from django.db import DatabaseError, transaction

    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    except DatabaseError:
        return
    raise AssertionError(f"the database let it happen: {statement}")


def _read_as_today(with_pages: bool) -> None:
    """The site on the upgraded database."""
    from django.test import Client

    from annotation.models import Study, User
    from annotation.tables.trusted import trusted_judgments

    study = Study.objects.get()
    assert study.batch_rule == "latest"
    assert trusted_judgments(study).judgments["value"].tolist() == [1.0]
    if not with_pages:
        return
    User.objects.update(is_active=True, is_superuser=True)
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(User.objects.get())
    for page in ("", "quality/", "report/", "explorer/", "metrics/", "exports/"):
        status = client.get(f"/studies/{study.slug}/{page}").status_code
        assert status == 200, f"{page}: {status}"


def main(folder: Path) -> None:
    django.setup()
    from annotation.apps import _after_migrate
    from annotation.models.triggers import drop_triggers

    def look(apps: Any, is_edge: bool) -> None:
        upgrade(apps, APP, FITTING)
        check_rule("UPDATE annotation_judgment SET value = 0")
        _read_as_today(with_pages=is_edge)  # charts take their time

    every_state(folder, APP, drop_triggers, _after_migrate, look)


def every_state(
    folder: Path,
    app: str,
    drop_rules: Callable[[], None],
    make_rules: Callable[..., None],
    look: Callable[[Any, bool], None],
) -> None:
    """Makes a database of each state, and prints what is wrong when it is looked at. The first and the last but one
    are edges."""
    databases = Databases(folder)
    with databases.chain():
        executor = MigrationExecutor(connection)
        states = sorted(name for label, name in executor.loader.disk_migrations if label == app)
        executor.migrate(_others(executor, app))
    for state in states:
        with databases.chain():
            drop_rules()
            executor = MigrationExecutor(connection)
            executor.migrate([(app, state)])
            make_rules(using="default")  # the triggers that an earlier version had
            apps = executor.loader.project_state([(app, state)]).apps
        with databases.copy(state):
            try:
                look(apps, state in (states[0], states[-2]))
                problem = ""
            except Exception:
                problem = traceback.format_exc()
        print(json.dumps({"state": state, "problem": problem}), flush=True)
    databases.remove()


def _others(executor: MigrationExecutor, app: str) -> list[tuple[str, str]]:
    """The last states of apps that need nothing of this one."""
    graph = executor.loader.graph
    return [node for node in graph.leaf_nodes() if all(label != app for label, _name in graph.forwards_plan(node))]


class Databases:
    """One database goes from state to state without rows; each state gets a copy of it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.base = folder, str(connection.settings_dict["NAME"])
        if connection.vendor != "sqlite":
            self._run(f'DROP DATABASE IF EXISTS "{self.base}_chain"', f'CREATE DATABASE "{self.base}_chain"')

    def chain(self) -> AbstractContextManager[None]:
        is_sqlite = connection.vendor == "sqlite"
        return self._use(str(self.folder / "chain.sqlite3") if is_sqlite else f"{self.base}_chain")

    def copy(self, state: str) -> AbstractContextManager[None]:
        if connection.vendor == "sqlite":
            target = self.folder / f"{state}.sqlite3"
            shutil.copy(self.folder / "chain.sqlite3", target)
            return self._use(str(target))
        name = f"{self.base}_earlier"
        self._run(f'DROP DATABASE IF EXISTS "{name}"', f'CREATE DATABASE "{name}" TEMPLATE "{self.base}_chain"')
        return self._use(name)

    def remove(self) -> None:
        if connection.vendor != "sqlite":
            self._run(*(f'DROP DATABASE IF EXISTS "{self.base}_{name}"' for name in ("chain", "earlier")))

    @contextmanager
    def _use(self, name: str) -> Iterator[None]:
        connection.close()
        connection.settings_dict["NAME"] = name
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict["NAME"] = self.base

    def _run(self, *statements: str) -> None:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
        connection.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
