"""What is looked at before the processes are started, and what comes behind while they serve.

`python -m deploy.setup.start COMMAND …` waits until the site's libraries are here, and becomes the command.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from analysis.lazy import how_to_bring
from annotation.common import libraries
from deploy.environment import BASE_DIR, HOME, MARKETPLACE_BIND, SITE_BIND, Environment

ADDRESSES = {
    "BIND": ("site", SITE_BIND),
    "MARKETPLACE_BIND": ("marketplace", MARKETPLACE_BIND),
}
NEEDS = {"marketplace": "botocore"}
"""Libraries of the part `site` without which a process can't start."""
BEHIND = ("site", "models")
"""The parts of the libraries that may come while the site serves already."""


def refusal(env: Environment) -> str:
    """Why nothing can be started, in one sentence; empty when it can."""
    for setting, (name, usual) in ADDRESSES.items():
        address = env.text(setting, usual)
        host, _, port = address.rpartition(":")
        if port.isdigit() and not _is_free(host, int(port)):
            return (
                f"The {name} can't listen on {address}: another program does. Stop that one, or choose another port: "
                f"{setting}={host}:{int(port) + 100}."
            )
    if not os.access(HOME, os.W_OK):
        return f"Nothing can be written to {HOME}. Give another folder (PYRAMIDION_HOME) or make it writable."
    return ""


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as gunicorn does
        try:
            probe.bind((host or "127.0.0.1", port))
        except OSError:
            return False
    return True


def commands(env: Environment, processes: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The processes' commands. While libraries are still on their way, all but the site wait for them; where none may
    come, what can't do without stays away."""
    if not libraries.missing("site"):
        return dict(processes)
    if not may_install(env):
        return {name: words for name, words in processes.items() if not _stays_away(name)}
    wait = [sys.executable, "-m", "deploy.setup.start"]
    return {name: words if name == "site" else [*wait, *words] for name, words in processes.items()}


def _stays_away(name: str) -> bool:
    """Whether a process lacks a library without which it would end again and again; then a sentence says so."""
    library = NEEDS.get(name, "")
    if not library or find_spec(library):
        return False
    print(
        f"The {name} is not started: it needs {library}, and INSTALL_LIBRARIES is off. "
        f"`{how_to_bring('site')}` brings it; the rest runs without.",
        file=sys.stderr,
        flush=True,
    )
    return True


def may_install(env: Environment) -> bool:
    return env.flag("INSTALL_LIBRARIES", default=env.flag("DEMO"))


def bring_the_rest(env: Environment) -> subprocess.Popen[bytes] | None:
    """Starts to install what is still missing, at the lowest priority; None when nothing is or nobody allowed it."""
    parts = [part for part in BEHIND if libraries.missing(part)] if may_install(env) else []
    if not parts:
        return None
    print(f"== In the background: libraries for {' and '.join(libraries.PARTS[part] for part in parts)}", flush=True)
    command = ["nice", "-n", "19", sys.executable, "-m", "annotation.common.libraries", "--quiet", *parts]
    return subprocess.Popen(command, cwd=BASE_DIR, process_group=0)


def begin_demo(env: Environment) -> subprocess.Popen[bytes] | None:
    """Starts the crowd that works on the demo's batch on the marketplace, once it answers; None outside the demo."""
    if not env.flag("DEMO"):
        return None
    command = [sys.executable, "manage.py", "demo_crowd", "--wait", "600"]
    waiting = ["nice", "-n", "19", sys.executable, "-m", "deploy.setup.start", *command]
    with (HOME / "demo-crowd.log").open("wb") as log:
        return subprocess.Popen(waiting, cwd=BASE_DIR, process_group=0, stdout=log, stderr=log)


def become(words: Sequence[str]) -> None:
    """Wait until the site's libraries are here, then be the command. Does not return."""
    while libraries.missing("site"):
        time.sleep(1)
    os.execv(words[0], list(words))  # noqa: S606  no shell, and every word is ours


if __name__ == "__main__":
    become(sys.argv[1:])
