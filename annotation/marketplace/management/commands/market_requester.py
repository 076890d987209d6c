"""Make a requester with a key, from the command line."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from annotation.marketplace import people
from annotation.marketplace.books import books, money
from annotation.marketplace.errors import Refused
from annotation.marketplace.models import Requester
from annotation.marketplace.people import access_keys


class Command(BaseCommand):
    help = "Make a requester (or find the one of this name) and issue a key, which is shown once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--top-up", metavar="DOLLARS", help="put so much in, such as 100.00")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with transaction.atomic():
                existing = Requester.objects.filter(name=options["name"]).first()
                requester = existing or people.make_requester(options["name"])
                if options["top_up"]:
                    books.top_up(requester, money.cents(options["top_up"]), "from the command line")
                key = access_keys.issue_key(requester, "from the command line")
        except Refused as refusal:
            raise CommandError(f"{refusal} Nothing was made.", returncode=2) from None
        self.stdout.write(f"AWS_ACCESS_KEY_ID={key.key_id}")
        self.stdout.write(f"AWS_SECRET_ACCESS_KEY={key.secret}")
