"""Databases and exports can be read by the account of the program alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import TestCase

from annotation.models import Role
from annotation.transfer.exporting.jobs import folder_of, start_export
from annotation.transfer.exporting.options import ExportOptions
from tests.factories import make_batch, make_member, make_study

ROOT = Path(__file__).resolve().parents[3]


def modes(folder: Path) -> dict[str, str]:
    return {path.name: f"{path.stat().st_mode & 0o777:o}" for path in folder.iterdir()}


@pytest.mark.parametrize("settings", ["deploy.settings", "deploy.marketplace_settings"])
def test_a_new_database_and_its_log_are_private(settings, tmp_path):
    """Both are looked at while a connection is open: afterwards SQLite takes the log away."""
    url = f"sqlite:///{tmp_path}/new.sqlite3"
    env = {**os.environ, "DEMO": "1", "ENV_FILE": os.devnull, "DJANGO_SETTINGS_MODULE": settings}
    env |= {"DATABASE_URL": url, "MARKETPLACE_DATABASE_URL": url}
    script = "import os, django; django.setup(); os.umask(0o022)\nfrom django.db import connection\n"
    script += "connection.cursor().execute('CREATE TABLE t (x int)')\nprint(*sorted(os.listdir(os.environ['PLACE'])))\n"
    script += (
        "print(*{oct(os.stat(os.environ['PLACE'] + '/' + n).st_mode & 0o777) for n in os.listdir(os.environ['PLACE'])})"
    )
    command = [sys.executable, "-c", script]
    process = subprocess.run(
        command, cwd=ROOT, env={**env, "PLACE": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert process.stdout.splitlines() == ["new.sqlite3 new.sqlite3-shm new.sqlite3-wal", "0o600"]


@pytest.mark.django_db
def test_the_files_of_an_export_are_private(settings, tmp_path):
    settings.EXPORT_ROOT = str(tmp_path)
    study = make_study(documents=1, systems=2)
    make_batch(study)
    admin = make_member(study, Role.ADMIN)
    with TestCase.captureOnCommitCallbacks(execute=True):
        export = start_export(study, admin, ExportOptions.checked())
    folder = folder_of(export)
    assert modes(tmp_path) == {folder.name: "700"}
    assert len(modes(folder)) > 3
    assert set(modes(folder).values()) == {"600"}
