"""Files that a browser sends become a study: what `import_study` does, for people without a shell."""

import gzip
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError
from django.utils.translation import gettext as _

from analysis.tables import TableError, find_table
from annotation.common.errors import Refused
from annotation.models import Study, User
from annotation.transfer.shapes.reading import read_shape

from .folder import KINDS, NEEDED
from .study import Imported, import_study
from .truecase import NO_CHANGES, Showing

MOST_FILES, MOST_MB, LONGEST_NAME = 10, 90, 200  # the proxy lets 100 MB through
MOST_UNPACKED_MB = 300  # what a web process can hold in memory
CHUNK = 2**20


@dataclass(frozen=True)
class Upload:
    """What was sent, and how it is to be read."""

    name: str
    files: "Sequence[UploadedFile[bytes]]"
    shape: str = ""
    """Whose shape the files have; empty: tables of our own."""
    scale: tuple[float, float] = (1, 5)
    showing: Showing = NO_CHANGES


def import_upload(upload: Upload, admin: User, *, dry_run: bool = False) -> Imported:
    """Import the files for their sender, the new study's admin. Raises Refused or TableError, and then made nothing."""
    _check(upload.files)
    with tempfile.TemporaryDirectory() as place:
        uploaded, tables = Path(place) / "sent", Path(place) / "tables"
        paths = [_written(file, uploaded) for file in upload.files]
        _check_unpacked(paths)
        try:
            folder = read_shape(upload.shape, paths, tables) if upload.shape else _with_all_needed(uploaded)
            imported = import_study(
                folder, upload.name, dry_run=dry_run, scale=upload.scale, showing=upload.showing, admin=admin
            )
            unread = [] if upload.shape else sorted({path.name for path in paths} - _read(uploaded))
        except TableError as error:
            raise _without(place, error) from None
        except IntegrityError:
            if not Study.objects.filter(name=upload.name).exists():
                raise
            raise Refused(
                _("Somebody made a study of this name at the same moment. Nothing was made: choose another name.")
            ) from None
    return replace(
        imported, findings=[*(f"{name} was not read: no table has this name." for name in unread), *imported.findings]
    )


def _check(files: "Sequence[UploadedFile[bytes]]") -> None:
    if not files:
        raise Refused(_("Choose the files first. Nothing was made."))
    if len(files) > MOST_FILES or sum(file.size or 0 for file in files) > MOST_MB * 10**6:
        raise Refused(
            _(
                "At most %(files)d files with %(mb)d MB together can be sent. Nothing was made: "
                "for more, import them on the server (manage.py import_study)."
            )
            % {"files": MOST_FILES, "mb": MOST_MB}
        )
    names = [file.name or "" for file in files]
    for name in names:
        if not name.isprintable() or len(name.encode()) > LONGEST_NAME or names.count(name) > 1:
            raise Refused(
                _("“%(name)s” is sent twice, or its name is too long. Nothing was made.") % {"name": name[:40]}
            )


def _written(file: "UploadedFile[bytes]", folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / (file.name or "file")
    with path.open("wb") as stream:
        for chunk in file.chunks():
            stream.write(chunk)
    return path


def _check_unpacked(paths: Sequence[Path]) -> None:
    """Refused for what is far larger inside. How large a Parquet file is shows only when it is in memory."""
    for path in paths:
        if path.suffix == ".parquet":
            raise Refused(_("%(name)s: send tables as CSV or JSON lines. Nothing was made.") % {"name": path.name})
    if sum(_unpacked_size(path) for path in paths) > MOST_UNPACKED_MB * 10**6:
        raise Refused(
            _(
                "Unpacked, the files have more than %(mb)d MB together. Nothing was made: "
                "import them on the server (manage.py import_study)."
            )
            % {"mb": MOST_UNPACKED_MB}
        )


def _unpacked_size(path: Path) -> int:
    """Counted no further than needed; a damaged file is for its reader to tell of."""
    if path.suffix != ".gz":
        return path.stat().st_size
    size = 0
    try:
        with gzip.open(path) as stream:
            while size <= MOST_UNPACKED_MB * 10**6 and (chunk := stream.read(CHUNK)):
                size += len(chunk)
    except (OSError, EOFError, zlib.error):
        pass
    return size


def _read(folder: Path) -> set[str]:
    return {path.name for kind in KINDS if (path := find_table(folder, kind))}


def _with_all_needed(folder: Path) -> Path:
    missing = [kind for kind in NEEDED if find_table(folder, kind) is None]
    if missing:
        raise Refused(
            _("A study needs documents and summaries, and no file here is named %(names)s. Nothing was made.")
            % {"names": ", ".join(f"{kind}.csv" for kind in missing)}
        )
    return folder


def _without(place: str, error: TableError) -> TableError:
    """The same problems, without our own folders in them."""

    def name(file: str) -> str:
        inside = Path(file).name if file.startswith(place) else file
        return "the files" if inside in ("sent", "tables") else inside

    return TableError([replace(problem, file=name(problem.file)) for problem in error.problems], error.total)
