"""A study in one folder: a page that works from disk, figures for the paper, tables, methods, verdict, warnings."""

from analysis import make_callable
from analysis.report.build import RESAMPLES, SEED, build_report, judgments_behind
from analysis.report.page import render_page
from analysis.report.parts import Figure, Report, Section
from analysis.report.write import write_report

__all__ = [
    "RESAMPLES",
    "SEED",
    "Figure",
    "Report",
    "Section",
    "build_report",
    "judgments_behind",
    "render_page",
    "write_report",
]


make_callable(__name__, build_report)
