"""Write a study back into a folder of tables."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import Study
from annotation.transfer.exporter import export_study


class Command(BaseCommand):
    help = "Write a study's tables into a folder. Workers appear by pseudonym."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--name", required=True, help="the study's name")
        parser.add_argument(
            "--raw-workers",
            action="store_true",
            help="admins only: the crowd's own worker ids instead of pseudonyms",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(name=options["name"]).first()
        if study is None:
            names = ", ".join(repr(name) for name in Study.objects.values_list("name", flat=True)[:20]) or "none yet"
            raise CommandError(f"There is no study named {options['name']!r}. Studies here: {names}.", returncode=2)
        try:
            counts = export_study(study, options["folder"], raw_workers=options["raw_workers"])
        except OSError as error:
            raise CommandError(f"The folder can't be written: {error}. The study is unchanged.", returncode=2) from None
        for kind, count in counts.items():
            self.stdout.write(f"{count:>10,} {kind}")
        self.stdout.write(f"Exported to {options['folder']}.")
