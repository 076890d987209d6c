"""What the version before the rooms wrote is read by this one: a database, a backup, an export, a cache of scores."""

import gzip
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pandas as pd
import pytest

from analysis.tables import read_table

BEFORE = Path(__file__).parent / "before"
ROOT = Path(__file__).resolve().parents[2]
JUDGMENTS = 3360
SESSION = "promised" * 4

PAGES = f"""
import django; django.setup()
from django.test import Client
from annotation.models import Job, Judgment, Study
jobs = sorted(Job.objects.values_list("kind", "state"))
client = Client(HTTP_HOST="127.0.0.1")
client.cookies["sessionid"] = "{SESSION}"
pages = [client.get(f"/studies/{{Study.objects.get().slug}}/{{page}}/").status_code for page in ("quality", "explorer")]
print(Judgment.objects.count(), pages, jobs)
"""


@pytest.fixture
def site(tmp_path):
    """Runs words of Python on a site of its own, whose database and secret are those of the earlier version."""

    def run(*words: str) -> str:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "DATABASE_URL": f"sqlite:///{tmp_path}/site.sqlite3",
            "SECRET_KEY": "of-the-promised-files",
            "BACKGROUND": "worker",
        }
        command = [sys.executable, *words]
        result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout

    run.database = tmp_path / "site.sqlite3"
    return run


def unpack(name: str, target: Path) -> Path:
    with gzip.open(BEFORE / name) as source, target.open("wb") as copy:
        shutil.copyfileobj(source, copy)
    return target


def lines(path: Path) -> list[str]:
    return sorted(path.read_text(encoding="utf-8").splitlines())


def test_a_database_goes_on_with_its_sessions_and_its_waiting_work(site):
    """Two jobs waited in the queue under `annotation.jobs.run_job`, and an admin was signed in."""
    unpack("database.sqlite3.gz", site.database)
    site("manage.py", "migrate", "--verbosity", "0")
    site("manage.py", "worker", "--batch", "--no-startup-delay")
    jobs = [("explore", "done"), ("page", "done"), ("page", "done")]
    assert site("-c", PAGES).strip() == f"{JUDGMENTS} [200, 200] {jobs}"


def test_a_backup_is_restored(site):
    """It was not signed then, so that one has to say that it may be trusted."""
    restored = site("manage.py", "restore", "--unverified", str(BEFORE / "backup.tar"))
    assert "Restored and compared: 56 tables" in restored
    site("manage.py", "migrate", "--verbosity", "0")
    assert site("-c", PAGES).startswith(f"{JUDGMENTS} [200, 200]")


def test_an_export_is_imported_and_exported_as_it_was(site, tmp_path):
    with tarfile.open(BEFORE / "export.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    old, new = tmp_path / "export", tmp_path / "again"
    site("manage.py", "migrate", "--verbosity", "0")
    site("manage.py", "import_study", str(old), "--name", "An earlier export")
    site("manage.py", "export_study", str(new), "--name", "An earlier export", "--tables", "documents,summaries,scores")
    for name in ("documents.jsonl", "summaries.jsonl", "scores.csv"):
        assert lines(new / name) == lines(old / name)
    assert site("-c", PAGES).startswith(f"{JUDGMENTS} [")


def test_a_cache_of_scores_is_used(tmp_path):
    """The texts were scored before, so that nothing new is written into the cache, and the scores are the same."""
    (tmp_path / "cache").mkdir()
    cache = unpack("scores-1.sqlite3.gz", tmp_path / "cache" / "scores-1.sqlite3")
    scores = unpack("scores.csv.gz", tmp_path / "before.csv")
    size = cache.stat().st_size
    metrics = "rouge-1-f,rouge-l-r,bleu,cider,length,meteor,js-1"
    tables = ["--summaries", "fixtures/demo/summaries.jsonl", "--documents", "fixtures/demo/documents.jsonl"]
    places = ["--cache", tmp_path / "cache", "--out", tmp_path / "after.csv"]
    command = [sys.executable, "-m", "scoring", "run", *tables, "--metrics", metrics, *places]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    # BLEU of a whole system is worked out anew, by a sum that rounds its last bit otherwise from Python 3.12 on.
    after, before = (read_table(path, "scores") for path in (tmp_path / "after.csv", scores))
    pd.testing.assert_frame_equal(after, before, check_exact=sys.version_info < (3, 12), rtol=1e-14)
    assert cache.stat().st_size == size
