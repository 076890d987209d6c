"""Add a system's summaries from line-aligned files, matched to the study's documents by their references."""

from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.common.errors import Refused
from annotation.transfer.importing.aligned_files import THRESHOLD, report_lines
from annotation.transfer.importing.system_outputs import import_outputs

from .export_study import named_study


def overlap(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.5 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} is not an overlap between 0.5 and 1")
    return value


class Command(BaseCommand):
    help = "Match a system's output lines to documents by their references. Without --yes nothing is written."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's name")
        parser.add_argument("--outputs", type=Path, required=True, help="a summary per line")
        parser.add_argument("--refs", type=Path, required=True, help="the reference of each of those lines")
        parser.add_argument("--system", required=True, help="whose summaries they are")
        parser.add_argument("--group", default="", help="the system's group, such as abs or ext")
        parser.add_argument(
            "--threshold", type=overlap, default=THRESHOLD, help="least overlap of words for a fuzzy match"
        )
        parser.add_argument("--yes", action="store_true", help="write what was matched")

    def handle(self, *args: Any, **options: Any) -> None:
        study = named_study(options["study"])
        keywords = {name: options[name] for name in ("group", "threshold")}
        try:
            result = import_outputs(
                study, options["outputs"], options["refs"], options["system"], write=options["yes"], **keywords
            )
        except Refused as refusal:
            raise CommandError(str(refusal), returncode=2) from None
        for line in report_lines(result.alignment):
            self.stdout.write(line)
        already_stored = f"; {result.n_known:,} were there already" if result.n_known else ""
        if options["yes"]:
            self.stdout.write(f"{result.n_written:,} summaries by {options['system']!r} are stored{already_stored}.")
        else:
            self.stdout.write(f"Dry run: {result.n_written:,} summaries would be stored with --yes{already_stored}.")
