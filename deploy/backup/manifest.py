"""What a backup says of itself, and what goes wrong with one."""

from collections.abc import Mapping
from dataclasses import dataclass

FORM = 1
Facts = dict[str, list[str]]
"""Table name to its number of rows and a digest of its content."""


class BackupError(Exception):
    """What went wrong, what was kept, what to do: one sentence."""


@dataclass(frozen=True)
class Manifest:
    """What a backup holds."""

    form: int
    engine: str
    made_at: str
    tables: Facts
    migrations: list[str]
    sha256: str
    """Of the database inside."""
    product: str = ""
    """`site` or `marketplace`; empty in backups from before this was written down."""

    @property
    def rows(self) -> int:
        return sum(int(count) for count, _ in self.tables.values())

    def compare(self, facts: Mapping[str, list[str]]) -> None:
        """BackupError unless these are the tables that were backed up. Call it before anything is replaced."""
        names = {*facts, *self.tables}
        if different := sorted(name for name in names if facts.get(name) != self.tables.get(name)):
            raise BackupError(
                f"What came out of the backup differs from what was backed up, in {', '.join(different[:5])}. "
                "Nothing was changed: take another backup."
            )


def first_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[0]
