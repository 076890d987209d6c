"""Do what is due by the clock, once."""

from typing import Any

from django.core.management.base import BaseCommand

from annotation.marketplace.hits.lifecycle import tick


class Command(BaseCommand):
    help = "Abandon, auto-approve, expire, dispose and notify what is due. The web processes do it by themselves, too."

    def handle(self, *args: Any, **options: Any) -> None:
        ticked = tick()
        self.stdout.write(
            f"{ticked.hits} HITs, {ticked.lapsed} tests that ran out, {ticked.delivered} notices delivered."
        )
