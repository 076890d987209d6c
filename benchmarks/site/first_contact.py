"""From an empty environment to the first page. The goal: no slower than potato, and twice as fast as Label Studio.

Each gets an environment of its own, `pip install` without a cache, and its own command to start; the clock runs from
the installation to the first page that answers. Ours is the wheel of this repository, started with the demo study; the
newest Label Studio and potato come from the registry. Sizes are those of the environments after the installation.
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
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import Measurement
from benchmarks.site._ports import free_port

ROOT = Path(__file__).resolve().parents[2]
POTATO = ROOT / "benchmarks" / "peers" / "potato"
LONGEST = 900  # seconds


@dataclass(frozen=True)
class Contact:
    """One program's way from nothing to the first page."""

    install: float
    """Seconds of `pip install`."""
    start: float
    """Seconds from the command to the first page."""
    megabytes: int

    @property
    def seconds(self) -> float:
        return self.install + self.start

    def __str__(self) -> str:
        return f"{self.seconds:.0f} s ({self.install:.0f} + {self.start:.0f}), {self.megabytes} MB"


def run() -> Measurement:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        contacts = {
            "ours": _contact(folder / "ours", str(_wheel(folder)), "pyramidion demo --home {home} --port {port}"),
            "potato": _contact(folder / "potato", "potato-annotation", "potato start config.yaml -p {port}"),
            "Label Studio": _contact(
                folder / "label-studio",
                "label-studio",
                "label-studio start --no-browser --data-dir {home} --port {port}",
            ),
        }
    ours, potato, label_studio = (contacts[name].seconds for name in ("ours", "potato", "Label Studio"))
    note = "; ".join(f"{name} {contact}" for name, contact in contacts.items())
    return Measurement(
        ours, min(potato, label_studio / 2), claim=1, note=f"{note}; peer: potato or half of Label Studio"
    )


def _wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def _contact(folder: Path, requirement: str, command: str) -> Contact:
    """Install into an environment of its own, start, wait for the first page."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    started = time.monotonic()
    install = [
        folder / "bin" / "pip",
        "install",
        "--quiet",
        "--no-cache-dir",
        "--disable-pip-version-check",
        requirement,
    ]
    subprocess.run(install, check=True, stderr=subprocess.DEVNULL)
    installed = time.monotonic()
    megabytes = _megabytes(folder)
    home, port = folder / "home", free_port()
    shutil.copytree(POTATO, home)
    words = command.format(home=home, port=port).split()
    begun = time.monotonic()
    with _running([str(folder / "bin" / words[0]), *words[1:]], home) as process:
        _first_page(f"http://127.0.0.1:{port}/", process)
        return Contact(installed - started, time.monotonic() - begun, megabytes)


def _megabytes(folder: Path) -> int:
    return round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20)


@contextmanager
def _running(words: list[str], home: Path) -> Iterator[subprocess.Popen[bytes]]:
    env = {**os.environ, "HOME": str(home), "LABEL_STUDIO_BASE_DATA_DIR": str(home)}
    silent = subprocess.DEVNULL
    process = subprocess.Popen(
        words, cwd=home, env=env, stdin=silent, stdout=silent, stderr=silent, start_new_session=True
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def _first_page(address: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args} ended with exit code {process.returncode}.")
        try:
            urllib.request.urlopen(address, timeout=60).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"{process.args} did not answer within {LONGEST} s.")
