"""Processor time of a server and of the PostgreSQL processes behind it, as the system counts it."""

from __future__ import annotations

import os
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def spent(server: int, url: str) -> dict[int, float]:
    """Seconds so far, by process: gunicorn's, and PostgreSQL's that serve this database."""
    return {pid: _seconds(pid) for pid in [server, *_children(server), *_backends(url)]}


def since(before: dict[int, float], server: int, url: str) -> float:
    """Seconds that they have taken since then."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in spent(server, url).items())


def machine_spent() -> float:
    """Seconds that all cores have worked so far, for anybody."""
    user, nice, system, _idle, _wait, interrupts, soft, *_ = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + interrupts + soft) / TICK


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


def _backends(url: str) -> list[int]:
    import psycopg

    with psycopg.connect(url.replace("postgres:", "postgresql:", 1)) as database:
        rows = database.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()").fetchall()
    return [pid for (pid,) in rows]


def _seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICK
