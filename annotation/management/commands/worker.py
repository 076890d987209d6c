"""Do the background work of the site."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django_tasks_db.management.commands.db_worker import Command as DatabaseWorker


class Command(DatabaseWorker):
    help = "Do the site's background work (BACKGROUND=worker). Any number may run, on any number of hosts."

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.BACKGROUND != "worker":
            raise CommandError(
                f"BACKGROUND is {settings.BACKGROUND!r}: the site does its background work at once, and nothing waits "
                "for a worker. Set BACKGROUND=worker to hand it over.",
                returncode=2,
            )
        super().handle(*args, **options)
