"""A study in one folder: a page that works from disk, figures for the paper, tables, methods, verdict, warnings."""

from analysis.report.build import build_report, judgments_behind
from analysis.report.page import render_page
from analysis.report.parts import Figure, Report, Section
from analysis.report.write import write_report

__all__ = ["Figure", "Report", "Section", "build_report", "judgments_behind", "render_page", "write_report"]
