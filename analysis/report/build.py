"""From tables to a report."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from analysis.aggregate import measured
from analysis.correlate.score_cube import build_cube, without_references
from analysis.report import figures as draw
from analysis.report.parts import Figure, Report, Section, Study
from analysis.report.prose import methods, warnings
from analysis.report.verdict import verdict
from analysis.sentence import Sentence

RESAMPLES = 1000
SEED = 0


def build_report(
    scores: pd.DataFrame,
    *,
    human: str,
    metrics: Sequence[str] | None = None,
    judgments: pd.DataFrame | None = None,
    summaries: pd.DataFrame | None = None,
    title: str = "",
    seed: int = SEED,
    resamples: int = RESAMPLES,
    where: Sequence[str] = (),
    source: str | Sequence[str] = "scores.csv",
    judgments_source: str = "judgments.csv",
    filtered: str = "",
    command: str = "",
    provenance: dict[str, object] | None = None,
) -> Report:
    """Work out every number, draw every figure and put it in words.

    `source` and `judgments_source` are what the printed commands call the tables, `command` is the one that makes this
    report, and `filtered` a sentence on how the judgments were filtered. `write_report(report, folder)` writes it.

    >>> rows = [(f"d{d}", f"s{s}", metric, s + d % 2 + (s * d % 3) * noise)
    ...         for metric, noise in (("human", 0), ("rouge", 0.4)) for s in range(5) for d in range(6)]
    >>> scores = pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value"])
    >>> report = build_report(scores, human="human", resamples=50)
    >>> report.verdict.startswith("On these 5 systems and 6 documents")
    True
    """
    scores, references = without_references(scores)
    cube = build_cube(scores)
    cube.index(human)
    for name in metrics or ():
        cube.index(name)
    names = tuple(metrics) if metrics is not None else tuple(cube.beside(human))
    files = (source,) if isinstance(source, str) else tuple(source)
    study = Study(
        scores,
        cube,
        human,
        names,
        judgments,
        summaries,
        seed,
        resamples,
        tuple(where),
        files,
        judgments_source,
        filtered,
    )
    findings = draw.work_out(study)
    return Report(
        title or f"Which metric to trust: {human}",
        verdict(study, findings),
        (*([references] if references else []), *warnings(study, findings)),
        tuple(section for section in _sections(study, findings) if section.figures),
        methods(study, findings),
        command or draw.command(study, "report", "--out", "report"),
        provenance or {},
    )


def judgments_behind(judgments: pd.DataFrame, human: str) -> pd.DataFrame:
    """The judgments that a measure was made of: one dimension of a scale, or all of the protocol that it is named after
    (pyramid_score: the SCUs)."""
    judgments = measured(judgments)
    rated = judgments[judgments["unit"] == human]
    if len(rated) or "protocol" not in judgments.columns:
        return rated if len(rated) else judgments
    names = [name for name in judgments["protocol"].unique() if human.startswith(f"{name}_")]
    behind = judgments[judgments["protocol"].isin(names or ["litepyramid"])]
    return behind if len(behind) else judgments


def _sections(study: Study, findings: draw.Findings) -> list[Section]:
    return [
        Section(
            "judges",
            Sentence("Can we trust the judges?"),
            Sentence("Scores are worth no more than the judgments behind them."),
            _present(draw.agreement_figure(study)),
        ),
        Section(
            "systems",
            Sentence("How good are the systems?"),
            Sentence("What people said, with its doubt."),
            (draw.human_figure(study, findings),),
        ),
        Section(
            "metrics",
            Sentence("Which metric follows them?"),
            Sentence(
                "A metric deserves trust when it orders the systems as people do, and more so than other metrics."
            ),
            _metric_figures(study, findings),
        ),
        Section(
            "limits",
            Sentence("Where does it break?"),
            Sentence(
                "A metric that ranks all systems well may fail on single summaries, among the best systems, or within "
                "one kind of system."
            ),
            _limit_figures(study, findings),
        ),
    ]


def _present(*figures: Figure | None) -> tuple[Figure, ...]:
    return tuple(figure for figure in figures if figure is not None)


def _metric_figures(study: Study, findings: draw.Findings) -> tuple[Figure, ...]:
    best = findings.lead
    return _present(
        draw.correlation_figure(study, findings) if best else None,
        draw.scatter_figure(study, best.metric) if best else None,
        draw.significance_figure(study, findings.comparison) if findings.comparison and best else None,
        draw.pairwise_figure(study, findings) if len(findings.pairs) > 1 else None,
    )


def _limit_figures(study: Study, findings: draw.Findings) -> tuple[Figure, ...]:
    if findings.lead is None:
        return ()
    return _present(
        draw.level_figure(study, findings) if findings.summary else None,
        draw.topk_figure(study, findings) if findings.top else None,
        draw.group_figure(study),
        draw.agreement_of_metrics_figure(study) if len(study.metrics) > 1 else None,
    )
