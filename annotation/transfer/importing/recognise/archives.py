"""Zip files: unpacked beside the others, with bounds that don't trust what an archive says of itself."""

import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from django.utils.translation import gettext as _

from annotation.common.errors import Refused

CHUNK = 2**20


def unpack_archives(folder: Path, *, most_files: int, most_bytes: int) -> None:
    """Put the files of every .zip in its place; Refused for what is too much, doubled, damaged or locked."""
    for path in sorted(folder.glob("*")):
        if path.suffix.lower() == ".zip":
            _unpack(path, folder, most_files, most_bytes)
            path.unlink()


def _unpack(path: Path, folder: Path, most_files: int, most_bytes: int) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if _is_wanted(member)]
            if len(members) > most_files:
                raise Refused(
                    _("%(name)s holds %(n)d files, and %(most)d can be sent at a time. Nothing was made.")
                    % {"name": path.name, "n": len(members), "most": most_files}
                )
            left = most_bytes
            for member in members:
                left -= _write(archive, member, folder, left)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        raise Refused(
            _("%(name)s is damaged or locked with a password. Nothing was made: pack it anew, or send its files.")
            % {"name": path.name}
        ) from None


def _is_wanted(member: zipfile.ZipInfo) -> bool:
    """Whether it is a file of the sender's; what systems add beside (__MACOSX, .DS_Store) and links are not."""
    parts = PurePosixPath(member.filename).parts
    hidden = any(part.startswith((".", "__MACOSX")) for part in parts if part != "..")
    return not (member.is_dir() or hidden or stat.S_ISLNK(member.external_attr >> 16))


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, most: int) -> int:
    """Write a member under its own name, whatever folder it names; the number of bytes that it really has."""
    target = folder / PurePosixPath(member.filename).name
    if target.exists() or target.suffix.lower() == ".zip":
        raise Refused(
            _("“%(name)s” is there twice, or is a zip within a zip. Nothing was made.") % {"name": target.name[:40]}
        )
    size = 0
    with archive.open(member) as source, target.open("wb") as stream:
        while chunk := source.read(CHUNK):
            size += len(chunk)
            if size > most:
                raise Refused(_("Unpacked, %(name)s is far too large. Nothing was made.") % {"name": member.filename})
            stream.write(chunk)
    return size


def check_workbook_size(path: Path, most_bytes: int) -> None:
    """A workbook is a zip too: Refused where it holds more than that."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = 0
            for member in archive.infolist():
                with archive.open(member) as source:
                    while chunk := source.read(CHUNK):
                        size += len(chunk)
                        if size > most_bytes:
                            raise Refused(
                                _("Unpacked, %(name)s is far too large. Nothing was made.") % {"name": path.name}
                            )
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        pass  # its reader tells
