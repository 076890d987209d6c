"""Copy the database into one file."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from deploy.backup import BackupError, make_backup


class Command(BaseCommand):
    help = "Copy the database, as it is at one moment, into one new file. The site may go on working."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file to write, e.g. /srv/backups/2026-11-16.tar")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = make_backup(options["file"])
        except BackupError as error:
            raise CommandError(str(error), returncode=2) from None
        size = options["file"].stat().st_size / 1e6
        self.stdout.write(
            f"{options['file']}: {len(manifest.tables)} tables, {manifest.rows:,} rows, {size:.1f} MB. "
            "It holds workers' own ids: keep it as safe as the database, and SECRET_KEY apart from it."
        )
