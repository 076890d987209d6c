"""The report of a study: the same one that `python -m analysis report` writes, from the tables as they stand.

Filter, agree, aggregate, correlate: all statistics and words are `analysis`'s; this module fetches the tables.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from analysis.lazy import pandas as pd
from annotation.common.errors import Refused
from annotation.jobs.page_cache import cached_page
from annotation.models import Study
from annotation.tables.frames import scores_frame, summaries_frame
from annotation.tables.trusted import filter_sentence, human_scores, measures_of, of_systems, trusted_judgments

from .judges import powered_scores

if TYPE_CHECKING:
    from analysis.report import Report
    from analysis.report.parts import Figure


@cached_page("report")
def report_content(study: Study) -> dict[str, Any]:
    """What the Report page shows; empty while nobody has judged and no scores of people were imported."""
    report = study_report(study)
    return {} if report is None else {**_content(report), "powered": powered_scores(study, trusted_judgments(study))}


def human_measures_of(study: Study) -> tuple[pd.DataFrame, list[str]]:
    """All scores, people's among them, and the names of people's measures, the leading one first; none without."""
    trusted, imported = trusted_judgments(study), scores_frame(study)
    measured = imported_humans(imported) if trusted.judgments.empty else human_scores(study, trusted.judgments)
    return (imported, []) if measured.empty else (_together(measured, imported), measures_of(measured))


def study_report(study: Study, human: str = "") -> Report | None:
    """The report by one human measure (by default the leading one)."""
    from analysis.correlate.score_cube import human_measures
    from analysis.report import RESAMPLES, SEED, build_report, judgments_behind
    from analysis.tables.where import without_checks

    trusted, imported = trusted_judgments(study), scores_frame(study)
    measured = imported_humans(imported) if trusted.judgments.empty else human_scores(study, trusted.judgments)
    if measured.empty:
        return None
    measures = measures_of(measured)
    human = human or measures[0]
    if human not in measures:
        raise Refused(
            gettext("There is no human measure “%(name)s” here. There are: %(known)s.")
            % {"name": human[:60], "known": ", ".join(measures)}
        )
    scores = _together(measured, imported)
    judgments = None if trusted.judgments.empty else without_checks(judgments_behind(trusted.judgments, human))
    return build_report(
        scores,
        human=human,
        metrics=sorted(set(scores["metric"]) - set(measures) - set(human_measures(imported))),
        judgments=judgments,
        summaries=of_systems(summaries_frame(study)),
        title=study.name,
        seed=SEED,
        resamples=RESAMPLES,
        filtered=filter_sentence(trusted, human),
        # As the files of an export in the folder STUDY are called.
        source=("STUDY/scores.csv",) if judgments is None else ("STUDY/human_scores.csv", "STUDY/scores.csv"),
        judgments_source="STUDY/judgments_kept.csv",
        command=f"python -m analysis report STUDY --human {human} --ci {RESAMPLES} --seed {SEED} --out report",
    )


def imported_humans(scores: pd.DataFrame) -> pd.DataFrame:
    """The scores that people gave elsewhere: those whose `role` is human."""
    from analysis.correlate.score_cube import human_measures

    return scores[scores["metric"].isin(human_measures(scores))]


def _together(human: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """One scores table; what was worked out here stands for an imported measure of the same name."""
    columns = [name for name in ("doc_id", "system", "group", "metric", "value", "role") if name in human]
    remaining = metrics[~metrics["metric"].isin(human["metric"])]
    shared = [name for name in (*columns, "is_reference") if name in remaining]
    return pd.concat([human[columns], remaining[shared]], ignore_index=True)


def _content(report: Report) -> dict[str, Any]:
    return {
        "title": report.title,
        "verdict": report.verdict,
        "warnings": list(report.warnings),
        "methods": report.methods,
        "command": report.command,
        "sections": [
            {
                "name": section.name,
                "heading": section.heading,
                "text": section.text,
                "figures": [_figure(figure) for figure in section.figures],
            }
            for section in report.sections
        ],
    }


def _figure(figure: Figure) -> dict[str, Any]:
    from analysis.plot import to_svg

    return {
        "name": figure.name,
        "title": figure.title,
        "caption": figure.caption,
        "command": figure.command,
        "svg": to_svg(figure.chart),
        "columns": [str(name) for name in figure.table.columns],
        "rows": figure.table.astype(object).values.tolist(),
    }


def report_archive(study: Study) -> bytes:
    """The report's folder (page, figures, tables, methods, commands) as one zip file."""
    from analysis.report import write_report

    report = study_report(study)
    if report is None:
        raise Refused(gettext("Nobody has judged yet, so there is nothing to report."))
    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(write_report(report, place)):
            archive.write(path, path.relative_to(place))
    return buffer.getvalue()
