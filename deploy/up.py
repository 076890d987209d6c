"""Starts the processes of one machine and ends them together: `python -m deploy.up`.

Ctrl-C or a TERM signal ends all; when one ends by itself, so do the others.
"""

import os
import signal
import subprocess
import sys
import time
from types import FrameType

from deploy.environment import Environment

PYTHON = sys.executable
PROCESSES = {
    "site": [PYTHON, "-m", "gunicorn", "--config", "deploy/gunicorn.py", "deploy.wsgi"],
    "worker": [PYTHON, "manage.py", "worker", "--interval", "0.5"],
    "marketplace": [PYTHON, "manage.py", "marketplace"],
}
GRACE = 20  # seconds for each to finish what it has begun


def main() -> int:
    # Each gets a group of its own: Ctrl-C reaches this process only, which then ends them in good order.
    # gunicorn knows the environment alone, so what stands in var/env is put there.
    env = dict(Environment.current().values)
    running = {name: subprocess.Popen(command, process_group=0, env=env) for name, command in PROCESSES.items()}
    stopping = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    while not stopping and all(process.poll() is None for process in running.values()):
        time.sleep(0.2)
    ended = {name: process.returncode for name, process in running.items() if process.poll() is not None}
    for process in running.values():
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    for process in running.values():
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
    for name, code in ended.items():
        print(f"The {name} ended by itself (exit code {code}); everything was stopped.", file=sys.stderr)
    return 1 if ended else 0


if __name__ == "__main__":
    sys.exit(main())
