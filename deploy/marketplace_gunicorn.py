"""How gunicorn serves the marketplace: `gunicorn --config deploy/marketplace_gunicorn.py deploy.marketplace_wsgi`."""

import os
from typing import Any

bind = os.environ.get("MARKETPLACE_BIND") or "127.0.0.1:8001"
workers = int(os.environ.get("MARKETPLACE_WEB_PROCESSES", "2"))
threads = int(os.environ.get("WEB_THREADS", "4"))
worker_class = "gthread"
timeout = 60
graceful_timeout = 20
keepalive = 5
control_socket_disable = True  # else this gunicorn and the site's would share one


def post_worker_init(worker: Any) -> None:
    """Each process does what is due by the clock now and then; several at once don't disturb each other."""
    from annotation.marketplace.ticking import start_ticking

    start_ticking()
