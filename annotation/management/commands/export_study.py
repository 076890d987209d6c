"""Write a study into a folder of tables and shapes, with a manifest."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.common.errors import Refused
from annotation.crowds.lookup import study_named
from annotation.jobs import no_room
from annotation.models import Study
from annotation.transfer.exporting.options import TABLES, USUAL, ExportOptions
from annotation.transfer.exporting.study import export_folder
from annotation.transfer.exporting.writers import FORMS
from annotation.transfer.shapes import SHAPES


def split_names(texts: list[str] | None) -> list[str]:
    """Names from options that may be repeated or hold commas."""
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]


def named_study(name: str) -> Study:
    try:
        return study_named(name)
    except Refused as refusal:
        raise CommandError(str(refusal), returncode=2) from None


class Command(BaseCommand):
    help = "Write a study's tables into a folder, with a manifest. Workers appear by pseudonym."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--name", required=True, help="the study's name")
        parser.add_argument(
            "--tables", action="append", metavar="A,B", help=f"of {', '.join(TABLES)}; default: {', '.join(USUAL)}"
        )
        parser.add_argument("--shape", action="append", metavar="A,B", help=f"as others read it: {', '.join(SHAPES)}")
        parser.add_argument(
            "--format", default="", choices=("", *FORMS), help="of all tables; default: texts JSON lines, the rest CSV"
        )
        parser.add_argument("--no-texts", action="store_true", help="hashes instead of texts that may not be passed on")
        parser.add_argument(
            "--raw-workers", action="store_true", help="admins only: the crowd's own worker ids instead of pseudonyms"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study, folder = named_study(options["name"]), options["folder"]
        try:
            export_options = ExportOptions.checked(
                split_names(options["tables"]),
                split_names(options["shape"]),
                options["format"],
                not options["no_texts"],
                options["raw_workers"],
            )
            files = export_folder(study, folder, export_options, self.progress)
        except (Refused, ValueError) as error:
            raise CommandError(str(error), returncode=2) from None
        except OSError as error:
            sentence = f"The folder can't be written: {error}. The study is unchanged."
            if no_room(error):
                sentence = (
                    "There is no room left on the disk. The study is unchanged, and what lies in the folder is not "
                    "whole: make room, then export again."
                )
            raise CommandError(sentence, returncode=2) from None
        for file in files:
            count = "" if file.rows is None else f"{file.rows:,}"
            self.stdout.write(f"{count:>10} {file.table if count else file.path.name}")
        self.stdout.write(f"Exported to {folder}.")

    def progress(self, n_rows: int, total: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{n_rows:,} of {total:,} rows   ", ending="\n" if n_rows == total else "")
