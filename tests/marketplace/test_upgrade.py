"""A database of any earlier version of the marketplace becomes today's: every row is there, and pages read them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from annotation import marketplace

pytestmark = [pytest.mark.postgres, pytest.mark.sqlite]
STATES = sorted(path.stem for path in (Path(marketplace.__file__).parent / "migrations").glob("0*.py"))
"""Every state that was landed; a new migration adds one by itself."""


def test_a_database_of_any_landed_state_is_brought_up_to_date_with_its_rows(tmp_path):
    url = os.environ.get("MARKETPLACE_DATABASE_URL", "")
    url = url if url.startswith("postgres") else f"sqlite:///{tmp_path}/any.sqlite3"
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.marketplace_settings",
        "MARKETPLACE_DATABASE_URL": url,
    }
    command = [sys.executable, "-m", "tests.marketplace.upgraded_databases", str(tmp_path)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert {line["state"]: line["problem"] for line in lines} == dict.fromkeys(STATES, "")
