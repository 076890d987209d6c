"""Do what is due by the clock, once."""

from typing import Any

from django.core.management.base import BaseCommand

from annotation.marketplace.hits.lifecycle import tick


class Command(BaseCommand):
    help = "Abandon, auto-approve, expire, dispose and notify what is due. The web processes do it by themselves, too."

    def handle(self, *args: Any, **options: Any) -> None:
        done = tick()
        self.stdout.write(f"{done.hits} HITs, {done.lapsed} tests that ran out, {done.delivered} notices delivered.")
