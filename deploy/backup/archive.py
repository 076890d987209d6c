"""The file of a backup: a tar with `manifest.json`, a signature of it, and the database.

The manifest holds a digest of the database, so that the signature covers both. The key is BACKUP_KEY, or SECRET_KEY
where there is none: who can only write to the place where backups lie can't make one that is restored unasked.
"""

import hashlib
import hmac
import io
import json
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from django.conf import settings
from django.utils.crypto import salted_hmac

from .manifest import FORM, BackupError, Manifest

SALT = "deploy.backup"
MANIFEST, SIGNATURE, DATABASE = "manifest.json", "signature", "database"
MOST_BYTES = 10_000_000  # of manifest and signature: they are read whole


def write_archive(target: Path, manifest: Manifest, dump: Path) -> None:
    head = json.dumps(asdict(manifest), indent=1, sort_keys=True).encode()
    with tarfile.open(target, "w") as tar:
        _add(tar, MANIFEST, head)
        _add(tar, SIGNATURE, _signature(head, settings.BACKUP_KEY or settings.SECRET_KEY).encode())
        tar.add(dump, arcname=DATABASE)
    target.chmod(0o600)  # workers' own ids are inside


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o600
    tar.addfile(info, io.BytesIO(content))


def read_archive(source: Path, dump: Path, *, unverified: bool) -> Manifest:
    """The manifest, and the database unpacked into `dump`. BackupError where it is not signed with a key of ours."""
    try:
        with tarfile.open(source) as tar:
            head = _member(tar, MANIFEST)
            if not unverified:
                _check_signature(source, head, _member(tar, SIGNATURE) if SIGNATURE in tar.getnames() else b"")
            manifest = Manifest(**json.loads(head))
            body = tar.extractfile(DATABASE)
            if body is None:
                raise KeyError(DATABASE)
            with open(dump, "wb") as file:
                shutil.copyfileobj(body, file, 1 << 20)
    except FileNotFoundError:
        raise BackupError(f"There is no file {source}. Nothing was changed.") from None
    except (tarfile.TarError, KeyError, TypeError, ValueError, EOFError, OSError) as error:
        raise BackupError(f"{source} is not a backup that can be read ({error}). Nothing was changed.") from None
    if manifest.form != FORM or manifest.sha256 != file_digest(dump):
        raise BackupError(f"{source} was changed or cut short after it was made. Nothing was restored.")
    return manifest


def _member(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    if file is None or tar.getmember(name).size > MOST_BYTES:
        raise KeyError(name)
    return file.read()


def _check_signature(source: Path, head: bytes, signature: bytes) -> None:
    if any(hmac.compare_digest(_signature(head, key).encode(), signature) for key in _keys()):
        return
    fault = "is not signed with a key of this deployment, or was changed after it was made"
    if not signature:
        fault = "is not signed: it is older than signed backups, or was not made here"
    raise BackupError(
        f"{source} {fault}. Nothing was changed: if you know where it comes from, and that nobody could change it, "
        "say --unverified."
    )


def _keys() -> Iterator[str]:
    """The keys that a backup of ours may be signed with, those that were in force before among them."""
    if settings.BACKUP_KEY:
        yield settings.BACKUP_KEY
    yield settings.SECRET_KEY
    yield from settings.SECRET_KEY_FALLBACKS


def _signature(head: bytes, key: str) -> str:
    return salted_hmac(SALT, head, secret=key, algorithm="sha256").hexdigest()


def file_digest(file: Path) -> str:
    with open(file, "rb") as body:
        return hashlib.file_digest(body, "sha256").hexdigest()
