"""The command `pyramidion`: start the site, look at the demo, manage, score, analyse."""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SITE = Path(__file__).resolve().parent / "_site"
LIBRARIES = {"score": "scoring", "analyse": "analysis"}
USAGE = """pyramidion COMMAND …

  start [--home FOLDER] [--port N]   serve your studies on http://127.0.0.1:8000
  demo  [--home FOLDER] [--port N]   the same with a demo study and an account for each role
  manage COMMAND …                   the site's commands: import_study, export_study, launch, … (manage help lists them)
  score COMMAND …                    metrics from the command line: score list, score run …
  analyse COMMAND …                  statistics: analyse agreement, analyse correlate, analyse report …
"""


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    command = words.pop(0) if words else "help"
    if command in {"start", "demo"}:
        return start(words, demo=command == "demo")
    if command == "manage":
        home = data_folder(demo=False)
        if "--home" in words[:1]:
            home, words = Path(words[1]), words[2:]
        return subprocess.run([sys.executable, str(SITE / "manage.py"), *words], env=environment(home)).returncode
    if command in LIBRARIES:
        return run_library(LIBRARIES[command], words)
    print(USAGE)
    if command in {"help", "--help", "-h"}:
        return 0
    print(f"There is no command {command}; there are start, demo, manage, score, analyse.", file=sys.stderr)
    return 2


def run_library(name: str, words: Sequence[str]) -> int:
    """`python -m scoring` or `python -m analysis`, in the folder where the person stands."""
    return subprocess.run([sys.executable, "-m", f"pyramidion.{name}", *words], check=False).returncode


def data_folder(demo: bool) -> Path:
    """Where the platform keeps a user's data."""
    name = "pyramidion-demo" if demo else "pyramidion"
    if chosen := os.environ.get("PYRAMIDION_HOME"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / name
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / name


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "PYRAMIDION_HOME": str(home.resolve())}


def start(words: Sequence[str], demo: bool) -> int:
    parser = argparse.ArgumentParser(prog=f"pyramidion {'demo' if demo else 'start'}")
    parser.add_argument("--home", type=Path, default=data_folder(demo), help="the folder that everything is kept in")
    parser.add_argument("--port", type=int, default=8000, help="of the site; the marketplace takes the next one")
    arguments = parser.parse_args(words)
    home = arguments.home.expanduser()
    try:
        write_settings(home, arguments.port, demo)
    except OSError as error:
        reason = error.strerror or error
        print(f"Nothing can be written to {home} ({reason}). Name another folder with --home.", file=sys.stderr)
        return 2
    env = environment(home)
    env |= {"BIND": f"127.0.0.1:{arguments.port}", "MARKETPLACE_BIND": f"127.0.0.1:{arguments.port + 1}"}
    if code := manage(env, "prepare", "load_demo" if demo else "--first-account"):
        return code
    print(f"== Everything is kept in {home}", flush=True)
    os.chdir(SITE)
    os.execve(sys.executable, [sys.executable, "-m", "deploy.up"], env)  # noqa: S606


def manage(env: dict[str, str], *words: str) -> int:
    return subprocess.run([sys.executable, str(SITE / "manage.py"), *words], env=env, check=False).returncode


def write_settings(home: Path, port: int, demo: bool) -> None:
    """The settings of a new home; one that is there is left as it is."""
    home.mkdir(parents=True, exist_ok=True)
    file = home / "env"
    if file.exists():
        (home / "install.log").touch()  # whether it can be written is seen now, not half-way
        return
    draft = home / f"env.{os.getpid()}"
    draft.touch(0o600)
    draft.write_text(settings_text(home.resolve(), port, demo), encoding="utf-8")
    draft.replace(file)


def settings_text(home: Path, port: int, demo: bool) -> str:
    lines = ["# Settings of this installation; docs/operating explains them.", "BACKGROUND=worker"]
    if demo:
        return "\n".join([*lines, "DEMO=yes", ""])
    market = f"http://127.0.0.1:{port + 1}"
    lines += [
        f"SECRET_KEY={secrets.token_urlsafe(50)}",
        "ALLOWED_HOSTS=127.0.0.1,localhost",
        f"DATABASE_URL=sqlite:///{home}/pyramidion.sqlite3",
        "HTTPS=no",
        "LOG_FORM=plain",
        "INSTALL_LIBRARIES=yes",
        f"SITE_URL=http://127.0.0.1:{port}",
        f"MARKETPLACE_SECRET_KEY={secrets.token_urlsafe(50)}",
        "MARKETPLACE_ALLOWED_HOSTS=127.0.0.1,localhost",
        f"MARKETPLACE_DATABASE_URL=sqlite:///{home}/marketplace.sqlite3",
        f"MTURK_ENDPOINT_URL={market}",
        f"MTURK_ALLOWED_ENDPOINTS={market}",
        f"MARKET_ORIGINS={market}",
        "MTURK_SIGNED_ENTRY=yes",
    ]
    return "\n".join([*lines, ""])
