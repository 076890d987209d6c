"""Add a system's summaries from line-aligned files, matched to the study's documents by their references."""

from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.tables import TableError
from annotation.common.errors import Refused
from annotation.models import Study
from annotation.transfer.importing.aligned_files import THRESHOLD, report_lines
from annotation.transfer.importing.generated import import_generated
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


def quantiles(text: str) -> tuple[float, float]:
    try:
        low, high = (float(end) / 100 for end in text.split("-"))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a range: write LOW-HIGH in %, such as 80-100") from None
    return low, high


class Command(BaseCommand):
    help = "Match a system's output lines to documents by their references. Without --yes nothing is written."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's name")
        parser.add_argument("--outputs", type=Path, help="a summary per line")
        parser.add_argument("--refs", type=Path, help="the reference of each of those lines")
        parser.add_argument("--summaries", type=Path, help="instead: a summaries table, such as generate writes")
        parser.add_argument(
            "--range", type=quantiles, default=(0.8, 1.0), help="of its fitness within a document, default 80-100"
        )
        parser.add_argument("--each", type=int, default=1, help="so many summaries of each document, default 1")
        parser.add_argument("--system", required=True, help="whose summaries they are")
        parser.add_argument("--group", default="", help="the system's group, such as abs or ext")
        parser.add_argument(
            "--threshold", type=overlap, default=THRESHOLD, help="least overlap of words for a fuzzy match"
        )
        parser.add_argument("--yes", action="store_true", help="write what was matched")

    def handle(self, *args: Any, **options: Any) -> None:
        study = named_study(options["study"])
        if bool(options["summaries"]) == bool(options["outputs"] and options["refs"]):
            raise CommandError("Give --outputs with --refs, or --summaries. Nothing was imported.", returncode=2)
        if options["summaries"]:
            self.import_table(study, options)
        else:
            self.import_lines(study, options)

    def import_table(self, study: Study, options: dict[str, Any]) -> None:
        low, high = options["range"]
        keywords = {name: options[name] for name in ("each", "group")}
        try:
            result = import_generated(
                study, options["summaries"], options["system"], low=low, high=high, write=options["yes"], **keywords
            )
        except (Refused, TableError) as refusal:
            raise CommandError(str(refusal), returncode=2) from None
        for system, count in result.systems.items():
            self.stdout.write(f"{count:>10,} summaries by {system!r}")
        self.stdout.write(f"{result.left_out:>10,} summaries of the file left out")
        self.stdout.write("They are stored." if options["yes"] else "Dry run: nothing is stored without --yes.")

    def import_lines(self, study: Study, options: dict[str, Any]) -> None:
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
