"""The Quality page: how far the judges agree, who stands out, and which answers the study leaves out."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd
from django.db import transaction
from django.utils.translation import gettext

from annotation.common import clock

from .downloads import quality_chart
from .errors import Refused
from .models import FilterDecision, Study, User
from .protocols.litepyramid import REFERENCE_GROUP
from .stored import stored
from .transfer.frames import judgments_frame

RESAMPLES = 1000
HERE = "https://here.invalid/"  # stands for the page's own address, which the chart's maker would make absolute
SEED = 0
LEVELS = {"litepyramid": "nominal", "likert": "interval"}
_ITEM = ["doc_id", "system"]
_ALPHA: list[tuple[str, dict[str, Any]]] = [
    ("Krippendorff's alpha, pooled over all units", {}),
    ("Krippendorff's alpha, mean over summaries, undefined counts as 1", {"per": _ITEM, "undefined": "one"}),
    ("Krippendorff's alpha, mean over summaries, undefined left out", {"per": _ITEM, "undefined": "drop"}),
]
_RAW: list[tuple[str, dict[str, Any]]] = [("Raw agreement", {"coefficient": "raw"})]
# What the page shows at each level, by name.
READINGS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "nominal": [
        *_ALPHA,
        ("Gwet's AC1", {"coefficient": "ac1"}),
        ("Fleiss' kappa", {"coefficient": "fleiss"}),
        *_RAW,
    ],
    "interval": [*_ALPHA, ("Gwet's AC2", {"coefficient": "ac2"}), ("ICC", {"coefficient": "icc"}), *_RAW],
}


def systems_judgments(study: Study) -> pd.DataFrame:
    """The judgments of the systems' summaries. Rated references are left out: a worker rates them in every group."""
    return of_systems(judgments_frame(study))


def of_systems(frame: pd.DataFrame) -> pd.DataFrame:
    """A table without the rows about rated references."""
    return frame[frame["group"] != REFERENCE_GROUP] if "group" in frame else frame


def kept_judgments(study: Study) -> tuple[pd.DataFrame, FilterDecision | None]:
    """The judgments that count under the decision in force."""
    judgments = systems_judgments(study)
    decision = FilterDecision.objects.filter(study=study, undone_at__isnull=True).first()
    if decision is None or judgments.empty:
        return judgments, decision
    from analysis.filters import apply_rules

    return apply_rules(judgments, decision.rules, seed=decision.seed).kept, decision


@stored("quality")
def quality_content(study: Study) -> dict[str, Any]:
    judgments = systems_judgments(study)
    if judgments.empty:
        return {"protocols": []}
    kept, _ = kept_judgments(study)
    return {"protocols": [_protocol(name, rows, judgments) for name, rows in _by_protocol(kept)]}


def _by_protocol(judgments: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(name, judgments[judgments["protocol"] == name]) for name in sorted(set(judgments["protocol"]))]


def _protocol(name: str, kept: pd.DataFrame, everything: pd.DataFrame) -> dict[str, Any]:
    from analysis.plot import to_svg

    level = LEVELS.get(name, "nominal")
    before = everything[everything["protocol"] == name]
    part = {
        "name": name,
        "level": level,
        "agreement": _agreement(kept, level),
        "before": _rows(_alpha(before, level)),
        "by": {column: _rows(_alpha(kept, level, by=column)) for column in _columns(kept, name)},
        "workers": worker_rows(before, level),
        "contested": _contested(kept),
        "spread": _spread(kept) if name == "likert" else [],
    }
    charts = ["workers", "systems", *(["spread"] if part["spread"] else [])]
    link = f"{HERE}workers/{{}}/"
    return {**part, "charts": {what: to_svg(quality_chart(part, what, link)).replace(HERE, "") for what in charts}}


def _spread(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The standard deviation across annotators per dimension, as histograms (SummEval, Figure 1)."""
    from analysis.agreement_experts import spread_histograms
    from analysis.tables import AnalysisError

    try:
        found = spread_histograms(rows)
    except AnalysisError:  # nobody has judged the same item twice yet
        return []
    return [
        {"unit": one.dimension, "role": one.role, "low": low, "high": high, "count": count}
        for one in found
        for low, high, count in zip(one.edges[:-1], one.edges[1:], one.counts, strict=True)
    ]


def _columns(rows: pd.DataFrame, protocol: str) -> list[str]:
    columns = ["system", *(["group"] if "group" in rows else []), *(["unit"] if protocol == "likert" else [])]
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


def worker_rows(judgments: pd.DataFrame, level: str) -> list[dict[str, Any]]:
    """Each worker: answers, time per answer, agreement with the others, failed checks. Worst agreement first."""
    checks = judgments[judgments["is_check"].astype(bool)]
    real = judgments[~judgments["is_check"].astype(bool)]
    table = pd.DataFrame({"answers": real.groupby("worker_id").size()})
    table["seconds"] = real.groupby("worker_id")["seconds"].median() if "seconds" in real else float("nan")
    table["checks"] = checks.groupby("worker_id").size()
    expected = checks["expected"].fillna(0) if "expected" in checks else 0.0
    failed = pd.Series(checks["value"].to_numpy() != expected, index=checks.index)
    table["failed"] = failed.groupby(checks["worker_id"]).sum()
    found = {row.group: row.value for row in _alpha(judgments, level, by="worker_id")}
    table["agreement"] = pd.Series(found, dtype=float)
    table[["checks", "failed"]] = table[["checks", "failed"]].fillna(0).astype(int)
    rows = table.rename_axis("worker_id").reset_index().sort_values(["agreement", "worker_id"])
    return [{str(key): cell for key, cell in row.items()} for row in rows.to_dict("records")]


def _contested(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The items on which the judges differ most: at most 50."""
    real = rows[~rows["is_check"].astype(bool)]
    spread = real.groupby(["doc_id", "system", "unit"])["value"].agg(["std", "count", "mean"]).reset_index()
    order = ["std", "count", "doc_id", "system", "unit"]
    worst = spread[spread["std"] > 0].sort_values(order, ascending=[False, False, True, True, True])
    return [{str(key): cell for key, cell in row.items()} for row in worst.head(50).to_dict("records")]


def worker_answers(study: Study, pseudonym: str) -> list[dict[str, Any]]:
    """What one worker answered, beside the mean of the others."""
    judgments = judgments_frame(study)
    mine = judgments[judgments["worker_id"] == pseudonym]
    if mine.empty:
        raise Refused(gettext("There is no such worker in this study, or no answer of theirs counts."))
    others = judgments[judgments["worker_id"] != pseudonym]
    means = others.groupby(["doc_id", "system", "unit"])["value"].agg(["mean", "count"]).reset_index()
    rows = mine.merge(means, how="left", on=["doc_id", "system", "unit"])
    wanted = ("doc_id", "system", "unit", "value", "mean", "count", "seconds", "is_check")
    columns = [name for name in wanted if name in rows]
    return [{str(key): cell for key, cell in row.items()} for row in rows[columns].to_dict("records")]


# Decisions


def preview_rules(study: Study, rules: str, seed: int, price: float = 0.0) -> dict[str, Any]:
    """What a filter would do, and what topping up would cost at a price per assignment: nothing is changed."""
    from analysis.filters import parse_rules, preview
    from analysis.tables import AnalysisError

    judgments = systems_judgments(study)
    if judgments.empty:
        raise Refused(gettext("Nobody has judged yet, so there is nothing to filter."))
    try:
        chosen = parse_rules(rules)
        if not chosen:
            raise Refused(gettext("Choose at least one rule. Nothing was changed."))
        level = LEVELS.get(str(judgments["protocol"].iloc[0]), "nominal")
        found = preview(judgments, chosen, seed=seed, level=level, price=price)
    except AnalysisError as error:
        raise Refused(gettext("%(error)s Nothing was changed.") % {"error": error}) from None
    return {
        "rules": [str(rule) for rule in chosen],
        "seed": seed,
        "price": price,
        "facts": found,
        "decisions": [decision.row() for decision in found.result.decisions[:200]],
        "n_decisions": len(found.result.decisions),
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
    return FilterDecision.objects.filter(study=study, undone_at__isnull=True).update(
        undone_at=clock.now(), undone_by=user
    )
