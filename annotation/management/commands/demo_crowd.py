"""Let a simulated crowd begin the demo's batch on the marketplace."""

import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.common.errors import Refused
from annotation.crowds.lookup import market_for
from annotation.demo import MARKET_BATCH, SMALL
from annotation.jobs.page_cache import make_pages
from annotation.models import Batch
from annotation.rehearsal.beginning import begin
from annotation.rehearsal.browser import Browser


class Command(BaseCommand):
    help = "Publish the demo's batch on the marketplace and let a simulated crowd do half of it. In demo mode only."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--wait", type=int, default=0, help="seconds to wait for site and marketplace to answer")

    def handle(self, *args: Any, **options: Any) -> None:
        batch = Batch.objects.filter(
            study__name=SMALL, name=MARKET_BATCH, study__memberships__user__is_demo=True
        ).first()
        if not settings.DEMO or batch is None:
            raise CommandError("The demo's studies are not here: make run loads them.", returncode=2)
        if batch.postings.exists():
            self.stdout.write("The demo's batch stands on the marketplace already.")
            return
        try:
            wait_for_servers(options["wait"])
            begin(batch, tell=self.stdout.write)
        except Refused as refusal:
            raise CommandError(str(refusal), returncode=1) from None
        make_pages(batch.study)


def wait_for_servers(seconds: int) -> None:
    """Until both answer; Refused, with the last reason, when they don't."""
    end = time.monotonic() + seconds
    while True:
        try:
            Browser().get(f"{settings.SITE_URL}/healthz")
            market_for("mturk").check()
            return
        except Refused:
            if time.monotonic() > end:
                raise
            time.sleep(1)
