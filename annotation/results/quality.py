"""The Quality page: how far the judges agree, who stands out, and which answers the study leaves out."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.paginator import Page, Paginator
from django.db import transaction
from django.utils.translation import gettext, gettext_noop

from analysis.lazy import pandas as pd
from annotation import protocols
from annotation.common import clock
from annotation.common.downloads import quality_chart
from annotation.common.errors import Refused
from annotation.common.parsing import parse_int
from annotation.jobs.page_cache import cached_page
from annotation.judging.answered_tasks import AnsweredTask, answered_tasks
from annotation.models import Assignment, FilterDecision, Study, User
from annotation.tables.records import records
from annotation.tables.trusted import chosen_judgments, models_judgments, trusted_judgments

from .judges import exams

RESAMPLES = 1000
HERE = "https://here.invalid/"  # stands for the page's own address, which the chart's maker would make absolute
SEED = 0
TASKS = 10  # on a page of a worker's answers
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
    trusted = trusted_judgments(study)
    decision, everything, workers = trusted.decision, trusted.choice.judgments, trusted.choice.workers
    blocks = [_protocol(name, rows, everything, workers) for name, rows in _by_protocol(trusted.judgments)]
    models = dict(_by_protocol(models_judgments(study)))
    for block, (name, rows) in zip(blocks, _by_protocol(trusted.judgments), strict=True):
        block["judges"] = exams(study, rows, models[name], block["level"]) if name in models else []
    if decision is not None:
        blocks = [{**block, "effect": _effect(decision, everything, block)} for block in blocks]
    return {"protocols": blocks, "batches": trusted.choice.sentence}


def _effect(decision: FilterDecision, judgments: pd.DataFrame, block: dict[str, Any]) -> str:
    """How much of what the filter in force did to agreement is selection."""
    from analysis.filters import filter_effect
    from analysis.tables import AnalysisError

    rows = judgments[judgments["protocol"] == block["name"]]
    try:
        effect = filter_effect(rows, decision.rules, seed=decision.seed, level=block["level"])
    except AnalysisError:  # a rule that fits the whole study, but not this protocol alone
        return ""
    return effect.sentence() if effect else ""


def _by_protocol(judgments: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    if judgments.empty:
        return []
    return [(name, judgments[judgments["protocol"] == name]) for name in sorted(set(judgments["protocol"]))]


def _protocol(name: str, trusted: pd.DataFrame, everything: pd.DataFrame, workers: dict[str, str]) -> dict[str, Any]:
    from analysis.agreement.contested import widest_spread
    from analysis.filters.workers import worker_figures
    from analysis.plot import to_svg

    level = protocols.level_of(name)
    before = everything[everything["protocol"] == name]
    can_agree = _has_two_judges(trusted)
    content = {
        "name": name,
        "level": level,
        "agreement": _agreement(trusted, level) if can_agree else [],
        "before": _alpha(before, level) if can_agree else [],
        "by": {column: _alpha(trusted, level, by=column) for column in _columns(trusted, name) if can_agree},
        "workers": _with_links(records(worker_figures(before, level)), workers),
        "remarks": _remarks(name, trusted),
        "contested": records(widest_spread(trusted)),
        "spread": _spread(trusted) if protocols.rates_dimensions(name) else [],
    }
    names = ["workers", "systems"] if can_agree else []
    names += ["spread"] if content["spread"] else []
    link = f"{HERE}workers/{{}}/"
    return {**content, "charts": {key: to_svg(quality_chart(content, key, link)).replace(HERE, "") for key in names}}


def _remarks(name: str, rows: pd.DataFrame) -> list[str]:
    """What the protocol has to say of these judgments; nothing where it isn't here any more."""
    from analysis.tables.where import without_checks

    return [said for protocol in protocols.among([name]) for said in protocol.quality_remarks(without_checks(rows))]


def _has_two_judges(rows: pd.DataFrame) -> bool:
    """Whether there are judges to agree with each other; answers to checks alone make nobody one."""
    from analysis.tables.where import without_checks

    return bool(without_checks(rows)["worker_id"].nunique() > 1)


def _with_links(rows: list[dict[str, Any]], workers: dict[str, str]) -> list[dict[str, Any]]:
    """A rater who is one of a worker's batches leads to the worker."""
    return [{**row, "worker": workers[row["worker_id"]]} if row["worker_id"] in workers else row for row in rows]


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
    unit = ["unit"] if protocols.rates_dimensions(protocol) else []
    columns = ["system", *(["group"] if "group" in rows else []), *unit]
    return [*columns, *(["round"] if rows["round"].nunique() > 1 else [])]


def _alpha(rows: pd.DataFrame, level: str, **options: Any) -> list[dict[str, Any]]:
    from analysis.agreement import agreement

    return [asdict(result) for result in agreement(rows, level=level, **options)]


def _agreement(rows: pd.DataFrame, level: str) -> list[dict[str, Any]]:
    """Alpha in both readings, and coefficients that skewed answers spoil less."""
    doubt = {"ci": RESAMPLES, "cluster": "doc_id", "seed": SEED}
    readings = [(name, {**doubt, **options}) for name, options in READINGS[level]]
    return [{"name": name, **row} for name, options in readings for row in _alpha(rows, level, **options)]


def worker_tasks(study: Study, pseudonym: str, page: str) -> tuple[list[AnsweredTask], Page[Any]]:
    """What one worker answered, beside the others: some tasks at a time, in a fixed number of queries."""
    work = Assignment.objects.counted().filter(worker__study=study, worker__pseudonym=pseudonym)
    work = work.select_related("task__batch", "task__document").order_by("task__document__doc_id", "pk")
    tasks = Paginator(work, TASKS).get_page(page)
    if not tasks.object_list:
        raise Refused(gettext("There is no such worker in this study, or no answer of theirs counts."))
    return answered_tasks(list(tasks.object_list)), tasks


# Decisions


def preview_rules(study: Study, rules: str, seed: int, price: float = 0.0) -> dict[str, Any]:
    """What a filter would do, and what topping up would cost at a price per assignment: nothing is changed."""
    from analysis.filters import parse_rules, preview
    from analysis.tables import AnalysisError

    judgments = chosen_judgments(study).judgments
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


def decide_batches(study: Study, rule: str, batch_ids: list[str]) -> None:
    """Put a batch rule in force; with `chosen` those batches count. Refused for what is unknown."""
    if rule not in Study.BatchRule.values:
        known = ", ".join(Study.BatchRule.values)
        raise Refused(gettext("There is no such rule; there are %(known)s. Nothing was changed.") % {"known": known})
    chosen = study.batches.filter(pk__in=[parse_int(text) for text in batch_ids])
    if rule == Study.BatchRule.CHOSEN and not chosen:
        raise Refused(gettext("Tick at least one batch of this study. Nothing was changed."))
    with transaction.atomic():
        Study.objects.filter(pk=study.pk).update(batch_rule=rule)
        if rule == Study.BatchRule.CHOSEN:
            keys = [batch.pk for batch in chosen]
            study.batches.update(is_chosen=False)
            study.batches.filter(pk__in=keys).update(is_chosen=True)


def undo_filter(study: Study, user: User) -> None:
    """Every answer counts again; the decision stays in the log."""
    with transaction.atomic():
        if not _undo(study, user):
            raise Refused(gettext("No filter is in force. Nothing was changed."))


def _undo(study: Study, user: User) -> int:
    return study.filter_decisions.in_force().update(undone_at=clock.now(), undone_by=user)
