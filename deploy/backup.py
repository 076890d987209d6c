"""A copy of the database in one file, taken while people work, and its way back.

The file is a tar with `manifest.json` and the database: SQLite's own online copy, or PostgreSQL's dump. Both see one
moment in time. The manifest has the number of rows and a digest of the content of every table of that moment, and a
restore is compared with it. Keep SECRET_KEY apart: a backup holds no key, and opens no session by itself.
"""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, cast

from django.apps import apps
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

FORM = 1
SQLITE = "sqlite"
_PLAIN = "SET TIME ZONE 'UTC'; SET extra_float_digits = 1; SET bytea_output = 'hex'; SET datestyle = 'ISO, YMD'"
# What an extension brought stays, and so do the schema, its owner and its grants.
_EMPTY = """
SET client_min_messages = warning;
DO $$
DECLARE commands text;
BEGIN
  SELECT string_agg(format('DROP %s IF EXISTS %s CASCADE;', one.type, one.identity), ' ' ORDER BY one.type <> 'table')
    INTO commands
    FROM pg_depend d CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) one
   WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = {schema}::regnamespace
     AND d.classid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass)
     AND NOT EXISTS (
         SELECT FROM pg_depend e WHERE e.classid = d.classid AND e.objid = d.objid AND e.deptype = 'e');
  IF commands IS NOT NULL THEN EXECUTE commands; END IF;
END $$;
"""
_DIGEST = "('x' || substr(md5(t::text), {start}, 15))::bit(60)::bigint::numeric"


class BackupError(Exception):
    """What went wrong, what was kept, what to do: one sentence."""


@dataclass(frozen=True)
class Manifest:
    """What a backup holds."""

    form: int
    engine: str
    made_at: str
    tables: dict[str, list[str]]
    """Table name to its number of rows and a digest of its content."""
    migrations: list[str]
    sha256: str
    """Of the database inside."""
    product: str = ""
    """`site` or `marketplace`; empty in backups from before this was written down."""

    @property
    def rows(self) -> int:
        return sum(int(count) for count, _ in self.tables.values())


def make_backup(target: Path) -> Manifest:
    """Write a backup of the database to a new file; the file appears whole or not at all."""
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    with _in_words(f"{target} can't be written"):
        if target.exists():
            raise BackupError(f"{target} is there already. Nothing was written: choose another name.")
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            manifest = _write_backup(draft)
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    return manifest


def _write_backup(draft: Path) -> Manifest:
    with tempfile.TemporaryDirectory(dir=draft.parent) as folder:
        dump = Path(folder) / "database"
        tables = _copy_sqlite(dump) if connection.vendor == SQLITE else _dump_postgres(dump)
        made_at = timezone.now().isoformat()
        manifest = Manifest(FORM, connection.vendor, made_at, tables, _migrations(), _sha(dump), _product())
        _write_tar(draft, manifest, dump)
    return manifest


def restore_backup(source: Path, *, replace: bool = False) -> Manifest:
    """Put a backup into the database that the settings name, and compare every table with the manifest."""
    # Not beside the source: that may be a medium that can only be read.
    with _in_words("The backup can't be unpacked or put back"), tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "database"
        manifest = _read_tar(source, dump)
        _refuse_what_does_not_fit(source, manifest, replace)
        connection.close()
        if connection.vendor == SQLITE:
            _restore_sqlite(dump)
        else:
            _restore_postgres(dump)
    _compare(manifest)
    return manifest


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
        raise BackupError(f"The database does not answer ({_first(str(error))}). Nothing was changed.") from error
    except OSError as error:
        raise BackupError(f"{trouble} ({error.strerror or error}). Nothing was changed.") from error


def _first(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[0]


def _compare(manifest: Manifest) -> None:
    facts = table_facts()
    if different := sorted(name for name in {*facts, *manifest.tables} if facts.get(name) != manifest.tables.get(name)):
        raise BackupError(
            f"The restored database differs from the backup in {', '.join(different[:5])}. "
            "Don't open the site on it: restore again, from another backup if need be."
        )


def table_facts() -> dict[str, list[str]]:
    """Every table of the database with its number of rows and a digest of its content, whatever their order."""
    if connection.vendor == SQLITE:
        with closing(sqlite3.connect(f"file:{connection.settings_dict['NAME']}?mode=ro", uri=True)) as database:
            return _facts_sqlite(database)
    with connection.cursor() as cursor:
        cursor.execute(_PLAIN)
        return _facts_postgres(cursor)


# SQLite


def _copy_sqlite(dump: Path) -> dict[str, list[str]]:
    with tempfile.NamedTemporaryFile(dir=dump.parent) as plain:
        with (
            closing(sqlite3.connect(connection.settings_dict["NAME"], timeout=60)) as live,
            closing(sqlite3.connect(plain.name)) as copy,
        ):
            live.backup(copy)
            facts = _facts_sqlite(copy)
        with gzip.open(dump, "wb", compresslevel=3) as compressed, open(plain.name, "rb") as plain_file:
            shutil.copyfileobj(plain_file, compressed, 1 << 20)
    return facts


def _facts_sqlite(database: sqlite3.Connection) -> dict[str, list[str]]:
    database.text_factory = bytes
    names = [
        name.decode()
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        if not name.startswith(b"sqlite_")
    ]
    facts = {}
    for name in names:
        count, total = 0, 0
        for row in database.execute(f'SELECT * FROM "{name}"'):  # noqa: S608  a name from the database's own list
            count += 1
            total += int.from_bytes(hashlib.blake2b(repr(row).encode(), digest_size=12).digest())
        facts[name] = [str(count), f"{total % 2**96:024x}"]
    return facts


def _restore_sqlite(dump: Path) -> None:
    live = Path(connection.settings_dict["NAME"])
    live.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=dump.parent) as plain:
        with gzip.open(dump, "rb") as compressed, open(plain.name, "wb") as plain_file:
            shutil.copyfileobj(compressed, plain_file, 1 << 20)
        # SQLite's own copy takes the lock that writers respect: a site that still runs waits instead of breaking.
        with closing(sqlite3.connect(plain.name)) as copy, closing(sqlite3.connect(live, timeout=60)) as target:
            copy.backup(target)


# PostgreSQL


def _dump_postgres(dump: Path) -> dict[str, list[str]]:
    with _snapshot() as (cursor, snapshot):
        _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}", f"--file={dump}")
        return _facts_postgres(cursor)


@contextmanager
def _snapshot() -> Iterator[tuple[Any, str]]:
    """One moment of the database that this process and pg_dump both see."""
    with connection.cursor() as cursor:
        cursor.execute(_PLAIN)
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            cursor.execute("SELECT pg_export_snapshot()")
            yield cursor, cursor.fetchone()[0]
        finally:
            cursor.execute("ROLLBACK")


def _facts_postgres(cursor: Any) -> dict[str, list[str]]:
    cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename")
    names = [name for (name,) in cursor.fetchall()]
    facts = {}
    digests = [f"coalesce(sum({_DIGEST.format(start=start)}), 0)" for start in (1, 17)]
    for name in names:
        cursor.execute(f'SELECT count(*), {", ".join(digests)} FROM "{name}" t')  # noqa: S608
        count, *sums = cursor.fetchone()
        facts[name] = [str(count), "".join(f"{int(total) % 2**60:015x}" for total in sums)]
    return facts


def _restore_postgres(dump: Path) -> None:
    """Empty the database and fill it from the dump, in one transaction: if anything fails, all is as it was."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT quote_literal(quote_ident(current_schema()))")
        schema = cursor.fetchone()[0]
    connection.close()
    emptying = dump.with_name("empty.sql")
    emptying.write_text(_EMPTY.format(schema=schema) + _drop_other_schemas(dump), encoding="utf-8")
    # Comments on extensions belong to whoever installed them.
    reading = ["--no-owner", "--no-privileges", "--no-comments", "--exit-on-error", "--file=-", str(dump)]
    writing = ["--no-psqlrc", "--quiet", "--output=/dev/null", "--set=ON_ERROR_STOP=1", "--single-transaction"]
    _pipe([_program_path("pg_restore"), *reading], [_program_path("psql"), *writing, f"--file={emptying}", "--file=-"])


def _drop_other_schemas(dump: Path) -> str:
    """Schemas beside `public` are in the dump as a whole, and come back as a whole."""
    schemas = re.findall(r"^\d+; \d+ \d+ SCHEMA - (\S+) ", _run("pg_restore", "--list", str(dump)), re.MULTILINE)
    names = [connection.ops.quote_name(name) for name in schemas if name != "public"]
    return "".join(f"DROP SCHEMA IF EXISTS {name} CASCADE;\n" for name in names)


def _run(program: str, *arguments: str) -> str:
    process = subprocess.run(
        [_program_path(program), *arguments], env=_client_environment(), capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise BackupError(f"{program} stopped: {_first(process.stderr)}. Nothing was kept of it.")
    return process.stdout


def _pipe(giver: list[str], taker: list[str]) -> None:
    """What one program writes is the other's input; cut off, it ends the taker, which else would commit."""
    env, is_complete = _client_environment(), False
    with tempfile.TemporaryFile("w+") as words:
        with (
            suppress(BrokenPipeError),  # the taker stopped, and said why
            subprocess.Popen(giver, env=env, stdout=subprocess.PIPE, stderr=words) as gives,
            subprocess.Popen(taker, env=env, stdin=subprocess.PIPE, stderr=words) as takes,
        ):
            try:
                shutil.copyfileobj(cast(IO[bytes], gives.stdout), cast(IO[bytes], takes.stdin), 1 << 20)
                is_complete = gives.wait() == 0
            finally:
                if not is_complete:
                    takes.kill()
        words.seek(0)
        if not is_complete or takes.returncode:
            raise BackupError(f"The restore stopped: {_first(words.read())}. Nothing was changed.")


def _program_path(program: str) -> str:
    if path := shutil.which(program):
        return path
    raise BackupError(f"{program} is not installed: apt-get install postgresql-client. Nothing was changed.")


def _client_environment() -> dict[str, str]:
    """How PostgreSQL's own programs find the database of the settings."""
    database = connection.settings_dict
    names = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD", "PGDATABASE": "NAME"}
    variables = {variable: str(database[key]) for variable, key in names.items() if database.get(key)}
    return {**os.environ, **variables}


# The file


def _write_tar(target: Path, manifest: Manifest, dump: Path) -> None:
    head = json.dumps(asdict(manifest), indent=1, sort_keys=True).encode()
    with tarfile.open(target, "w") as tar:
        info = tarfile.TarInfo("manifest.json")
        info.size, info.mode = len(head), 0o600
        tar.addfile(info, io.BytesIO(head))
        tar.add(dump, arcname="database")
    target.chmod(0o600)  # workers' own ids are inside


def _read_tar(source: Path, dump: Path) -> Manifest:
    try:
        with tarfile.open(source) as tar:
            head, body = tar.extractfile("manifest.json"), tar.extractfile("database")
            if head is None or body is None:
                raise KeyError("manifest.json")
            manifest = Manifest(**json.loads(head.read()))
            with open(dump, "wb") as file:
                shutil.copyfileobj(body, file, 1 << 20)
    except FileNotFoundError:
        raise BackupError(f"There is no file {source}. Nothing was changed.") from None
    except (tarfile.TarError, KeyError, TypeError, ValueError, EOFError, OSError) as error:
        raise BackupError(f"{source} is not a backup that can be read ({error}). Nothing was changed.") from None
    if manifest.form != FORM or manifest.sha256 != _sha(dump):
        raise BackupError(f"{source} was changed or cut short after it was made. Nothing was restored.")
    return manifest


def _sha(file: Path) -> str:
    with open(file, "rb") as body:
        return hashlib.file_digest(body, "sha256").hexdigest()


def _migrations() -> list[str]:
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(f"{app}.{name}" for app, name in applied)
