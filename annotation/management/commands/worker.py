"""Do the background work of the site."""

import logging
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError, connection
from django_tasks_db.management.commands.db_worker import Command as DatabaseWorker

from annotation.crowds.console.ending import start_waiting_closes
from annotation.crowds.console.schedule import start_due_work
from annotation.jobs import revive_lost_jobs

LOOK = 30  # seconds between two looks for jobs that were lost with their worker
logger = logging.getLogger(__name__)


class Command(DatabaseWorker):
    help = "Do the site's background work (BACKGROUND=worker). Any number may run, on any number of hosts."

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.BACKGROUND != "worker":
            raise CommandError(
                f"BACKGROUND is {settings.BACKGROUND!r}: the site does its background work at once, and nothing waits "
                "for a worker. Set BACKGROUND=worker to hand it over.",
                returncode=2,
            )
        threading.Thread(target=look_after_jobs, daemon=True).start()
        super().handle(*args, **options)


def look_after_jobs() -> None:
    """Now and then, hand out again what was lost, close batches whose close had to wait, and start what is due."""
    pause = threading.Event()
    while not pause.wait(LOOK):
        try:
            if n_revived := revive_lost_jobs():
                logger.warning("%s lost jobs are handed out again", n_revived)
            start_waiting_closes()
            start_due_work()
        except DatabaseError:
            logger.warning("the database did not answer; lost jobs are looked for again in %s seconds", LOOK)
        connection.close_if_unusable_or_obsolete()
