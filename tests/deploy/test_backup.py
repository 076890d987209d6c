"""A backup taken while people work is one moment of the database, and comes back as it was, table by table."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from deploy.backup import BackupError, make_backup, restore_backup
from tests import postgres

ROOT = Path(__file__).resolve().parents[2]
# Each part runs in a process of its own, on a database of its own.
BUSY = """
import itertools, sys, threading, time, django; django.setup()
from django.core.management import call_command
from annotation.models import Batch, Entry, Study
from tests.tables import make_tables
make_tables()
study = Study.objects.create(name="Busy")
batch = Batch.objects.create(study=study, name="b", protocol="litepyramid")
def write():  # a trigger adds each entry to its study in the same transaction
    for n in itertools.count():
        Entry.objects.create(study=study, batch=batch, kind="post", token=str(n), reward_cents=7, promised_cents=7)
threading.Thread(target=write, daemon=True).start()
while Entry.objects.count() < 50: time.sleep(0.01)
call_command("backup", sys.argv[1])
print(Entry.objects.count())
"""
RESTORED = """
import json, sys, django; django.setup()
from django.core.management import CommandError, call_command
from django.db import IntegrityError
from annotation.models import Entry, Study
from deploy.backup import table_facts
call_command("restore", sys.argv[1])
facts = {"entries": Entry.objects.count(), "cents": Study.objects.get().committed_cents, "tables": len(table_facts())}
try: Study.objects.update(budget_cents=1)
except IntegrityError as error: facts["rule"] = str(error)
try: call_command("restore", sys.argv[1])
except CommandError as error: facts["refusal"] = str(error)
Entry.objects.all().delete()
call_command("restore", sys.argv[1], replace=True)
facts["again"] = Entry.objects.count()
print(json.dumps(facts))
"""


def run(url: str, script: str, *arguments: str) -> str:
    there = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=there, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(params=["file", "server"])
def databases(request, tmp_path) -> Iterator[tuple[str, str]]:
    """Two empty databases: SQLite files, or on PostgreSQL."""
    if request.param == "file":
        yield f"sqlite:///{tmp_path}/one.sqlite3", f"sqlite:///{tmp_path}/two.sqlite3"
        return
    url = postgres.find()
    if url is None and not os.environ.get("CI"):
        pytest.skip("needs PostgreSQL on 127.0.0.1:5432")
    server, names = url.rpartition("/")[0], [f"backup_{uuid.uuid4().hex[:8]}" for _ in range(2)]
    with psycopg.connect(url.replace("postgres:", "postgresql:", 1), autocommit=True) as there:
        for name in names:
            there.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{server}/{names[0]}", f"{server}/{names[1]}"
        finally:
            for name in names:
                there.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_backup_under_load_is_consistent_and_restores_every_table(databases, tmp_path):
    live, other = databases
    file = str(tmp_path / "busy.tar")
    later = int(run(live, BUSY, file).splitlines()[-1])
    facts = json.loads(run(other, RESTORED, file).splitlines()[-1])
    assert 50 <= facts["entries"] < later  # the writer went on while the copy was made
    assert facts["cents"] == 7 * facts["entries"]  # and the copy holds no half of a transaction
    assert facts["tables"] > 30
    assert "study_budget_kept" in facts["rule"]  # the database's own rules came along
    assert "not empty" in facts["refusal"]
    assert facts["again"] == facts["entries"]


@pytest.fixture
def backup(tmp_path, db) -> Path:
    file = tmp_path / "good.tar"
    make_backup(file)
    return file


def test_it_is_private_and_never_written_over_another(backup):
    before = backup.read_bytes()
    with pytest.raises(BackupError, match="is there already"):
        make_backup(backup)
    assert backup.read_bytes() == before
    assert backup.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", ["cut", "flipped", "text", "absent"])
def test_a_damaged_file_is_refused_before_anything_is_touched(damage, backup):
    good = bytearray(backup.read_bytes())
    if damage == "cut":
        del good[len(good) // 2 :]
    elif damage == "flipped":
        good[len(good) // 2] ^= 1
    elif damage == "text":
        good = bytearray(b"hello")
    backup.write_bytes(good)
    if damage == "absent":
        backup.unlink()
    with pytest.raises(BackupError, match="Nothing was"):
        restore_backup(backup, replace=True)
