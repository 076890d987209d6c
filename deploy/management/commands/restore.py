"""Put a backup back."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from deploy.backup import BackupError, restore_backup


class Command(BaseCommand):
    help = "Put a backup into the database that DATABASE_URL names, and compare every table with what was backed up."
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="lose what the database holds now")
        parser.add_argument(
            "--unverified", action="store_true", help="take a backup that no key of this deployment has signed"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = restore_backup(options["file"], replace=options["replace"], unverified=options["unverified"])
        except BackupError as error:
            raise CommandError(str(error), returncode=2) from None
        self.stdout.write(
            f"Restored and compared: {len(manifest.tables)} tables, {manifest.rows:,} rows, as of {manifest.made_at}. "
            "If this program is newer than the backup, run manage.py migrate next."
        )
