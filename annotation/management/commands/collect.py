"""Fetch what workers handed in."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.common.errors import Refused
from annotation.crowds.collect import collect
from annotation.crowds.lookup import batch_named, study_named


class Command(BaseCommand):
    help = "Fetch submissions from the market: of one batch, or of all that stand on one. Safe to repeat."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="its name, or its word in addresses")
        parser.add_argument("batch", nargs="?", help="its name or number; default: all on a market")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = study_named(options["study"])
            batches = [batch_named(study, options["batch"])] if options["batch"] else []
            for batch in batches or study.batches.filter(postings__isnull=False).distinct().order_by("pk"):
                result = collect(batch)
                self.stdout.write(
                    f"{batch}: {result.submissions:,} submissions ({result.new:,} new), {result.confirmed:,} counted, "
                    f"{result.unmatched:,} without answers."
                )
                for problem in result.problems:
                    self.stdout.write(f"Look at this: {problem}")
        except Refused as refusal:
            raise CommandError(str(refusal), returncode=2) from None
