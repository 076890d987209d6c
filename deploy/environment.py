"""Reads settings from the environment, and says plainly which one is missing or wrong.

`var/env` (NAME=value lines) is read first when it is there; real environment variables win over it.
"""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
# What this installation writes: the demo's database, static files, exports. The package has a folder of the user's.
HOME = Path(os.environ.get("PYRAMIDION_HOME") or BASE_DIR / "var")
ADVICE = "Give another folder (PYRAMIDION_HOME, or pyramidion start --home FOLDER) or make room; nothing was lost."
TRUE_WORDS = {"1", "true", "yes", "on"}
FALSE_WORDS = {"", "0", "false", "no", "off"}


class Environment:
    """The variables of one process. Each getter raises a sentence that names the variable."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values

    @classmethod
    def load(cls, file: Path) -> "Environment":
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        pairs = (line.split("=", 1) for line in lines if "=" in line and not line.lstrip().startswith("#"))
        return cls({**{name.strip(): _unquoted(value.strip()) for name, value in pairs}, **os.environ})

    @classmethod
    def current(cls) -> "Environment":
        """The variables of this deployment: ENV_FILE or var/env, and the process's own."""
        return cls.load(Path(os.environ.get("ENV_FILE") or HOME / "env"))

    def text(self, name: str, default: str = "") -> str:
        return self.values.get(name, "").strip() or default

    def required(self, name: str, example: str) -> str:
        if not (value := self.text(name)):
            raise ImproperlyConfigured(
                f"{name} is not set, and Pyramidion does not start without it outside the demo. "
                f"Set it in the environment, for example {name}={example} (see deploy/env.example)."
            )
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.text(name, str(default)).lower()
        if value not in TRUE_WORDS | FALSE_WORDS:
            raise ImproperlyConfigured(f"{name} is {value!r}, but must be yes or no (1 or 0).")
        return value in TRUE_WORDS

    def number(self, name: str, default: int, minimum: int = 0) -> int:
        value = self.text(name, str(default))
        if not value.isascii() or not value.isdigit() or int(value) < minimum:
            raise ImproperlyConfigured(f"{name} is {value!r}, but must be a whole number of at least {minimum}.")
        return int(value)

    def words(self, name: str, default: str = "") -> list[str]:
        return [word.strip() for word in self.text(name, default).split(",") if word.strip()]


SITE_BIND, MARKETPLACE_BIND = "127.0.0.1:8000", "127.0.0.1:8001"
"""What the site and the marketplace listen on, where BIND and MARKETPLACE_BIND name nothing else."""


def local_address(bind: str) -> str:
    """What a browser on this machine opens; who listens on every address is reached on its own."""
    host, _, port = bind.rpartition(":")
    return f"http://{'127.0.0.1' if host in ('', '0.0.0.0', '[::]') else host}:{port}"  # noqa: S104  none is bound here


def _unquoted(value: str) -> str:
    """Without the quotes around it, which systemd's EnvironmentFile allows."""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def database(url: str) -> dict[str, Any]:
    """Django's database settings for a DATABASE_URL: sqlite:///path or postgres://user:password@host:port/name."""
    address = urlsplit(url)
    if address.scheme == "sqlite":
        return _sqlite(address.path)
    if address.scheme in {"postgres", "postgresql"}:
        if not address.path.strip("/"):
            raise ImproperlyConfigured("DATABASE_URL names no database: postgres://user:password@host:port/name.")
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(address.path.strip("/")),
            "USER": unquote(address.username or ""),
            "PASSWORD": unquote(address.password or ""),
            "HOST": address.hostname or "",
            "PORT": str(address.port or ""),
            "CONN_MAX_AGE": 60,
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": dict(parse_qsl(address.query)),
        }
    raise ImproperlyConfigured(
        f"DATABASE_URL starts with {address.scheme or url!r}, but must start with sqlite:/// or postgres://."
    )


def _sqlite(path: str) -> dict[str, Any]:
    # sqlite:///var/x.sqlite3 is relative to the project, sqlite:////srv/x.sqlite3 is absolute.
    name = unquote(path[1:])
    if not name:
        raise ImproperlyConfigured("DATABASE_URL names no file: sqlite:///var/pyramidion.sqlite3.")
    return {
        "ENGINE": "deploy.setup.sqlite_queue",
        "NAME": name,
        "OPTIONS": {
            # A writer waits for its turn instead of failing half-way: the lock is taken at BEGIN.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON;",
        },
    }


def logging_settings(form: str, level: str) -> dict[str, Any]:
    """Python's logging: lines for people (plain) or one JSON object a line (json), without secrets either way."""
    forms = {
        "plain": {
            "()": "deploy.monitoring.logs.PlainFormatter",
            "fmt": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        },
        "json": {"()": "deploy.monitoring.logs.JsonFormatter"},
    }
    if form not in forms:
        raise ImproperlyConfigured(f"LOG_FORM is {form!r}, but must be plain or json.")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": forms[form]},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": level},
        # A line per request is for machines; at a terminal it would hide what matters. Gunicorn's own access log
        # stays off: it would write down the secrets in addresses.
        # Nor are the texts that models are sent for the log, at whatever level.
        "loggers": {
            "pyramidion.requests": {"level": level if form == "json" else "WARNING"},
            **{name: {"level": "WARNING"} for name in ("httpx2", "openai")},
        },
    }


def demo_secret(file: Path) -> str:
    """A random key for the demo, made once and kept: several web processes must share it."""
    if not file.is_file():
        draft = file.with_suffix(f".{os.getpid()}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(secrets.token_urlsafe(50), encoding="ascii")
        except OSError as error:
            raise ImproperlyConfigured(
                f"Nothing can be written to {file.parent} ({error.strerror}). {ADVICE}"
            ) from error
        draft.chmod(0o600)
        try:
            os.link(draft, file)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return file.read_text(encoding="ascii").strip()
