"""Import a folder of tables, or files in somebody else's shape, as a study."""

import sys
import tempfile
from argparse import ArgumentTypeError
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.tables import TableError
from annotation.common.errors import Refused
from annotation.guidance import give_defaults
from annotation.models import Study, User
from annotation.transfer.importing.recognise.plan import look_into
from annotation.transfer.importing.recognise.write import cut_off, remarks, write_tables
from annotation.transfer.importing.study import Imported, import_study
from annotation.transfer.importing.truecase import UNKNOWN_SYMBOL, UNKNOWN_TOKENS, Showing
from annotation.transfer.shapes import SHAPES
from annotation.transfer.shapes.reading import read_shape

READABLE = [shape.name for shape in SHAPES.values() if shape.readable]


def scale(text: str) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in text.split("-"))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a scale: write LOW-HIGH, such as 1-5") from None
    if low >= high:
        raise ArgumentTypeError(f"{text!r} is not a scale: its low end must lie below its high end")
    return low, high


def admin_named(name: str | None) -> User | None:
    """The account of that name; Refused where there is none."""
    if not name:
        return None
    user = User.objects.filter(username=name).first()
    if user is None:
        raise Refused(f"There is no account {name!r}: make it first (manage.py createsuperuser), or leave --admin out.")
    return user


class Command(BaseCommand):
    help = "Import a folder (documents.*, summaries.*, and where present scus.*, judgments.*, scores.*) as a study."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, nargs="+", help="a folder of tables; with --shape one or more files")
        parser.add_argument("--shape", choices=READABLE, help="read files that have this shape")
        parser.add_argument("--name", required=True, help="the study's name")
        parser.add_argument("--admin", metavar="NAME", help="the account that becomes the study's admin")
        parser.add_argument("--dry-run", action="store_true", help="check and report, change nothing")
        parser.add_argument("--scale", type=scale, default=(1.0, 5.0), help="of Likert judgments, default 1-5")
        parser.add_argument("--truecase", action="store_true", help="show lower-cased English summaries with capitals")
        parser.add_argument(
            "--unknown-symbol",
            metavar="SYMBOL",
            help=f"show it instead of unknown tokens; with --unknown-token alone it is {UNKNOWN_SYMBOL}",
        )
        parser.add_argument(
            "--unknown-token",
            metavar="TOKEN",
            action="append",
            help=f"a token that stands for an unknown word, repeatable; default {' '.join(UNKNOWN_TOKENS)}",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        paths = options["folder"] if isinstance(options["folder"], list) else [options["folder"]]
        if len(paths) > 1 and not options["shape"]:
            raise CommandError("Give one folder, or files with --shape. Nothing was imported.", returncode=2)
        try:
            with tempfile.TemporaryDirectory() as place:
                folder, notes = self.as_tables(options["shape"], paths, Path(place))
                result = self.import_from(folder, options, admin_named(options["admin"]))
        except (TableError, Refused) as error:
            raise CommandError(f"{error}\nNothing was imported.", returncode=2) from None
        self.report(replace(result, findings=[*notes, *result.findings]), options["dry_run"])

    def as_tables(self, shape: str, paths: list[Path], place: Path) -> tuple[Path, list[str]]:
        """A folder that the gate reads, and what is to be said of how it was come by."""
        if shape:
            return read_shape(shape, paths, place), []
        if not paths[0].is_dir():
            return paths[0], []
        tables = look_into(paths[0])
        folder = write_tables(tables, paths[0], place / "tables")
        return folder, [*remarks(tables), *cut_off(tables, paths[0])]

    def import_from(self, folder: Path, options: dict[str, Any], admin: User | None) -> Imported:
        result = import_study(
            folder,
            options["name"],
            dry_run=options["dry_run"],
            scale=options["scale"],
            showing=Showing.from_options(options["truecase"], options["unknown_symbol"], options["unknown_token"]),
            progress=self.progress,
            admin=admin,
        )
        if result.changed:
            give_defaults(Study.objects.get(name=result.study), admin)
        return result

    def progress(self, label: str, n_rows: int, total: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{label}: {n_rows:,} of {total:,}   ", ending="\n" if n_rows == total else "")
        elif n_rows == total or n_rows % 20_000 == 0:
            self.stderr.write(f"{label}: {n_rows:,} of {total:,}")

    def report(self, result: Imported, dry_run: bool) -> None:
        for name, count in result.counts.items():
            self.stdout.write(f"{count:>10,} {name}")
        for sentence in result.findings:
            self.stdout.write(f"Look at this: {sentence}")
        for sentence in result.same_texts if len(result.same_texts) > 1 else ():
            self.stdout.write(f"    {sentence}")
        if dry_run:
            self.stdout.write("Dry run: nothing was changed.")
        elif result.changed:
            self.stdout.write(f"Imported as study {result.study!r}.")
        else:
            self.stdout.write(f"Study {result.study!r} holds this folder already. Nothing was changed.")
