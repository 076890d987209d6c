"""Print or write a study's datasheet (HEDS) and its dataset card."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.tables import write_atomically
from annotation.transfer.datasheet import datasheet

from .export_study import named_study


class Command(BaseCommand):
    help = "A study's human-evaluation datasheet (HEDS), filled in as far as the platform knows."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's name")
        parser.add_argument("--out", type=Path, metavar="FOLDER", help="write both sheets there, as Markdown and HTML")
        parser.add_argument("--card", action="store_true", help="print the dataset card instead")

    def handle(self, *args: Any, **options: Any) -> None:
        sheet = datasheet(named_study(options["study"]))
        if options["out"] is None:
            self.stdout.write(sheet.markdown("card" if options["card"] else "datasheet"))
            return
        for stem in ("datasheet", "card"):
            for suffix in ("md", "html"):
                try:
                    write_atomically(options["out"] / f"{stem}.{suffix}", sheet.file(stem, suffix).encode())
                except (OSError, ValueError) as error:
                    raise CommandError(f"The folder can't be written: {error}", returncode=2) from None
        n_open = sheet.n_questions - sheet.n_answered
        self.stdout.write(
            f"Written to {options['out']}: {n_open} of {sheet.n_questions} questions wait for your answer."
        )
