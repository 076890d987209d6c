"""PostgreSQL: pg_dump's archive out; back in by pg_restore, whose statements run in one transaction of ours.

Nothing is given to psql, which would take a line of a foreign dump for one of its own commands and run programs. Until
the transaction ends everybody sees the old tables: what was restored is compared inside it, and a difference, a crash
or a cut undoes it.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, cast

from django.db import connection

from .manifest import BackupError, Facts, Manifest, first_line

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
   WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = current_schema()::regnamespace
     AND d.classid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass)
     AND NOT EXISTS (
         SELECT FROM pg_depend e WHERE e.classid = d.classid AND e.objid = d.objid AND e.deptype = 'e');
  IF commands IS NOT NULL THEN EXECUTE commands; END IF;
END $$;
"""
_DIGEST = "('x' || substr(md5(t::text), {start}, 15))::bit(60)::bigint::numeric"
_FOR_PSQL = re.compile(rb"^\\(?:un)?restrict \w+\n", re.MULTILINE)
# Comments on extensions belong to whoever installed them.
_READING = ("--no-owner", "--no-privileges", "--no-comments", "--file=-")


def copy_out(dump: Path) -> Facts:
    """Write the database, as it is at one moment, into `dump`, and tell of its tables."""
    with _snapshot() as (cursor, snapshot):
        _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}", f"--file={dump}")
        return _facts(cursor)


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


def facts_of_live() -> Facts:
    with connection.cursor() as cursor:
        cursor.execute(_PLAIN)
        return _facts(cursor)


def _facts(cursor: Any) -> Facts:
    cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename")
    names = [name for (name,) in cursor.fetchall()]
    facts = {}
    digests = [f"coalesce(sum({_DIGEST.format(start=start)}), 0)" for start in (1, 17)]
    for name in names:
        cursor.execute(f'SELECT count(*), {", ".join(digests)} FROM "{name}" t')  # noqa: S608
        count, *sums = cursor.fetchone()
        facts[name] = [str(count), "".join(f"{int(total) % 2**60:015x}" for total in sums)]
    return facts


def restore(dump: Path, manifest: Manifest) -> None:
    """Empty the database, fill it from the archive and compare, in one transaction: if anything fails, all stays."""
    schemas = _drop_other_schemas(dump)
    try:
        # A connection of its own: the archive's settings of the session end with it.
        with closing(connection.get_new_connection(connection.get_connection_params())) as server, server.transaction():
            cursor = server.cursor()
            cursor.execute((_EMPTY + schemas).encode())
            cursor.execute(_script(dump, "pre-data"))
            _fill(cursor, dump)
            cursor.execute(_script(dump, "post-data"))
            cursor.execute(f"RESET search_path; {_PLAIN}")
            manifest.compare(_facts(cursor))
    except connection.Database.Error as error:  # type: ignore[attr-defined]  # psycopg's own
        raise BackupError(f"The restore stopped: {first_line(str(error))}. Nothing was changed.") from error


def _drop_other_schemas(dump: Path) -> str:
    """Schemas beside `public` are in the dump as a whole, and come back as a whole."""
    listing = _run("pg_restore", "--list", str(dump)).decode()
    schemas = re.findall(r"^\d+; \d+ \d+ SCHEMA - (\S+) ", listing, re.MULTILINE)
    names = [connection.ops.quote_name(name) for name in schemas if name != "public"]
    return "".join(f"DROP SCHEMA IF EXISTS {name} CASCADE;\n" for name in names)


def _script(dump: Path, section: str) -> bytes:
    """The statements of a part of the archive that holds no rows."""
    return _FOR_PSQL.sub(b"", _run("pg_restore", f"--section={section}", *_READING, str(dump)))


def _fill(cursor: Any, dump: Path) -> None:
    """The rows, as pg_restore reads them: its lines are the input of a COPY, or statements between two of them."""
    command = [program_path("pg_restore"), "--section=data", *_READING, str(dump)]
    with (
        tempfile.TemporaryFile("w+") as words,
        subprocess.Popen(command, env=_client_environment(), stdout=subprocess.PIPE, stderr=words) as reading,
    ):
        try:
            _run_lines(cursor, cast(IO[bytes], reading.stdout))
            is_complete = reading.wait() == 0
        finally:
            reading.kill()
        words.seek(0)
        if not is_complete:
            raise BackupError(f"The restore stopped: {first_line(words.read())}. Nothing was changed.")


def _run_lines(cursor: Any, lines: Iterator[bytes]) -> None:
    statements: list[bytes] = []
    for line in lines:
        if line.startswith(b"COPY ") and line.endswith(b" FROM stdin;\n"):
            cursor.execute(b"".join(statements))
            statements.clear()
            with cursor.copy(line) as copy:
                _copy_rows(copy, lines)
        elif not _FOR_PSQL.match(line):
            statements.append(line)
    cursor.execute(b"".join(statements))


def _copy_rows(copy: Any, lines: Iterator[bytes]) -> None:
    for line in lines:
        if line == b"\\.\n":
            return
        copy.write(line)
    raise BackupError("The restore stopped: the archive breaks off in the middle of a table. Nothing was changed.")


def _run(program: str, *arguments: str) -> bytes:
    process = subprocess.run(
        [program_path(program), *arguments], env=_client_environment(), capture_output=True, check=False
    )
    if process.returncode:
        raise BackupError(f"{program} stopped: {first_line(process.stderr.decode())}. Nothing was changed.")
    return process.stdout


def program_path(program: str) -> str:
    if path := shutil.which(program):
        return path
    raise BackupError(f"{program} is not installed: apt-get install postgresql-client. Nothing was changed.")


def _client_environment() -> dict[str, str]:
    """How PostgreSQL's own programs find the database of the settings."""
    database = connection.settings_dict
    names = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD", "PGDATABASE": "NAME"}
    variables = {variable: str(database[key]) for variable, key in names.items() if database.get(key)}
    return {**os.environ, **variables}
