"""Load the marketplace's demo accounts."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.marketplace.demo import PASSWORD, load_demo
from annotation.marketplace.errors import Refused


class Command(BaseCommand):
    help = "Make an account for each role and a key for boto3, in demo mode only. A second time changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--if-demo", action="store_true", help="outside the demo, do nothing instead of failing")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["if_demo"] and not settings.DEMO:
            return
        try:
            demo = load_demo()
        except Refused as refusal:
            raise CommandError(str(refusal), returncode=2) from None
        self.stdout.write(f"Accounts (password {PASSWORD}): {', '.join(demo.accounts)}")
        self.stdout.write(f"AWS_ACCESS_KEY_ID={demo.key.key_id}")
        self.stdout.write(f"AWS_SECRET_ACCESS_KEY={demo.key.secret}")
