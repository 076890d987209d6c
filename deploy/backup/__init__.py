"""A copy of the database in one file, taken while people work, and its way back.

The file holds the database (SQLite's own online copy, or PostgreSQL's dump), a manifest and a signature of it. The
manifest has the number of rows and a digest of the content of every table of one moment. A restore is checked and
compared with it before anything is replaced. Keep SECRET_KEY apart: a backup holds no key, and opens no session.
"""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from django.apps import apps
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from . import postgres, sqlite
from .archive import file_digest, read_archive, write_archive
from .manifest import FORM, BackupError, Facts, Manifest, first_line


def make_backup(target: Path) -> Manifest:
    """Write a backup of the database to a new file; the file appears whole or not at all."""
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    with _in_words(f"{target} can't be written"):
        if target.exists():
            raise BackupError(f"{target} is there already. Nothing was written: choose another name.")
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            manifest = _write_backup(draft)
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    return manifest


def _write_backup(draft: Path) -> Manifest:
    with tempfile.TemporaryDirectory(dir=draft.parent) as folder:
        dump = Path(folder) / "database"
        tables = _engine().copy_out(dump)
        made_at = timezone.now().isoformat()
        manifest = Manifest(FORM, connection.vendor, made_at, tables, _migrations(), file_digest(dump), _product())
        write_archive(draft, manifest, dump)
    return manifest


def restore_backup(source: Path, *, replace: bool = False, unverified: bool = False) -> Manifest:
    """Put a backup into the database that the settings name. It is checked and compared before it replaces anything.

    `unverified` takes a backup that no key of ours has signed.
    """
    # Not beside the source: that may be a medium that can only be read.
    with _in_words("The backup can't be unpacked or put back"), tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "database"
        manifest = read_archive(source, dump, unverified=unverified)
        _refuse_what_does_not_fit(source, manifest, replace)
        connection.close()
        _engine().restore(dump, manifest)
    return manifest


def _engine() -> ModuleType:
    return sqlite if connection.vendor == "sqlite" else postgres


def _refuse_what_does_not_fit(source: Path, manifest: Manifest, replace: bool) -> None:
    if manifest.engine != connection.vendor:
        raise BackupError(
            f"{source} holds a {manifest.engine} database, but DATABASE_URL names {connection.vendor}. "
            "Nothing was changed: restore it to its own kind, or move studies with export_study and import_study."
        )
    if manifest.product not in ("", _product()):
        raise BackupError(
            f"{source} is a backup of the {manifest.product}, but these are the settings of the {_product()}. "
            "Nothing was changed: the marketplace's commands take --settings deploy.marketplace_settings."
        )
    if not replace and connection.introspection.table_names():
        raise BackupError(
            "The database is not empty. Nothing was changed: name an empty one, "
            "or say --replace to lose what is in this one."
        )


def _product() -> str:
    return "site" if apps.is_installed("annotation") else "marketplace"


@contextmanager
def _in_words(trouble: str) -> Iterator[None]:
    """A disk or a database that does not do its part is the operator's to mend: they get a sentence."""
    try:
        yield
    except (DatabaseError, sqlite3.Error) as error:
        raise BackupError(f"The database does not answer ({first_line(str(error))}). Nothing was changed.") from error
    except OSError as error:
        raise BackupError(f"{trouble} ({error.strerror or error}). Nothing was changed.") from error


def table_facts() -> Facts:
    """Every table of the database with its number of rows and a digest of its content, whatever their order."""
    facts: Facts = _engine().facts_of_live()
    return facts


def _migrations() -> list[str]:
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(f"{app}.{name}" for app, name in applied)


__all__ = ["BackupError", "Manifest", "make_backup", "restore_backup", "table_facts"]
