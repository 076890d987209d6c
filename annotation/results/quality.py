"""The Quality page: how far the judges agree, who stands out, and which answers the study leaves out."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd
from django.db import transaction
from django.utils.translation import gettext, gettext_noop

from annotation import protocols
from annotation.common import clock
from annotation.common.downloads import quality_chart
from annotation.common.errors import Refused
from annotation.jobs.page_cache import cached_page
from annotation.models import FilterDecision, Study, User
from annotation.tables.frames import judgments_frame
from annotation.tables.records import records
from annotation.tables.trusted import apply_filter, systems_judgments

RESAMPLES = 1000
HERE = "https://here.invalid/"  # stands for the page's own address, which the chart's maker would make absolute
SEED = 0
_ITEM = ["doc_id", "system"]
_ALPHA: list[tuple[str, dict[str, Any]]] = [
    (gettext_noop("Krippendorff's alpha, pooled over all units"), {}),
    (
        gettext_noop("Krippendorff's alpha, mean over summaries, undefined counts as 1"),
        {"per": _ITEM, "undefined": "one"},
    ),
    (
        gettext_noop("Krippendorff's alpha, mean over summaries, undefined left out"),
        {"per": _ITEM, "undefined": "drop"},
    ),
]
_RAW: list[tuple[str, dict[str, Any]]] = [(gettext_noop("Raw agreement"), {"coefficient": "raw"})]
# What the page shows at each level, by name.
READINGS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    gettext_noop("nominal"): [
        *_ALPHA,
        (gettext_noop("Gwet's AC1"), {"coefficient": "ac1"}),
        (gettext_noop("Fleiss' kappa"), {"coefficient": "fleiss"}),
        *_RAW,
    ],
    gettext_noop("interval"): [
        *_ALPHA,
        (gettext_noop("Gwet's AC2"), {"coefficient": "ac2"}),
        (gettext_noop("ICC"), {"coefficient": "icc"}),
        *_RAW,
    ],
}


@cached_page("quality")
def quality_content(study: Study) -> dict[str, Any]:
    judgments = systems_judgments(study)
    if judgments.empty:
        return {"protocols": []}
    trusted = apply_filter(study.filter_in_force(), judgments).judgments
    return {"protocols": [_protocol(name, rows, judgments) for name, rows in _by_protocol(trusted)]}


def _by_protocol(judgments: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(name, judgments[judgments["protocol"] == name]) for name in sorted(set(judgments["protocol"]))]


def _protocol(name: str, trusted: pd.DataFrame, everything: pd.DataFrame) -> dict[str, Any]:
    from analysis.agreement.contested import widest_spread
    from analysis.filters.workers import worker_figures
    from analysis.plot import to_svg

    level = protocols.level_of(name)
    before = everything[everything["protocol"] == name]
    content = {
        "name": name,
        "level": level,
        "agreement": _agreement(trusted, level),
        "before": _rows(_alpha(before, level)),
        "by": {column: _rows(_alpha(trusted, level, by=column)) for column in _columns(trusted, name)},
        "workers": records(worker_figures(before, level)),
        "contested": records(widest_spread(trusted)),
        "spread": _spread(trusted) if not _is_about_scus(name) else [],
    }
    names = ["workers", "systems", *(["spread"] if content["spread"] else [])]
    link = f"{HERE}workers/{{}}/"
    return {**content, "charts": {key: to_svg(quality_chart(content, key, link)).replace(HERE, "") for key in names}}


def _is_about_scus(protocol: str) -> bool:
    """Then units are a document's own, and nothing to compare across documents."""
    return protocol in protocols.judging_scus()


def _spread(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The standard deviation across annotators per dimension, as histograms (SummEval, Figure 1)."""
    from analysis.agreement.experts import spread_histograms
    from analysis.tables import AnalysisError

    try:
        histograms = spread_histograms(rows)
    except AnalysisError:  # nobody has judged the same item twice yet
        return []
    return [
        {"unit": histogram.dimension, "role": histogram.role, "low": low, "high": high, "count": count}
        for histogram in histograms
        for low, high, count in zip(histogram.edges[:-1], histogram.edges[1:], histogram.counts, strict=True)
    ]


def _columns(rows: pd.DataFrame, protocol: str) -> list[str]:
    columns = ["system", *(["group"] if "group" in rows else []), *([] if _is_about_scus(protocol) else ["unit"])]
    return [*columns, *(["round"] if rows["round"].nunique() > 1 else [])]


def _alpha(rows: pd.DataFrame, level: str, **options: Any) -> list[Any]:
    from analysis.agreement import agreement

    return agreement(rows, level=level, **options)


def _agreement(rows: pd.DataFrame, level: str) -> list[dict[str, Any]]:
    """Alpha in both readings, and coefficients that skewed answers spoil less."""
    doubt = {"ci": RESAMPLES, "cluster": "doc_id", "seed": SEED}
    readings = [(name, {**doubt, **options}) for name, options in READINGS[level]]
    return [{"name": name, **row} for name, options in readings for row in _rows(_alpha(rows, level, **options))]


def _rows(results: Sequence[Any]) -> list[dict[str, Any]]:
    return [asdict(result) for result in results]


def worker_answers(study: Study, pseudonym: str) -> list[dict[str, Any]]:
    """What one worker answered, beside the mean of the others."""
    from analysis.filters.workers import beside_others

    rows = beside_others(judgments_frame(study), pseudonym)
    if rows.empty:
        raise Refused(gettext("There is no such worker in this study, or no answer of theirs counts."))
    columns = ("doc_id", "system", "unit", "value", "mean", "count", "seconds", "is_check")
    return records(rows[[name for name in columns if name in rows]])


# Decisions


def preview_rules(study: Study, rules: str, seed: int, price: float = 0.0) -> dict[str, Any]:
    """What a filter would do, and what topping up would cost at a price per assignment: nothing is changed."""
    from analysis.filters import parse_rules, preview
    from analysis.tables import AnalysisError

    judgments = systems_judgments(study)
    if judgments.empty:
        raise Refused(gettext("Nobody has judged yet, so there is nothing to filter."))
    try:
        parsed = parse_rules(rules)
        if not parsed:
            raise Refused(gettext("Choose at least one rule. Nothing was changed."))
        level = protocols.level_of(str(judgments["protocol"].iloc[0]))
        facts = preview(judgments, parsed, seed=seed, level=level, price=price)
    except AnalysisError as error:
        raise Refused(gettext("%(error)s Nothing was changed.") % {"error": error}) from None
    return {
        "rules": [str(rule) for rule in parsed],
        "seed": seed,
        "price": price,
        "facts": facts,
        "decisions": [decision.row() for decision in facts.result.decisions[:200]],
        "n_decisions": len(facts.result.decisions),
    }


def decide_filter(study: Study, rules: str, seed: int, user: User) -> None:
    """Put a filter in force; the one before is undone. Both stay in the log."""
    checked = preview_rules(study, rules, seed)
    with transaction.atomic():
        _undo(study, user)
        FilterDecision.objects.create(study=study, rules=checked["rules"], seed=seed, decided_by=user)


def undo_filter(study: Study, user: User) -> None:
    """Every answer counts again; the decision stays in the log."""
    with transaction.atomic():
        if not _undo(study, user):
            raise Refused(gettext("No filter is in force. Nothing was changed."))


def _undo(study: Study, user: User) -> int:
    return study.filter_decisions.in_force().update(undone_at=clock.now(), undone_by=user)
