"""Quote a batch for a crowd, and put it up."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.common.errors import Refused
from annotation.common.money import money, to_cents
from annotation.crowds.launch.command import quote_lines, read_arguments
from annotation.crowds.launch.publish import publish
from annotation.crowds.launch.quote import quote
from annotation.crowds.ledger import set_budget
from annotation.crowds.lookup import MARKETS, batch_named, study_named
from annotation.crowds.terms import QUESTIONS, set_terms
from annotation.crowds.terms.presets import PRESETS


def _people() -> list[str]:
    return sorted(name for name, market in MARKETS.items() if market.of_people)


class Command(BaseCommand):
    help = "Show what a batch costs on a crowd; with --yes put it up. Again with --yes goes on where it stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="its name, or its word in addresses")
        parser.add_argument("batch", help="its name or number")
        parser.add_argument("--crowd", choices=_people(), help="default: the batch's own")
        parser.add_argument("--preset", choices=sorted(PRESETS), help="begin with the terms of a published study")
        parser.add_argument("--reward", metavar="AMOUNT", help="per place, such as 0.15")
        parser.add_argument("--reward-group", metavar="GROUP=AMOUNT", action="append", default=[])
        for name in ("title", "description", "keywords"):
            parser.add_argument(f"--{name}", help="as workers see it")
        parser.add_argument("--question", choices=QUESTIONS, help="external: on our site (default); html: a form")
        parser.add_argument("--minutes", type=float, help="what a task takes, by estimate")
        parser.add_argument("--duration", type=float, metavar="MINUTES", help="how long a worker may take")
        parser.add_argument("--lifetime", type=float, metavar="HOURS", help="how long it stands on the market")
        parser.add_argument("--auto-approve", type=float, metavar="DAYS", help="when the market approves by itself")
        parser.add_argument("--exclude", metavar="BATCH", action="append", default=[], help="whose workers may not")
        parser.add_argument("--tasks", type=int, metavar="N", help="tasks per participant (Prolific)")
        parser.add_argument("--budget", metavar="AMOUNT", help="of the whole study; the database keeps it")
        parser.add_argument("--yes", action="store_true", help="put it up; otherwise only the price is shown")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = study_named(options["study"])
            batch = batch_named(study, options["batch"])
            terms, crowd = read_arguments(batch, options), options["crowd"] or batch.crowd
            if options["budget"]:
                set_budget(study, to_cents(options["budget"]))
            for line in quote_lines(quote(batch, terms, crowd), study.currency):
                self.stdout.write(line)
            if not options["yes"]:
                self.stdout.write("Nothing was put up. To do it, add --yes.")
                return
            set_terms(batch, terms, crowd)
            result = publish(batch)
        except (Refused, ValueError) as refusal:
            raise CommandError(str(refusal), returncode=2) from None
        self.stdout.write(f"{result.postings} postings were put up ({money(result.cents)} {study.currency} promised), ")
        self.stdout.write(f"{result.already} stood there before.")
