"""The books are append-only: a trigger refuses to change what a transfer or payout says. Made anew after each migrate.

(Not in a migration: SQLite drops a table's triggers when a later migration rebuilds it. See docs/decisions/0002.)
"""

from typing import Any

from django.db import connections

REFUSAL = "The books are append-only: post another transfer instead of changing one."
GUARDED = {
    "marketplace_transfer": ("requester_id", "kind", "source", "target", "cents", "at"),
    "marketplace_payout": ("worker_id", "cents", "at"),
}


def install_triggers(using: str = "default", **_: Any) -> None:
    """Make the triggers anew on one database; safe to repeat."""
    connection = connections[using]
    if not GUARDED.keys() <= set(connection.introspection.table_names()):
        return  # migrated backwards: there is nothing to guard
    make = _sqlite if connection.vendor == "sqlite" else _postgres
    with connection.cursor() as cursor:
        for statement in make():
            cursor.execute(statement)


def _sqlite() -> list[str]:
    statements = []
    for table, columns in GUARDED.items():
        statements += [
            f"DROP TRIGGER IF EXISTS {table}_append_only",
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OF {', '.join(columns)} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
        ]
    return statements


def _postgres() -> list[str]:
    function = (
        "CREATE OR REPLACE FUNCTION marketplace_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN RAISE EXCEPTION '{REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    triggers = [
        f"CREATE OR REPLACE TRIGGER {table}_append_only BEFORE UPDATE OF {', '.join(columns)} ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION marketplace_append_only()"
        for table, columns in GUARDED.items()
    ]
    return [function, *triggers]
