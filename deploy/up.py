"""Starts the processes of one machine, keeps them running, and ends them together: `python -m deploy.up`.

One that ends by itself is started again after a pause, which grows while it keeps ending; the others go on. Ctrl-C or a
TERM signal ends all.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from types import FrameType

from deploy.environment import BASE_DIR, SITE_BIND, Environment, local_address
from deploy.setup.start import begin_demo, bring_the_rest, commands, refusal

PYTHON = sys.executable
PROCESSES = {
    "site": [PYTHON, "-m", "gunicorn", "--config", "deploy/gunicorn.py", "deploy.wsgi"],
    "worker": [PYTHON, "manage.py", "worker", "--interval", "0.5"],
    "marketplace": [PYTHON, "manage.py", "marketplace"],
}
GRACE = 20  # seconds for each to finish what it has begun
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before a process is started again: the first time, and at most. In between it doubles each time."""
STEADY = 120.0  # who has run for so many seconds begins anew with the first pause


class Supervised:
    """One process that is started again whenever it ends."""

    def __init__(self, name: str, command: list[str], env: Mapping[str, str]) -> None:
        self.name, self.command, self.env = name, command, env
        self.pause, self.start_at = FIRST_PAUSE, 0.0
        self.start()

    def start(self) -> None:
        # Each gets a group of its own: Ctrl-C reaches our own process only, which then ends them in good order.
        self.process: subprocess.Popen[bytes] | None = subprocess.Popen(self.command, process_group=0, env=self.env)
        self.started_at = time.monotonic()

    def look_after(self) -> None:
        """Note that it ended, with the time of its next start; start it when that time has come."""
        if self.process is not None and self.process.poll() is not None:
            if time.monotonic() - self.started_at > STEADY:
                self.pause = FIRST_PAUSE
            code, self.process = self.process.returncode, None
            self.start_at = time.monotonic() + self.pause
            say(f"The {self.name} ended by itself (exit code {code}); it starts again in {self.pause:g} s.")
            self.pause = min(2 * self.pause, LONGEST_PAUSE)
        elif self.process is None and time.monotonic() >= self.start_at:
            self.start()

    def ask_to_end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def end(self) -> None:
        if self.process is None:
            return
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def main() -> int:
    # gunicorn knows the environment alone, so what stands in var/env is put there.
    environment = Environment.current()
    if problem := refusal(environment):
        print(problem, file=sys.stderr)
        return 2
    print(f"== Pyramidion: {local_address(environment.text('BIND', SITE_BIND))}   (stop with Ctrl-C)", flush=True)
    env = dict(environment.values)
    os.chdir(BASE_DIR)
    stopping = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    running = [Supervised(name, command, env) for name, command in commands(environment, PROCESSES).items()]
    behind = [process for process in (bring_the_rest(environment), begin_demo(environment)) if process is not None]
    while not stopping:
        for supervised in running:
            supervised.look_after()
        time.sleep(0.2)
    for process in behind:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)  # the next start goes on
    for supervised in running:
        supervised.ask_to_end()
    for supervised in running:
        supervised.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
