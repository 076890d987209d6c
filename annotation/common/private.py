"""Files that only the account of the program may read, texts that its secret key opens, folders that models lie in."""

import base64
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

MARKET_TOKENS = "annotation.crowds.market_tokens"


def keep_database_private(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """SQLite makes its files readable for everybody on the machine: workers' own ids and sessions are inside."""
    if connection.vendor != "sqlite":
        return
    name = str(connection.settings_dict["NAME"])
    with suppress(OSError):  # in memory, or another account's: the doctor tells of that
        if not stat.S_IMODE(os.stat(name).st_mode) & 0o077:
            return
        for file in (name, f"{name}-wal", f"{name}-shm"):
            if os.path.exists(file):
                os.chmod(file, 0o600)


def seal(text: str, purpose: str = MARKET_TOKENS) -> str:
    """Encrypted with a key that follows from SECRET_KEY and the purpose."""
    return _box(settings.SECRET_KEY, purpose).encrypt(text.encode()).decode()


def unseal(sealed_text: str, purpose: str = MARKET_TOKENS) -> str | None:
    """The text; None where SECRET_KEY has changed since, or somebody has changed what was sealed."""
    from cryptography.fernet import InvalidToken

    try:
        return _box(settings.SECRET_KEY, purpose).decrypt(sealed_text.encode()).decode()
    except InvalidToken:
        return None


@lru_cache(maxsize=8)
def _box(secret_key: str, purpose: str) -> "Fernet":
    from cryptography.fernet import Fernet
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derive = HKDF(SHA256(), length=32, salt=None, info=purpose.encode())
    return Fernet(base64.urlsafe_b64encode(derive.derive(secret_key.encode())))


def is_foreign_place(value: str, folders: Iterable[str]) -> bool:
    """Whether a text names a folder or file outside of `folders`; a model's name doesn't."""
    names_a_place = value.startswith((".", "/", "~")) or os.path.exists(value)  # a Path raises for odd names
    return names_a_place and not _is_inside(value, folders)


def _is_inside(value: str, folders: Iterable[str]) -> bool:
    try:
        place = Path(value).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):  # too long, or the home of nobody
        return False
    return any(place.is_relative_to(Path(folder).resolve()) for folder in folders)
