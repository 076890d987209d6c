"""A study as the five tables that make it again: what tests compare byte by byte."""

from pathlib import Path

from analysis.tables.csv_formulas import MANIFEST
from annotation.models import Study
from annotation.transfer.exporting.options import ExportOptions
from annotation.transfer.exporting.study import export_folder


def export_study(study: Study, folder: Path) -> None:
    """Without the manifest, which tells the time."""
    export_folder(study, folder, ExportOptions(tables=("documents", "summaries", "scus", "judgments", "scores")))
    (folder / MANIFEST).unlink()
