"""A backup taken while people work is one moment of the database, and comes back as it was, table by table."""

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from django.utils.crypto import salted_hmac

from deploy.backup import BackupError, make_backup, restore_backup
from tests import postgres

ROOT = Path(__file__).resolve().parents[2]
KEY = os.environ["SECRET_KEY"]  # tests/settings.py sets it, for the processes that run below too
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
# People go on writing and reading while another process restores over their database.
LIVE = """
import itertools, json, subprocess, sys, threading, time, django; django.setup()
from django.core.management import call_command
from django.db import DatabaseError, connection
from annotation.models import Batch, Entry, Study
from tests.tables import make_tables
make_tables()
study = Study.objects.create(name="Live")
batch = Batch.objects.create(study=study, name="b", protocol="litepyramid")
pairs, is_over = [], threading.Event()
def write():
    for n in itertools.count():
        try: Entry.objects.create(study=study, batch=batch, kind="post", token=str(n), reward_cents=7, promised_cents=7)
        except DatabaseError: connection.close()  # as a page that answers 503
        if is_over.is_set(): return connection.close()
        time.sleep(0.002)
def read():
    while not is_over.is_set():
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT (SELECT count(*) FROM annotation_entry), committed_cents FROM annotation_study")
                pairs.append(cursor.fetchone())
        except DatabaseError: connection.close()
        time.sleep(0.001)
    connection.close()
threads = [threading.Thread(target=target) for target in (write, read)]
for thread in threads: thread.start()
while Entry.objects.count() < 50: time.sleep(0.01)
call_command("backup", sys.argv[1])
while Entry.objects.count() < 400: time.sleep(0.01)
words = [sys.executable, "-m", "django", "restore", sys.argv[1], "--replace"]
for _ in range(5):  # a deadlock with somebody who writes undoes it, with a sentence
    restore = subprocess.run(words, capture_output=True, text=True)
    if restore.returncode == 0: break
    assert "Nothing was changed" in restore.stderr, restore.stderr
after = len(pairs)
while len(pairs) < after + 200: time.sleep(0.01)
is_over.set()
for thread in threads: thread.join()
print(json.dumps({"pairs": pairs, "restored": restore.returncode == 0}))
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
# What a newer program might have made: a table and a column that hold on to the old ones, a function, a view.
NEWER = """
CREATE TABLE newer (id bigint PRIMARY KEY, study_id bigint REFERENCES annotation_study (id));
ALTER TABLE annotation_study ADD COLUMN newer_id bigint REFERENCES newer (id);
CREATE FUNCTION newer_rule() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE VIEW newer_view AS SELECT name FROM annotation_study;
CREATE EXTENSION pg_trgm; CREATE EXTENSION pgcrypto;
GRANT CREATE ON SCHEMA public TO PUBLIC;
CREATE SCHEMA beside; CREATE TABLE beside.kept (id int);
"""
SMALL = """
import sys, django; django.setup()
from django.core.management import call_command
from annotation.models import Study
from tests.tables import make_tables
make_tables()
Study.objects.create(name="Old")
call_command("backup", sys.argv[1])
"""
REPLACED = """
import sys, django; django.setup()
from django.core.management import CommandError, call_command
from annotation.models import Study
try: call_command("restore", sys.argv[1], replace=True)
except CommandError as error: print(error)
print(*Study.objects.values_list("name", flat=True))
"""


def run(url: str, script: str, *arguments: str) -> str:
    env = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, "-c", script, *arguments]
    process = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout


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
    with psycopg.connect(url.replace("postgres:", "postgresql:", 1), autocommit=True) as connection:
        for name in names:
            connection.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{server}/{names[0]}", f"{server}/{names[1]}"
        finally:
            for name in names:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_backup_under_load_is_consistent_and_restores_every_table(databases, tmp_path):
    live, second = databases
    file = str(tmp_path / "busy.tar")
    entries_afterwards = int(run(live, BUSY, file).splitlines()[-1])
    facts = json.loads(run(second, RESTORED, file).splitlines()[-1])
    assert 50 <= facts["entries"] < entries_afterwards  # the writer went on while the copy was made
    assert facts["cents"] == 7 * facts["entries"]  # and the copy holds no half of a transaction
    assert facts["tables"] > 30
    assert "study_budget_kept" in facts["rule"]  # the database's own rules came along
    assert "not empty" in facts["refusal"]
    assert facts["again"] == facts["entries"]


def test_a_restore_over_a_database_at_work_is_seen_whole_or_not_at_all(databases, tmp_path):
    facts = json.loads(run(databases[0], LIVE, str(tmp_path / "live.tar")).splitlines()[-1])
    counts = [count for count, _cents in facts["pairs"]]
    assert facts["restored"]
    assert [cents for _count, cents in facts["pairs"]] == [7 * count for count in counts]  # never half of a restore
    falls = [place for place in range(1, len(counts)) if counts[place] < counts[place - 1]]
    assert len(falls) == 1  # all at once
    assert counts[falls[0]] < 400 <= max(counts)
    assert counts[-1] > counts[falls[0]]  # and who was at work goes on


@pytest.fixture
def server(databases) -> str:
    if not databases[0].startswith("postgres"):
        pytest.skip("about PostgreSQL only")
    return databases[0]


def ask(url: str, query: str) -> list[tuple]:
    with psycopg.connect(url.replace("postgres:", "postgresql:", 1), autocommit=True) as connection:
        answers = connection.execute(query)
        while answers.nextset():
            pass
        return answers.fetchall()


def test_an_older_backup_replaces_what_newer_migrations_made(server, tmp_path):
    file = str(tmp_path / "old.tar")
    run(server, SMALL, file)
    ask(server, f"{NEWER}; UPDATE annotation_study SET name = 'New' RETURNING 1")
    assert run(server, REPLACED, file).splitlines()[-1] == "Old"
    newer_objects = "to_regclass('newer'), to_regproc('newer_rule'), to_regclass('newer_view')"
    assert ask(server, f"SELECT {newer_objects}") == [(None, None, None)]
    # What isn't the site's stays: extensions, the schema's grants, other schemas.
    assert ask(server, "SELECT similarity('one', 'one'), has_schema_privilege('public', 'public', 'CREATE')") == [
        (1, True)
    ]
    assert ask(server, "SELECT count(*) FROM beside.kept") == [(0,)]
    run(server, REPLACED, file)  # and once more over itself


def test_a_backup_with_extensions_and_other_schemas_comes_back(server, tmp_path):
    file = str(tmp_path / "rich.tar")
    run(server, SMALL, str(tmp_path / "first.tar"))
    ask(server, f"{NEWER}; INSERT INTO beside.kept VALUES (7) RETURNING 1")
    run(
        server,
        "import sys, django; django.setup()\nfrom django.core.management import *\ncall_command('backup', sys.argv[1])",
        file,
    )
    ask(server, "UPDATE beside.kept SET id = 8 RETURNING 1")
    assert run(server, REPLACED, file).splitlines()[-1] == "Old"
    assert ask(server, "SELECT id, similarity('one', 'one') FROM beside.kept") == [(7, 1)]


def test_a_restore_that_fails_half_way_leaves_the_old_data(server, tmp_path):
    file = str(tmp_path / "old.tar")
    run(server, SMALL, file)
    ask(
        server,
        """CREATE SCHEMA keeper; CREATE FUNCTION keeper.refuse() RETURNS event_trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'no indexes today'; END $$;
        CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION keeper.refuse();
        UPDATE annotation_study SET name = 'New' RETURNING 1""",
    )
    *_, sentence, names = run(server, REPLACED, file).splitlines()
    assert "no indexes today" in sentence
    assert sentence.endswith("Nothing was changed.")
    assert names == "New"


def test_a_dump_that_breaks_off_is_not_committed(server, tmp_path):
    file, programs = str(tmp_path / "old.tar"), tmp_path / "bin"
    run(server, SMALL, file)
    ask(server, "UPDATE annotation_study SET name = 'New' RETURNING 1")
    programs.mkdir()
    broken = programs / "pg_restore"
    real = shutil.which("pg_restore")
    broken.write_text(f'#!/bin/sh\n{real} "$@" | head -c 20000\n[ "$1" = --list ] || kill -9 $$\n')
    broken.chmod(0o755)
    script = f"import os; os.environ['PATH'] = '{programs}:' + os.environ['PATH']\n{REPLACED}"
    *_, sentence, names = run(server, script, file).splitlines()
    assert "Nothing was changed" in sentence
    assert names == "New"


def rewritten(file: Path, change: Callable[[dict, bytes], bytes], key: str = KEY) -> str:
    """The archive with what `change` makes of its manifest and database, signed like a real one."""
    target = file.with_name("rewritten.tar")
    with tarfile.open(file) as old, tarfile.open(target, "w") as tar:
        manifest = json.loads(old.extractfile("manifest.json").read())
        database = change(manifest, old.extractfile("database").read())
        manifest["sha256"] = hashlib.sha256(database).hexdigest()
        head = json.dumps(manifest).encode()
        signature = salted_hmac("deploy.backup", head, secret=key, algorithm="sha256").hexdigest().encode()
        for name, content in (("manifest.json", head), ("signature", signature), ("database", database)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return str(target)


def half_of_it(manifest: dict, database: bytes) -> bytes:
    """As if the disk had been full when it was made: a whole gzip file, half a database."""
    plain = gzip.decompress(database)
    return gzip.compress(plain[: len(plain) // 2])


def cut_gzip(manifest: dict, database: bytes) -> bytes:
    return database[: len(database) // 2]


def another_table(manifest: dict, database: bytes) -> bytes:
    manifest["tables"]["annotation_study"] = ["2", "0" * 24]
    return database


SENTENCES = {half_of_it: "is damaged", cut_gzip: "is not whole", another_table: "differs from what was backed up"}


@pytest.mark.parametrize("change", SENTENCES)
def test_a_backup_that_holds_no_whole_database_leaves_the_live_one_as_it_is(change, tmp_path):
    live, file = f"sqlite:///{tmp_path}/live.sqlite3", tmp_path / "old.tar"
    run(live, SMALL, str(file))
    run(live, "import django; django.setup()\nfrom annotation.models import Study\nStudy.objects.update(name='New')")
    before = facts(live)
    *_, sentence, names = run(live, REPLACED, rewritten(file, change)).splitlines()
    assert SENTENCES[change] in sentence
    assert "Nothing was changed" in sentence
    assert names == "New"
    assert facts(live) == before
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.suffix == "" or "restoring" in entry.name) == []


def test_what_differs_from_the_manifest_is_not_committed_on_a_server(server, tmp_path):
    file = tmp_path / "old.tar"
    run(server, SMALL, str(file))
    ask(server, "UPDATE annotation_study SET name = 'New' RETURNING 1")
    before = facts(server)
    *_, sentence, names = run(server, REPLACED, rewritten(file, another_table)).splitlines()
    assert "differs from what was backed up, in annotation_study. Nothing was changed" in sentence
    assert names == "New"
    assert facts(server) == before


def facts(url: str) -> str:
    return run(url, "import django; django.setup()\nfrom deploy.backup import table_facts\nprint(table_facts())")


def test_a_dump_is_never_given_to_psql(server, tmp_path):
    file, programs, marker = str(tmp_path / "old.tar"), tmp_path / "bin", tmp_path / "psql-ran"
    run(server, SMALL, file)
    programs.mkdir()
    (programs / "psql").write_text(f"#!/bin/sh\ntouch {marker}\nexit 1\n")
    (programs / "psql").chmod(0o755)
    script = f"import os; os.environ['PATH'] = '{programs}:' + os.environ['PATH']\n{REPLACED}"
    assert run(server, script, file).splitlines()[-1] == "Old"
    assert not marker.exists()


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


@pytest.mark.parametrize(
    ("keys", "is_ours"),
    [
        ({}, True),
        ({"SECRET_KEY": "another"}, False),
        ({"SECRET_KEY": "another", "SECRET_KEY_FALLBACKS": ["older", KEY]}, True),
        ({"BACKUP_KEY": "kept apart"}, True),  # made before there was one
        ({"BACKUP_KEY": KEY, "SECRET_KEY": "another"}, True),
    ],
)
def test_only_a_backup_signed_with_a_key_of_ours_is_taken_unasked(keys, is_ours, backup, settings):
    for name, value in keys.items():
        setattr(settings, name, value)
    # Whatever is taken stops at the next refusal: this database is not empty.
    with pytest.raises(BackupError, match="not empty" if is_ours else "not signed with a key of this deployment"):
        restore_backup(backup)
    with pytest.raises(BackupError, match="not empty"):
        restore_backup(backup, unverified=True)


def test_a_key_for_backups_alone_signs_them(tmp_path, db, settings):
    settings.BACKUP_KEY = "kept apart"
    make_backup(tmp_path / "a.tar")
    settings.BACKUP_KEY = ""
    with pytest.raises(BackupError, match="not signed with a key of this deployment"):
        restore_backup(tmp_path / "a.tar")


@pytest.mark.parametrize("damage", ["cut", "flipped", "text", "absent"])
def test_a_damaged_file_is_refused_before_anything_is_touched(damage, backup):
    content = bytearray(backup.read_bytes())
    if damage == "cut":
        del content[len(content) // 2 :]
    elif damage == "flipped":
        content[len(content) // 2] ^= 1
    elif damage == "text":
        content = bytearray(b"hello")
    backup.write_bytes(content)
    if damage == "absent":
        backup.unlink()
    with pytest.raises(BackupError, match="Nothing was"):
        restore_backup(backup, replace=True)


def manage(*words: str, settings: str = "deploy.settings", **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "DEMO": "1", "ENV_FILE": os.devnull, **variables}
    command = [sys.executable, "-m", "django", *words, "--settings", settings]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("words", "url", "sentence"),
    [
        (["backup", "/proc/x.tar"], "sqlite:////tmp/none.sqlite3", "/proc/x.tar can't be written"),
        (["restore", "/nonexistent/a.tar"], "sqlite:////tmp/none.sqlite3", "There is no file /nonexistent/a.tar"),
        (["backup", "{folder}/a.tar"], "postgres://nobody@127.0.0.1:1/none", "The database does not answer"),
        (["restore", "{folder}"], "postgres://nobody@127.0.0.1:1/none", "is not a backup that can be read"),
    ],
)
def test_what_fails_is_said_in_a_sentence(words, url, sentence, tmp_path):
    process = manage(*[word.format(folder=tmp_path) for word in words], DATABASE_URL=url)
    assert process.returncode == 2
    assert sentence in process.stderr
    assert "Traceback" not in process.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_down_at_a_restore_is_said_in_a_sentence(server, tmp_path):
    file = str(tmp_path / "old.tar")
    run(server, SMALL, file)
    process = manage("restore", file, DATABASE_URL="postgres://nobody@127.0.0.1:1/none")
    assert process.returncode == 2
    assert "The database does not answer" in process.stderr
    assert "Traceback" not in process.stderr


def test_nothing_is_written_beside_a_backup_that_is_read(backup, monkeypatch):
    folders = []
    real = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", lambda *words: folders.append(real(*words)) or folders[-1])
    with pytest.raises(BackupError, match="not empty"):
        restore_backup(backup)
    assert folders
    assert not any(Path(folder).is_relative_to(backup.parent) for folder in folders)


def test_a_backup_of_the_marketplace_is_not_put_into_the_site(tmp_path):
    file, market = str(tmp_path / "market.tar"), {"MARKETPLACE_DATABASE_URL": f"sqlite:///{tmp_path}/m.sqlite3"}
    settings = "deploy.marketplace_settings"
    assert manage("migrate", settings=settings, **market).returncode == 0
    assert manage("backup", file, settings=settings, **market).returncode == 0
    url = f"sqlite:///{tmp_path}/site.sqlite3"
    process = manage("restore", file, "--unverified", DATABASE_URL=url)  # it is signed with the marketplace's own key
    assert process.returncode == 2
    assert "is a backup of the marketplace" in process.stderr
    restored = manage("restore", file, settings=settings, MARKETPLACE_DATABASE_URL=f"sqlite:///{tmp_path}/m2.sqlite3")
    assert restored.returncode == 0, restored.stderr


def test_a_backup_from_before_products_were_named_is_taken(tmp_path):
    file, old = tmp_path / "new.tar", tmp_path / "old.tar"
    run(f"sqlite:///{tmp_path}/one.sqlite3", SMALL, str(file))
    with tarfile.open(file) as new, tarfile.open(old, "w") as tar:
        head = json.loads(new.extractfile("manifest.json").read())
        assert head.pop("product") == "site"
        text = json.dumps(head).encode()
        info = tarfile.TarInfo("manifest.json")
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text))
        tar.addfile(new.getmember("database"), new.extractfile("database"))
    url = f"sqlite:///{tmp_path}/two.sqlite3"
    process = manage("restore", str(old), DATABASE_URL=url)  # backups were not signed then either
    assert process.returncode == 2
    assert "is not signed" in process.stderr
    assert "--unverified" in process.stderr
    assert manage("restore", str(old), "--unverified", DATABASE_URL=url).returncode == 0
