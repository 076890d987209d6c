"""Files that a browser sends become a study: what `import_study` does, for people without a shell."""

import gzip
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from analysis.tables import TableError
from annotation.common.errors import Refused
from annotation.models import Study, User
from annotation.transfer.shapes.reading import read_shape

from .folder import NEEDED
from .recognise.archives import check_workbook_size, unpack_archives
from .recognise.plan import Choices, SentTable, look_into
from .recognise.write import cut_off, remarks, with_lines, write_tables
from .study import Imported, import_study
from .truecase import NO_CHANGES, Showing

MOST_FILES, MOST_MB, LONGEST_NAME = 10, 90, 200  # the proxy lets 100 MB through
MOST_UNPACKED_MB = 300  # what a process can hold in memory
MOST_LINES = 2_000_000  # what is read in a minute or two
CHUNK = 2**20


@dataclass(frozen=True)
class Upload:
    """What was sent, and how it is to be read."""

    name: str
    files: "Sequence[UploadedFile[bytes]]" = ()
    shape: str = ""
    """Whose shape the files have; empty: tables of our own."""
    scale: tuple[float, float] = (1, 5)
    showing: Showing = NO_CHANGES


def look_at_files(upload: Upload, sent: Path, choices: Choices) -> list[SentTable]:
    """Unpack what is packed, and say how the tables are read; nothing to say for files in somebody else's shape."""
    unpack_archives(sent, most_files=MOST_FILES, most_bytes=MOST_UNPACKED_MB * 10**6)
    for path in sent.iterdir():
        if path.suffix.lower() in (".xlsx", ".xlsm"):
            check_workbook_size(path, MOST_UNPACKED_MB * 10**6)
    return [] if upload.shape else look_into(sent, choices)


def import_files(
    upload: Upload,
    sent: Path,
    tables: Sequence[SentTable],
    admin: User | None,
    *,
    dry_run: bool = False,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Imported:
    """Import the sent files for their sender, the new study's admin. After Refused or TableError nothing was made."""
    paths = sorted(sent.iterdir())
    steps = _Steps(progress, check_unpacked(paths))
    with tempfile.TemporaryDirectory() as place:
        try:
            target = Path(place) / "tables"
            folder = read_shape(upload.shape, paths, target) if upload.shape else _as_tables(tables, sent, target)
            imported = import_study(
                folder,
                upload.name,
                dry_run=dry_run,
                scale=upload.scale,
                showing=upload.showing,
                progress=steps,
                admin=admin,
            )
            notes = [] if upload.shape else [*_unread(tables), *remarks(tables), *cut_off(tables, sent)]
        except TableError as error:
            raise _without((str(sent), place), with_lines(error, tables, sent)) from None
        except IntegrityError:
            if not Study.objects.filter(name=upload.name).exists():
                raise
            raise Refused(
                _("Somebody made a study of this name at the same moment. Nothing was made: choose another name.")
            ) from None
    return replace(imported, findings=[*notes, *imported.findings])


class _Steps:
    """Rows that were read and stored so far, of about all that there are."""

    def __init__(self, progress: Callable[[int, int], None], rows: int) -> None:
        self.progress, self.total = progress, max(2 * rows, 1)
        self.rows_of: dict[str, int] = {}

    def __call__(self, label: str, n_done: int, total: int) -> None:
        self.rows_of[label] = n_done
        self.progress(min(sum(self.rows_of.values()), self.total - 1), self.total)


def check_files(files: "Sequence[UploadedFile[bytes]]") -> None:
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


def write_file(file: "UploadedFile[bytes]", folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / (file.name or "file")
    with path.open("wb") as stream:
        for chunk in file.chunks():
            stream.write(chunk)
    return path


def check_unpacked(paths: Sequence[Path]) -> int:
    """The number of lines in the files; Refused for what is far larger inside.

    How large a Parquet file is shows only when it is in memory.
    """
    for path in paths:
        if path.suffix == ".parquet":
            raise Refused(_("%(name)s: send tables as CSV or JSON lines. Nothing was made.") % {"name": path.name})
    sizes = [_unpacked_size(path) for path in paths]
    if sum(size for size, _lines in sizes) > MOST_UNPACKED_MB * 10**6:
        raise Refused(
            _(
                "Unpacked, the files have more than %(mb)d MB together. Nothing was made: "
                "import them on the server (manage.py import_study)."
            )
            % {"mb": MOST_UNPACKED_MB}
        )
    n_lines = sum(lines for _size, lines in sizes)
    if n_lines > MOST_LINES:
        raise Refused(
            _(
                "The files have %(n)s lines together, and %(most)s can be sent. Nothing was made: "
                "import them on the server (manage.py import_study)."
            )
            % {"n": number_format(n_lines, force_grouping=True), "most": number_format(MOST_LINES, force_grouping=True)}
        )
    return n_lines


def _unpacked_size(path: Path) -> tuple[int, int]:
    """Bytes and lines, counted no further than needed; a damaged file is for its reader to tell of."""
    size = lines = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            while size <= MOST_UNPACKED_MB * 10**6 and (chunk := stream.read(CHUNK)):
                size += len(chunk)
                lines += chunk.count(b"\n")
    except (OSError, EOFError, zlib.error):
        pass
    return size, lines


def _unread(tables: Sequence[SentTable]) -> list[str]:
    return [f"{table.title} was not read: no table has this name." for table in tables if not table.kind]


def _as_tables(tables: Sequence[SentTable], sent: Path, target: Path) -> Path:
    missing = [kind for kind in NEEDED if kind not in {table.kind for table in tables}]
    if missing:
        raise Refused(
            _("A study needs documents and summaries, and no file here is named %(names)s. Nothing was made.")
            % {"names": ", ".join(f"{kind}.csv" for kind in missing)}
        )
    return write_tables(tables, sent, target)


def _without(places: tuple[str, ...], error: TableError) -> TableError:
    """The same problems, without our own folders in them."""

    def name(file: str) -> str:
        if file in (*places, *(f"{place}/tables" for place in places)):
            return "the files"
        return Path(file).name if file.startswith(places) else file

    return TableError([replace(problem, file=name(problem.file)) for problem in error.problems], error.total)
