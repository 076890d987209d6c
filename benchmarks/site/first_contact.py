"""From an empty environment to the first page. The goal: no slower than potato, and twice as fast as Label Studio.

Each gets an environment of its own, `pip install` without a cache, and its own command to start; the clock runs from
the installation to the first page that answers and is the program's own. Ours is the wheel of this repository, started
as the others are, without studies (`pyramidion start`; how long `pyramidion demo` takes, which first loads and works
out two studies, is told beside it). The newest Label Studio and potato come from the registry, and so does everything
that any of the three needs: packages that lie on this machine are not used (PIP_INDEX_URL names a mirror for all). They
take turns, and of each its fastest turn counts. Sizes are those of the environments after the installation; what ours
brings behind, while it serves, is not in them.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks import Measurement
from benchmarks.site._ports import free_port

ROOT = Path(__file__).resolve().parents[2]
POTATO = ROOT / "benchmarks" / "peers" / "potato"
LONGEST = 900  # seconds
TURNS = 2
LOCAL = ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PYTHONDONTWRITEBYTECODE")
"""What a machine may be told that spares one program the network and not another, or slows down every start."""


@dataclass(frozen=True)
class Program:
    """What is installed, how it is started, and a word of its first page."""

    name: str
    distribution: str
    command: str
    word: str
    demo: str = ""
    """How it is started with something to look at, where it can be."""


OURS = Program(
    "ours",
    "pyramidion-eval",
    "pyramidion start --home {home} --port {port}",
    "Pyramidion",
    demo="pyramidion demo --home {home}-demo --port {port}",
)
PEERS = (
    Program("potato", "potato-annotation", "potato start config.yaml -p {port}", "First contact"),
    Program(
        "Label Studio",
        "label-studio",
        "label-studio start --no-browser --data-dir {home} --port {port}",
        "Label Studio",
    ),
)


@dataclass(frozen=True)
class Contact:
    """One program's way from nothing to the first page."""

    version: str
    install: float
    """Seconds of `pip install`."""
    start: float
    """Seconds from the command to the first page."""
    megabytes: int
    demo: float = 0
    """Seconds from the command that loads a demo to its first page."""

    @property
    def seconds(self) -> float:
        return self.install + self.start

    def __str__(self) -> str:
        text = f"{self.version} {self.seconds:.0f} s ({self.install:.0f} + {self.start:.0f}), {self.megabytes} MB"
        return f"{text}, with its demo {self.install + self.demo:.0f} s" if self.demo else text


def run() -> Measurement:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = _wheel(folder)
        contacts: dict[str, list[Contact]] = {}
        for turn in range(TURNS):
            for program in (OURS, *PEERS):
                requirement = str(wheel) if program is OURS else program.distribution
                contact = _contact(folder / f"{program.distribution}-{turn}", program, requirement)
                contacts.setdefault(program.name, []).append(contact)
    best = {name: min(turns, key=lambda contact: contact.seconds) for name, turns in contacts.items()}
    note = "; ".join(f"{name} {contact}" for name, contact in best.items())
    limit = min(best["potato"].seconds, best["Label Studio"].seconds / 2)
    return Measurement(best["ours"].seconds, limit, claim=1, note=f"{note}; peer: potato or half of Label Studio")


def _wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def _contact(folder: Path, program: Program, requirement: str) -> Contact:
    """Install into an environment of its own, start, wait for the first page; the environment goes afterwards."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    env = {name: value for name, value in os.environ.items() if name not in LOCAL}
    env |= {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "HOME": str(folder)}
    started = time.monotonic()
    install = [folder / "bin" / "pip", "install", "--quiet", "--no-cache-dir", requirement]
    subprocess.run(install, env=env, check=True, stderr=subprocess.DEVNULL)
    installed = time.monotonic()
    megabytes, version = _megabytes(folder), _version(folder, program.distribution)
    shutil.copytree(POTATO, folder / "task")
    start = _start(folder, program.command, program.word, env)
    demo = _start(folder, program.demo, program.word, env) if program.demo else 0
    shutil.rmtree(folder)
    return Contact(version, installed - started, start, megabytes, demo)


def _start(folder: Path, command: str, word: str, env: dict[str, str]) -> float:
    """Seconds from a command to its first page."""
    port = free_port()
    words = command.format(home=folder / "home", port=port).split()
    begun = time.monotonic()
    with _running([str(folder / "bin" / words[0]), *words[1:]], folder / "task", env) as process:
        _first_page(f"http://127.0.0.1:{port}/", word, process)
        return time.monotonic() - begun


def _megabytes(folder: Path) -> int:
    return round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20)


def _version(folder: Path, distribution: str) -> str:
    code = f"from importlib.metadata import version; print(version({distribution!r}))"
    return subprocess.run(
        [folder / "bin" / "python", "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


@contextmanager
def _running(words: list[str], folder: Path, env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    silent = subprocess.DEVNULL
    process = subprocess.Popen(
        words, cwd=folder, env=env, stdin=silent, stdout=silent, stderr=silent, start_new_session=True
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # whom it left behind must not run beside the next


def _first_page(address: str, word: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args} ended with exit code {process.returncode}.")
        try:
            page = urllib.request.urlopen(address, timeout=60).read().decode("utf-8", "replace")
        except OSError:
            time.sleep(0.1)
        else:
            if word not in page:
                raise RuntimeError(f"{process.args} answers with a page without the word {word!r}: {page[:300]!r}")
            return
    raise RuntimeError(f"{process.args} did not answer within {LONGEST} s.")
