"""Load the marketplace's demo accounts."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.common.demo_accounts import PASSWORD
from annotation.marketplace.demo import load_demo
from annotation.marketplace.errors import Refused
from annotation.marketplace.people.access_keys import IssuedKey


class Command(BaseCommand):
    help = "Make an account for each role and a key for boto3, in demo mode only. A second time changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--key-file", type=Path, help="leave the key there, for a site on this machine to use")
        parser.add_argument("--if-demo", action="store_true", help="outside the demo, do nothing instead of failing")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["if_demo"] and not settings.DEMO:
            return
        try:
            demo = load_demo()
        except Refused as refusal:
            raise CommandError(str(refusal), returncode=2) from None
        if options["key_file"]:
            _leave_key(options["key_file"], demo.key)
        self.stdout.write(f"Accounts (password {PASSWORD}): {', '.join(demo.accounts)}")
        self.stdout.write(f"AWS_ACCESS_KEY_ID={demo.key.key_id}")
        self.stdout.write(f"AWS_SECRET_ACCESS_KEY={demo.key.secret}")


def _leave_key(file: Path, key: IssuedKey) -> None:
    """Two words that nobody else on this machine can read."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_text(f"{key.key_id} {key.secret}\n", encoding="ascii")
    draft.replace(file)
