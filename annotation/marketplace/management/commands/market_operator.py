"""Make an operator of the marketplace."""

import getpass
import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.marketplace.errors import Refused
from annotation.marketplace.people import make_account, record


class Command(BaseCommand):
    help = "Make an account that runs the marketplace. The password is asked for, or read from OPERATOR_PASSWORD."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        password = os.environ.get("OPERATOR_PASSWORD") or getpass.getpass("Password: ")
        try:
            account = make_account(options["name"], password, is_operator=True)
        except Refused as refusal:
            raise CommandError(f"{refusal} Nothing was made.", returncode=2) from None
        record(None, "operator made", account.username)
        self.stdout.write(f"{account.username} can sign in and run the marketplace.")
