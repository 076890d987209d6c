"""Bring the ledger in line with the market."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.common.errors import Refused
from annotation.common.money import money
from annotation.crowds.lookup import study_named
from annotation.crowds.settle import settle
from annotation.crowds.settle.doubtful import decide_line


class Command(BaseCommand):
    help = "Compare the ledger with what the market lists, and finish what was begun. Safe at any time, and twice."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="its name, or its word in addresses")
        parser.add_argument("--paid", metavar="LINE", type=int, help="a doubtful line that was paid, by its number")
        parser.add_argument("--not-paid", metavar="LINE", type=int, help="a doubtful line that was not paid")
        parser.add_argument("--note", default="", help="how you know")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = study_named(options["study"])
            for name, is_paid in (("paid", True), ("not_paid", False)):
                if options[name] is not None:
                    decide_line(study, options[name], is_paid, None, options["note"])
            result = settle(study)
        except Refused as refusal:
            raise CommandError(str(refusal), returncode=2) from None
        self.stdout.write(f"{result.checked:,} open lines: {result.finished:,} settled, {result.failed:,} refused.")
        for entry in result.doubtful:
            self.stdout.write(f"In doubt: line {entry.pk}, {money(entry.paid_cents)} {study.currency}. {entry.note}")
        for difference in result.differences:
            self.stdout.write(f"Look at this: {difference}")
        if result.unreachable:
            raise CommandError(" ".join(result.unreachable), returncode=1)
