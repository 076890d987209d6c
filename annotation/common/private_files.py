"""Files that only the account of the program may read."""

import os
import stat
from contextlib import suppress
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper


def keep_database_private(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """SQLite makes its files readable for everybody on the machine: workers' own ids and sessions are inside."""
    if connection.vendor != "sqlite":
        return
    name = str(connection.settings_dict["NAME"])
    with suppress(OSError):  # in memory, or another account's: the doctor tells of that
        if not stat.S_IMODE(os.stat(name).st_mode) & 0o077:
            return
        for file in (name, f"{name}-wal", f"{name}-shm"):
            if os.path.exists(file):
                os.chmod(file, 0o600)
