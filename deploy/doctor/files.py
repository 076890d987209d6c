"""Folders and files: what must be there, have room, be private and be recent."""

import os
import shutil
import stat
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.core.checks import Error
from django.db import connection

from . import Problems, check, manage

STALE_BACKUP = timedelta(days=2)


@check("static files")
def static_files_are_collected() -> Problems:
    if not (Path(settings.STATIC_ROOT) / "staticfiles.json").is_file() and not settings.DEMO:
        yield Error(f"There are no static files in {settings.STATIC_ROOT}.", f"Run {manage('collectstatic')}.")


@check("exports", site_only=True)
def exports_can_be_written() -> Problems:
    try:
        Path(settings.EXPORT_ROOT).mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.EXPORT_ROOT):
            pass
    except OSError as error:
        yield Error(
            f"EXPORT_ROOT is {settings.EXPORT_ROOT}, where nothing can be written ({error.strerror}): "
            "every export would fail.",
            "Name a folder that the account of the site and the workers may write to.",
        )


@check("disk")
def disk_has_room() -> Problems:
    minimum = settings.DOCTOR_FREE_MB
    places = {Path(settings.STATIC_ROOT)}
    if connection.vendor == "sqlite":
        places.add(Path(connection.settings_dict["NAME"]).resolve().parent)
    if settings.BACKUP_DIR:
        places.add(Path(settings.BACKUP_DIR))
    for place in places:
        while not place.exists():
            place = place.parent
        free = shutil.disk_usage(place).free // 10**6
        if free < minimum:
            yield Error(f"{place} has {free} MB free, less than {minimum}.", "Make room before answers can't be saved.")


@check("files")
def secrets_are_private() -> Problems:
    files = [Path(os.environ.get("ENV_FILE") or settings.HOME / "env")]
    if connection.vendor == "sqlite":
        files.append(Path(connection.settings_dict["NAME"]))
    for file in files:
        if file.is_file() and file.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH) and not settings.DEMO:
            yield Error(f"Everybody on this machine can read {file}.", f"Run chmod 600 {file}.")


@check("backup")
def backup_is_recent() -> Problems:
    folder, backup = settings.BACKUP_DIR, manage("backup")
    if settings.DEMO:
        return
    if not folder:
        yield Error("BACKUP_DIR is not set: nobody can tell if there are backups.", f"Set it, and run {backup} daily.")
        return
    newest = max((file.stat().st_mtime for file in Path(folder).glob("*") if file.is_file()), default=0)
    if datetime.fromtimestamp(newest, UTC) < datetime.now(UTC) - STALE_BACKUP:
        yield Error(f"{folder} has no backup of the last two days.", f"Run {backup}, and look why.")
