"""SQLite: an online copy out; back in by way of a file beside the database, which is checked and compared first."""

import gzip
import hashlib
import shutil
import sqlite3
import tempfile
import zlib
from contextlib import closing
from pathlib import Path

from django.db import connection

from .manifest import BackupError, Facts, Manifest, first_line


def copy_out(dump: Path) -> Facts:
    """Write the database, as it is at one moment, into `dump`, and tell of its tables."""
    with tempfile.NamedTemporaryFile(dir=dump.parent) as plain:
        with (
            closing(sqlite3.connect(connection.settings_dict["NAME"], timeout=60)) as live,
            closing(sqlite3.connect(plain.name)) as copy,
        ):
            live.backup(copy)
            facts = _facts(copy)
        with gzip.open(dump, "wb", compresslevel=3) as compressed, open(plain.name, "rb") as plain_file:
            shutil.copyfileobj(plain_file, compressed, 1 << 20)
    return facts


def facts_of_live() -> Facts:
    with closing(sqlite3.connect(f"file:{connection.settings_dict['NAME']}?mode=ro", uri=True)) as database:
        return _facts(database)


def _facts(database: sqlite3.Connection) -> Facts:
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


def restore(dump: Path, manifest: Manifest) -> None:
    """Unpack beside the database, check and compare there, and only then put it in the database's place."""
    live = Path(connection.settings_dict["NAME"])
    live.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{live.name}.restoring-", dir=live.parent) as folder:
        beside = Path(folder) / "database"
        _unpack(dump, beside)
        with closing(sqlite3.connect(beside)) as copy:
            _check(copy, manifest)
            copy.text_factory = str
            _swap(copy, live)


def _unpack(dump: Path, beside: Path) -> None:
    try:
        with gzip.open(dump, "rb") as compressed, open(beside, "wb") as plain:
            shutil.copyfileobj(compressed, plain, 1 << 20)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BackupError(f"The database in the backup is not whole ({error}). Nothing was changed.") from None


def _check(copy: sqlite3.Connection, manifest: Manifest) -> None:
    try:
        [[verdict], *_more] = copy.execute("PRAGMA integrity_check(1)").fetchall()
        facts = _facts(copy)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        verdict = str(error)
    if verdict not in ("ok", b"ok"):
        raise BackupError(f"The database in the backup is damaged ({first_line(str(verdict))}). Nothing was changed.")
    manifest.compare(facts)


def _swap(copy: sqlite3.Connection, live: Path) -> None:
    """One transaction of SQLite's own: writers wait for it, and if it breaks off, the old content stays."""
    live.touch(mode=0o600)
    try:
        with closing(sqlite3.connect(live, timeout=60)) as target:
            copy.backup(target)
    except sqlite3.DatabaseError as error:
        raise BackupError(
            f"{live} could not be replaced ({first_line(str(error))}). Nothing was changed: "
            "if it is damaged, move it away and restore into a new file."
        ) from None
