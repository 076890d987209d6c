"""Import a folder of tables as a study."""

import sys
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.tables import TableError
from annotation.errors import Refused
from annotation.transfer.importer import Imported, import_study


def scale(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split("-"))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a scale: write LOW-HIGH, such as 1-5") from None
    if low >= high:
        raise ArgumentTypeError(f"{text!r} is not a scale: its low end must lie below its high end")
    return low, high


class Command(BaseCommand):
    help = "Import a folder (documents.*, summaries.*, and where present scus.*, judgments.*, scores.*) as a study."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--name", required=True, help="the study's name")
        parser.add_argument("--dry-run", action="store_true", help="check and report, change nothing")
        parser.add_argument("--scale", type=scale, default=(1.0, 5.0), help="of Likert judgments, default 1-5")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result = import_study(
                options["folder"],
                options["name"],
                dry_run=options["dry_run"],
                scale=options["scale"],
                progress=self.progress,
            )
        except (TableError, Refused) as error:
            raise CommandError(f"{error}\nNothing was imported.", returncode=2) from None
        self.report(result, options["dry_run"])

    def progress(self, label: str, done: int, total: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{label}: {done:,} of {total:,}   ", ending="\n" if done == total else "")
        elif done == total or done % 20_000 == 0:
            self.stderr.write(f"{label}: {done:,} of {total:,}")

    def report(self, result: Imported, dry_run: bool) -> None:
        for name, count in result.counts.items():
            self.stdout.write(f"{count:>10,} {name}")
        for sentence in result.findings:
            self.stdout.write(f"Look at this: {sentence}")
        if dry_run:
            self.stdout.write("Dry run: nothing was changed.")
        elif result.changed:
            self.stdout.write(f"Imported as study {result.study!r}.")
        else:
            self.stdout.write(f"Study {result.study!r} holds this folder already. Nothing was changed.")
