"""Load the demo study and its accounts."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from annotation.common.demo_accounts import DEMO_ACCOUNTS, PASSWORD
from annotation.common.errors import Refused
from annotation.demo import STUDY, load_demo
from annotation.jobs.page_cache import make_pages
from annotation.models import Study


class Command(BaseCommand):
    help = "Load the demo study with an account for each role. In demo mode only; a second time changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with transaction.atomic():  # all or nothing, so that another start after a crash makes the rest
                is_new = load_demo()
                if is_new:
                    make_pages(Study.objects.get(name=STUDY))
        except Refused as refusal:
            raise CommandError(str(refusal), returncode=2) from None
        self.stdout.write("Demo studies loaded." if is_new else "The demo studies are here already.")
        self.stdout.write(f"Accounts (password {PASSWORD}): {', '.join(DEMO_ACCOUNTS)}")
