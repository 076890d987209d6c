"""The libraries, which come in parts: which are here, and how the others are brought.

`python -m annotation.common.libraries start site` installs parts into the environment of this Python, by uv where that
is on the machine and by pip otherwise, with the same pins. It needs nothing but Python itself.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("PYRAMIDION_HOME") or ROOT / "var")
DISTRIBUTION = "pyramidion-eval"
PARTS = {
    "start": "the first page, judging and the statistics",
    "site": "charts, crowds, Parquet and PostgreSQL",
    "models": "the metrics with models",
    "cluster": "scoring on a cluster",
    "dev": "tests and checks",
}
PROBLEMS = {
    r"No space left on device|os error 28": "the disk is full; make room and start again",
    r"Temporary failure in name resolution|Failed to establish a new connection|NewConnectionError|Read timed out|"
    r"Max retries|Connection (reset|aborted|broken)|IncompleteRead|dns error|error sending request|Could not connect|"
    r"operation timed out": "the network did not answer; start again when it does, and it goes on where it stopped",
    r"No matching distribution|no wheels? with a matching|has no wheels": "a library has no build for this Python",
    r"Permission denied|Read-only file system": "the environment can't be written; make your own (python -m venv)",
    r"externally-managed": "this Python belongs to the system; make an environment (python -m venv) and install there",
}
FETCHED = ("Collecting ", "Processing ", " + ")
"""How a line of pip's or uv's begins that tells of one library."""
Progress = Callable[[int, int], None]


class NotInstalled(Exception):
    """A part that could not be brought: one sentence that says why, and what to do."""


@dataclass(frozen=True)
class State:
    """How a part stands on this machine."""

    part: str
    n_missing: int
    n_total: int
    coming: bool = False
    """Whether it is being installed at this moment."""
    n_fetched: int = 0
    problem: str = ""
    """Why the last attempt ended without it."""

    @property
    def ready(self) -> bool:
        return not self.n_missing


def pins(part: str) -> list[str]:
    """Every library of a part with its version: from the repository's file, or from what the package says of itself."""
    file = ROOT / f"requirements-{part}.txt"
    if file.is_file():
        lines = [line.partition("#")[0].strip() for line in file.read_text("utf-8").splitlines()]
        return [line for line in lines if "==" in line]
    facts = [line.partition(";") for line in metadata.requires(DISTRIBUTION) or []]
    wanted = f"extra=='{part}'" if part != "start" else ""
    return [pin.strip() for pin, _, marker in facts if marker.replace(" ", "").replace('"', "'") == wanted]


def missing(part: str) -> list[str]:
    """The pins that this environment doesn't meet."""
    return [pin for pin in pins(part) if _installed(re.split(r"[=\[]", pin)[0]) != pin.partition("==")[2]]


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name).partition("+")[0]  # torch 2.13.0+cpu is torch 2.13.0
    except metadata.PackageNotFoundError:
        return None


def state(part: str) -> State:
    """Whether a part is ready, on its way, or what kept it away."""
    n_missing = len(missing(part))
    if not n_missing:
        return State(part, 0, len(pins(part)))
    n_fetched, problem = _read_note(part)
    return State(part, n_missing, len(pins(part)), _is_locked(), n_fetched, problem)


def bring(part: str, progress: Progress = lambda *_: None) -> None:
    """Install what is missing of a part; NotInstalled says in one sentence why it can't be."""
    wanted = missing(part)
    if not wanted:
        return
    with _lock():
        _note(part, 0)
        try:
            _install(part, wanted, progress)
        except NotInstalled as problem:
            _note(part, 0, str(problem))
            raise
        except OSError as error:
            raise NotInstalled(_sentence(part, str(error))) from error


def command(file: str, limits: str) -> list[str]:
    """The fastest installer that is here, for the pins of a file; whatever else they need keeps to the limits."""
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable, "--constraint", limits, "--requirement", file]
    pip = [sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    # Modules are compiled when they are first used; most never are.
    return [*pip, "--progress-bar", "off", "--no-compile", "--constraint", limits, "--requirement", file]


def _install(part: str, wanted: Sequence[str], progress: Progress) -> None:
    """All pins of the part, so that both installers see the same list; what is here already is left alone. What they
    bring along keeps to the pins of the other parts."""
    temporary = partial(tempfile.NamedTemporaryFile, "w", suffix=".txt")
    with temporary() as file, temporary() as limits, (HOME / "install.log").open("w") as log:
        print(*pins(part), sep="\n", file=file, flush=True)
        print(*(re.sub(r"\[.*\]", "", pin) for part in PARTS for pin in pins(part)), sep="\n", file=limits, flush=True)
        words = {"env": _environment(), "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        n_fetched, lines = 0, []
        with subprocess.Popen(command(file.name, limits.name), **words) as process:  # type: ignore[call-overload]
            for line in process.stdout:
                log.write(line)
                lines.append(line)
                if line.startswith(FETCHED):
                    n_fetched = min(n_fetched + 1, len(wanted))
                    _note(part, n_fetched)
                    progress(n_fetched, len(wanted))
    if process.returncode:
        raise NotInstalled(_sentence(part, "".join(lines)))


def _environment() -> dict[str, str]:
    """uv is told what pip is configured with: a mirror, a folder of wheels."""
    names = {"find-links": "UV_FIND_LINKS", "index-url": "UV_DEFAULT_INDEX", "cert": "SSL_CERT_FILE"}
    result = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if shutil.which("uv"):
        listing = subprocess.run(
            [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
        ).stdout
        for name, value in re.findall(r"^(?:global|:env:)\.([\w-]+)='(.*)'$", listing, re.MULTILINE):
            if name in names:
                result.setdefault(names[name], value)
    return result


def _sentence(part: str, output: str) -> str:
    reason = next((reason for pattern, reason in PROBLEMS.items() if re.search(pattern, output)), None)
    if reason is None:
        last = [line.strip() for line in output.splitlines() if line.strip()] or ["the installer said nothing"]
        reason = f"{last[-1].removeprefix('ERROR: ').rstrip('.')}; {HOME / 'install.log'} has all of it"
    return f"The libraries for {PARTS[part]} are not installed: {reason}."


def _note(part: str, n_fetched: int, problem: str = "") -> None:
    draft = HOME / f"libraries-{part}.{os.getpid()}"
    draft.write_text(json.dumps({"n": n_fetched, "problem": problem}), encoding="utf-8")
    draft.replace(HOME / f"libraries-{part}.json")


def _read_note(part: str) -> tuple[int, str]:
    """How many libraries were fetched, and why the last attempt ended without the part."""
    try:
        note = json.loads((HOME / f"libraries-{part}.json").read_text("utf-8"))
        return int(note["n"]), str(note["problem"])
    except (OSError, ValueError, TypeError, KeyError):
        return 0, ""


@contextmanager
def _lock() -> Iterator[None]:
    """One installation at a time; the second waits for the first."""
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / "libraries.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _is_locked() -> bool:
    try:
        with (HOME / "libraries.lock").open("r") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def main(words: Sequence[str]) -> int:
    parts = [word for word in words if word != "--quiet"]
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not parts:
        print(f"Name parts of {', '.join(PARTS)}; there is no {', '.join(unknown) or 'part without a name'}.")
        return 2
    for part in parts:
        wanted = missing(part)
        if wanted and "--quiet" not in words:
            installer = "uv" if shutil.which("uv") else "pip"
            print(f"== Installing {len(wanted)} libraries for {PARTS[part]}, by {installer}", flush=True)
        try:
            bring(part)
        except NotInstalled as problem:
            print(problem, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
