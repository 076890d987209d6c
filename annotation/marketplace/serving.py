"""How the marketplace is started: its own process with its own settings, whoever starts it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SETTINGS = "deploy.marketplace_settings"
ROOT = Path(__file__).resolve().parents[2]


def environment() -> dict[str, str]:
    """This process's environment, with the marketplace's settings."""
    return {**os.environ, "DJANGO_SETTINGS_MODULE": SETTINGS}


def command(*words: str) -> int:
    """Run one of the marketplace's own management commands; returns its exit code."""
    return subprocess.run([sys.executable, "-m", "django", *words], cwd=ROOT, env=environment(), check=False).returncode


def prepare() -> int:
    """Database, static files and, in the demo, demo accounts. Returns the exit code."""
    return command("prepare", "market_demo", "--if-demo", *_key_file())


def _key_file() -> Sequence[str]:
    """The demo's own database leaves its demo requester's key beside it, so that the site beside it can launch."""
    if os.environ.get("MARKETPLACE_DATABASE_URL"):
        return ()
    return ("--key-file", str(Path(os.environ.get("PYRAMIDION_HOME") or ROOT / "var") / "marketplace-key"))


def serve(bind: str | None = None) -> None:
    """Become gunicorn. Does not return."""
    settings = environment()
    if bind:
        settings["MARKETPLACE_BIND"] = bind
    words = [sys.executable, "-m", "gunicorn", "--config", "deploy/marketplace_gunicorn.py", "deploy.marketplace_wsgi"]
    os.chdir(ROOT)
    os.execve(sys.executable, words, settings)  # noqa: S606  no shell, and every word is ours
