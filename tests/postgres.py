"""Finds a PostgreSQL for the tests.

`python -m tests.postgres` prints its address or exits 1; `python -m tests.postgres run` runs the tests marked
`postgres` on it, or says why not (in CI that is a failure).
"""

import os
import subprocess
import sys
from pathlib import Path

import psycopg

HERE = Path(__file__).resolve().parent
PLACES = [
    "postgres://root@127.0.0.1:5432/test",
    "postgres://postgres@127.0.0.1:5432/test",
    "postgres:///test",
]


def find() -> str | None:
    """The first address that answers; POSTGRES_URL comes before the usual ones."""
    for url in [os.environ.get("POSTGRES_URL", ""), *PLACES]:
        if url:
            try:
                psycopg.connect(url.replace("postgres:", "postgresql:", 1), connect_timeout=3).close()
            except psycopg.OperationalError:
                continue
            return url
    return None


def run() -> int:
    url = find()
    if url is None:
        print("No PostgreSQL answers on 127.0.0.1:5432 (POSTGRES_URL names another): its tests are skipped.")
        return 1 if os.environ.get("CI") else 0
    command = [sys.executable, "-m", "pytest", "-n", os.environ.get("WORKERS", "4"), "-m", "postgres", "--create-db"]
    # Only files that name the mark: collecting all the others takes longer than running these.
    files = [str(file) for file in sorted(HERE.rglob("test_*.py")) if "mark.postgres" in file.read_text("utf-8")]
    market = [file for file in files if "/marketplace/" in file or "/contract/" in file]
    passes = [
        ([*command, *(file for file in files if file not in market)], {"DATABASE_URL": url}),
        (
            [*command, "--ds=tests.marketplace_settings", *market],
            {"DATABASE_URL": url, "MARKETPLACE_DATABASE_URL": url},
        ),
    ]
    codes = [subprocess.run(words, env={**os.environ, **extra}, check=False).returncode for words, extra in passes]
    return max(codes)


if __name__ == "__main__":
    if sys.argv[1:] == ["run"]:
        sys.exit(run())
    address = find()
    print(address or "No PostgreSQL answers.")
    sys.exit(0 if address else 1)
