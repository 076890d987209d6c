"""The clock's work, done in the background of each web process."""

import logging
import threading
import time

from django.conf import settings
from django.db import close_old_connections

from annotation.marketplace.hits.lifecycle import tick
from annotation.marketplace.hits.reviews import review_waiting

log = logging.getLogger(__name__)


def start_ticking() -> threading.Thread:
    """A daemon thread that ticks every MARKETPLACE_TICK_SECONDS."""
    thread = threading.Thread(target=_tick_forever, name="market-tick", daemon=True)
    thread.start()
    return thread


def _tick_forever() -> None:
    while True:
        time.sleep(settings.MARKETPLACE_TICK_SECONDS)
        tick_once()


def tick_once() -> None:
    """One tick. What goes wrong is logged; the next tick tries again."""
    close_old_connections()
    try:
        tick()
        review_waiting()
    except Exception:
        log.exception("A tick failed; the next one tries again")
    finally:
        close_old_connections()
