"""The report as a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from analysis.plot import to_pdf
from analysis.report.page import render_page
from analysis.report.parts import Figure, Report
from analysis.report.tables import latex_table
from analysis.tables import write_atomically
from analysis.tables.csv_formulas import defuse


def write_report(report: Report, folder: str | Path) -> list[Path]:
    """Write the page, figures, tables, methods and provenance; the paths of all files.

    All is made before anything is written, so that an end in between leaves an older report as it was.
    """
    folder = Path(folder)
    contents = {path: content for figure in report.figures for path, content in _contents(figure, folder).items()}
    texts = {
        "index.html": render_page(report),
        "methods.txt": f"{report.verdict}\n\n{report.methods}\n",
        "warnings.txt": "".join(f"{warning}\n" for warning in report.warnings),
        "commands.txt": "".join(f"# {figure.title}\n{figure.command}\n\n" for figure in report.figures),
        "provenance.json": json.dumps(report.provenance, indent=1, ensure_ascii=False, default=str) + "\n",
    }
    return _write(contents | {folder / name: text.encode() for name, text in texts.items()})


def write_figure(figure: Figure, folder: str | Path) -> list[Path]:
    """One figure as SVG and PDF, its numbers as CSV and LaTeX."""
    return _write(_contents(figure, Path(folder)))


def _contents(figure: Figure, folder: Path) -> dict[Path, bytes]:
    return {
        folder / "figures" / f"{figure.name}.svg": figure.svg.encode(),
        folder / "figures" / f"{figure.name}.pdf": to_pdf(figure.chart),
        folder / "tables" / f"{figure.name}.csv": _csv(figure.table),
        folder / "tables" / f"{figure.name}.tex": latex_table(figure.table, figure.caption, figure.name).encode(),
    }


def _write(contents: dict[Path, bytes]) -> list[Path]:
    for path, content in contents.items():
        write_atomically(path, content)
    return list(contents)


def _csv(table: pd.DataFrame) -> bytes:
    """The numbers of a figure; a name that a spreadsheet would run as a formula is defused."""
    safe = table.map(lambda cell: defuse(cell) if isinstance(cell, str) else cell)
    safe.columns = pd.Index([defuse(str(name)) for name in table.columns])
    return bytes(safe.to_csv(index=False).encode())
