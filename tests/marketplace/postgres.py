"""`python -m tests.marketplace.postgres [PYTEST WORDS …]` runs the marketplace's tests once more, on PostgreSQL."""

import os
import subprocess
import sys

from tests.postgres import find

PATHS = ["tests/marketplace", "tests/contract", "--ignore=tests/marketplace/browser"]


def run(words: list[str]) -> int:
    url = find()
    if url is None:
        print("No PostgreSQL answers on 127.0.0.1:5432 (POSTGRES_URL names another): its tests are skipped.")
        return 1 if os.environ.get("CI") else 0
    command = [sys.executable, "-m", "pytest", "--ds=tests.marketplace_settings", "--create-db", *(words or PATHS)]
    # DATABASE_URL tells tests/conftest.py which database runs.
    environment = {**os.environ, "DATABASE_URL": url, "MARKETPLACE_DATABASE_URL": url}
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
