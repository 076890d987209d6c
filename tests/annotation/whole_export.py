"""A study as the five tables that make it again: what tests compare byte by byte."""

from pathlib import Path

from analysis.tables.csv_formulas import MANIFEST
from annotation.models import Study
from annotation.transfer.exporter import export_folder
from annotation.transfer.options import ExportOptions


def export_study(study: Study, folder: Path) -> None:
    """Without the manifest, which tells the time."""
    export_folder(study, folder, ExportOptions(tables=("documents", "summaries", "scus", "judgments", "scores")))
    (folder / MANIFEST).unlink()
