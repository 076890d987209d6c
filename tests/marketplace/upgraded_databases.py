"""The marketplace's databases of every landed state, filled and brought up to date; a process of its own.

`python -m tests.marketplace.upgraded_databases FOLDER` prints a line of JSON for each state.
"""

import sys
from pathlib import Path
from typing import Any

import django
from django.db import connection

from tests.annotation.models.upgraded_databases import check_rule, every_state, upgrade

APP = "marketplace"
FITTING: dict[str, dict[str, Any]] = {
    "Requester": {"put_in_cents": 100, "available_cents": 88, "held_cents": 12, "paid_cents": 0, "fees_cents": 0},
    "HIT": {"status": "Assignable", "max_assignments": 3, "held_cents": 12, "taken_cents": 0},
    "Assignment": {"state": "Accepted"},
    "Worker": {"earned_cents": 5, "paid_out_cents": 1},
    "Transfer": {"source": "available", "target": "held", "cents": 12},
    "Invitation": {"role": "worker"},
    "QualificationType": {"test": "", "answer_key": "", "auto_granted": False},
    "Account": {"username": "anna"},
}


def look(apps: Any, _is_edge: bool) -> None:
    from django.test import Client

    from annotation.marketplace.models import Account

    upgrade(apps, APP, FITTING)
    check_rule("UPDATE marketplace_transfer SET cents = 1")
    Account.objects.update(is_active=True)
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(Account.objects.get())
    for page in ("/hits/", "/work/", "/earnings/", "/history/", "/messages/", "/account/"):
        status = client.get(page).status_code
        assert status == 200, f"{page}: {status}"


def drop_triggers() -> None:
    from annotation.marketplace.books.triggers import GUARDED

    if not GUARDED.keys() <= set(connection.introspection.table_names()):
        return
    on_table = " ON {table}" if connection.vendor != "sqlite" else ""
    with connection.cursor() as cursor:
        for table in GUARDED:
            cursor.execute(f"DROP TRIGGER IF EXISTS {table}_append_only{on_table.format(table=table)}")


def main(folder: Path) -> None:
    django.setup()
    from annotation.marketplace.books.triggers import install_triggers

    every_state(folder, APP, drop_triggers, install_triggers, look)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
