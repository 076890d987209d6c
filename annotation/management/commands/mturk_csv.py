"""MTurk's CSV forms: a batch out, its results in."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.common.errors import Refused
from annotation.models import Batch, Study
from annotation.transfer.mturk_csv import export_batch, import_results, with_forms


class Command(BaseCommand):
    help = "Write a batch as the Input.* CSV of the old MTurk requester site, or read its result CSV (docs/crowds)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["export", "import"])
        parser.add_argument("file", type=Path)
        parser.add_argument("--study", required=True, help="the study's name")
        parser.add_argument("--batch", default="", help="the batch's name; import makes one for the file without it")
        parser.add_argument(
            "--protocol", choices=with_forms(), default="litepyramid", help="of a batch that import makes"
        )
        parser.add_argument("--upload", action="store_true", help="export: column names without “Input.”")
        parser.add_argument("--dry-run", action="store_true", help="import: check and report, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(name=options["study"]).first()
        if study is None:
            names = ", ".join(map(repr, Study.objects.values_list("name", flat=True)[:20])) or "none yet"
            raise CommandError(f"There is no study named {options['study']!r}. Studies here: {names}.", returncode=2)
        try:
            self._export(study, options) if options["action"] == "export" else self._import(study, options)
        except (Refused, OSError) as error:
            raise CommandError(str(error), returncode=2) from None

    def _batch(self, study: Study, name: str) -> Batch:
        batch = study.batches.filter(name=name).first()
        if batch is None:
            names = ", ".join(map(repr, study.batches.values_list("name", flat=True)[:20])) or "none yet"
            raise Refused(f"There is no batch named {name!r} in this study. Batches: {names}.")
        return batch

    def _export(self, study: Study, options: dict[str, Any]) -> None:
        batch = self._batch(study, options["batch"])
        with options["file"].open("w", newline="", encoding="utf-8") as stream:
            rows = export_batch(batch, stream, prefix="" if options["upload"] else "Input.")
        self.stdout.write(f"{rows:,} rows written to {options['file']}.")

    def _import(self, study: Study, options: dict[str, Any]) -> None:
        path: Path = options["file"]
        batch = self._batch(study, options["batch"]) if options["batch"] else None
        result = import_results(
            study, path.read_bytes(), path.name, batch=batch, protocol=options["protocol"], dry_run=options["dry_run"]
        )
        for sentence in result.sentences():
            self.stdout.write(sentence)
        self.stdout.write("Dry run: nothing was changed." if options["dry_run"] else f"Batch: {result.batch}")
