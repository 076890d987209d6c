"""Finds a PostgreSQL for the tests: `python -m tests.postgres` prints its address or exits 1."""

import fcntl
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

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


@contextmanager
def many_connections() -> Iterator[None]:
    """One test at a time may open dozens: PostgreSQL has 100 for all test processes together."""
    with (Path(tempfile.gettempdir()) / f"pyramidion-tests-{os.getuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    address = find()
    print(address or "No PostgreSQL answers.")
    sys.exit(0 if address else 1)
