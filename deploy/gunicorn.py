"""How gunicorn serves the site: `gunicorn --config deploy/gunicorn.py deploy.wsgi`."""

import os

bind = os.environ.get("BIND") or "127.0.0.1:8000"
workers = int(os.environ.get("WEB_PROCESSES", "2"))
threads = int(os.environ.get("WEB_THREADS", "4"))
worker_class = "gthread"
timeout = 60
graceful_timeout = 20
keepalive = 5
control_socket_disable = True  # nothing here needs gunicorn to listen on a socket file
