"""`export_study`: a study becomes a folder that `import_study` and `python -m analysis` read."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from analysis.tables import write_atomically
from analysis.tables import write_table as write_frame
from analysis.tables.csv_formulas import read_manifest
from analysis.tables.provenance import file_hash
from annotation.models import Study
from annotation.tables.judgments import judgments_table
from annotation.tables.ledger import ledger_table
from annotation.tables.stream import Column, Table
from annotation.tables.texts import (
    assignments_table,
    document_hashes_table,
    documents_table,
    scores_table,
    scus_table,
    summaries_table,
    summary_hashes_table,
)
from annotation.tables.trusted import Filtered
from annotation.transfer.shapes import SHAPES
from annotation.transfer.shapes.source import Source

from .manifest import MANIFEST, WrittenFile, manifest
from .options import ExportOptions
from .writers import write_table

Progress = Callable[[int, int], None]
NEEDED = ("documents", "summaries", "document_hashes", "summary_hashes", "ledger")  # written even where they are empty


def export_folder(
    study: Study, folder: Path, options: ExportOptions, progress: Progress = lambda n, total: None
) -> list[WrittenFile]:
    """Write what the options ask for, and a manifest. Memory stays flat, unless the filter or human scores are asked
    for: rules and scores look at all judgments together."""
    filtered = Filtered(study, options.raw_workers)
    steps, old = _Steps(progress), read_manifest(folder).get("files")
    files = _write_tables(study, folder, options, filtered, steps)
    files += _write_shapes(study, folder, options, filtered, steps)
    steps.finish()
    _remove_stale(folder, old, {file.path.name for file in files})
    facts = json.dumps(manifest(study, options, filtered, files), ensure_ascii=False, indent=1)
    write_atomically(folder / MANIFEST, f"{facts}\n".encode())
    return [*files, WrittenFile(folder / MANIFEST, "manifest")]


def _remove_stale(folder: Path, old: object, new: set[str]) -> None:
    """Remove the files of an earlier export that this one didn't write. A file that somebody changed since stays."""
    for entry in old if isinstance(old, list) else []:
        name = str(entry.get("name") or "") if isinstance(entry, dict) else ""
        path = folder / Path(name).name
        if path.name == name and name not in new and path.is_file() and file_hash(path) == entry.get("sha256"):
            path.unlink()


class _Steps:
    """Rows written so far, of all that there are to write."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.done, self.total = progress, 0, 0

    def __call__(self, rows: int) -> None:
        self.done += rows
        self.progress(min(self.done, self.total), max(self.total, 1))

    def finish(self) -> None:
        self.progress(max(self.total, 1), max(self.total, 1))


def _write_tables(
    study: Study, folder: Path, options: ExportOptions, filtered: Filtered, steps: _Steps
) -> list[WrittenFile]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # workers' own ids may be inside
    tables = [table for table in _tables(study, options, filtered) if table.total or table.name in NEEDED]
    steps.total = sum(table.total for table in tables) + len(options.shapes) * study.documents.count()
    files = []
    for table in tables:
        path = folder / f"{table.name}{options.suffix(table.name)}"
        rows = write_table(table, path, steps)
        files.append(WrittenFile(path, table.name, rows, table.columns))
    if "human_scores" in options.tables and not filtered.human_scores.empty:
        files.append(_write_human_scores(folder, options, filtered))
    return files


def _tables(study: Study, options: ExportOptions, filtered: Filtered) -> Iterator[Table]:
    raw = options.raw_workers
    makers: dict[str, Callable[[], Table]] = {
        "documents": lambda: documents_table(study, raw_workers=raw) if options.texts else document_hashes_table(study),
        "summaries": lambda: summaries_table(study, raw_workers=raw) if options.texts else summary_hashes_table(study),
        "scus": lambda: scus_table(study, texts=options.texts),
        "judgments": lambda: judgments_table(study, raw_workers=raw),
        "judgments_kept": filtered.kept,
        "judgments_dropped": filtered.dropped,
        "scores": lambda: scores_table(study, raw_workers=raw),
        "assignments": lambda: assignments_table(study, raw_workers=raw),
        "ledger": lambda: ledger_table(study, raw_workers=raw),
    }
    for name, make in makers.items():
        if name in options.tables:
            yield make()


def _write_human_scores(folder: Path, options: ExportOptions, filtered: Filtered) -> WrittenFile:
    frame = filtered.human_scores
    path = folder / f"human_scores{options.suffix('human_scores')}"
    write_frame(filtered.defused_scores() if path.suffix == ".csv" else frame, path, "scores")
    strings = {name for name in frame if frame[name].dtype == object or str(frame[name].dtype).startswith("str")}
    columns = tuple(Column(str(name), "string" if name in strings else "number") for name in frame)
    return WrittenFile(path, "human_scores", len(frame), columns)


def _write_shapes(
    study: Study, folder: Path, options: ExportOptions, filtered: Filtered, steps: _Steps
) -> list[WrittenFile]:
    source = Source(study, filtered)
    return [
        WrittenFile(path, name) for name in options.shapes for path in SHAPES[name].module.write(source, folder, steps)
    ]
