"""Models beside people: exams for the Quality page, and people's scores with models' help on the Report."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import Any

from analysis.lazy import pandas as pd
from annotation.models import Judge, Study, Worker
from annotation.tables.frames import summaries_frame
from annotation.tables.trusted import Trusted, models_judgments

RESAMPLES = 1000
EPSILON = 0.2


def exams(study: Study, people: pd.DataFrame, models: pd.DataFrame, level: str) -> list[dict[str, Any]]:
    """The exam of each model against these people's judgments, of one protocol; none where they share nothing."""
    from analysis.judges import examine
    from analysis.tables import AnalysisError

    if models.empty or people.empty:
        return []
    judges = _judges(study)
    kin = {name: judge.own_system for name, judge in judges.items() if judge.own_system}
    try:
        results = examine(
            people, models, level=level, epsilon=EPSILON, lengths=_lengths(study), kin=kin, resamples=RESAMPLES
        )
    except AnalysisError:  # nothing but checks on one side
        return []
    titles = _titles(study, set(models["worker_id"]))
    recorded = _recorded(study)
    return [
        {
            "judge": titles.get(exam.judge, exam.judge),
            "worker_id": exam.judge,
            "omega": _number(exam.test.omega),
            "rho": _number(exam.test.rho),
            "rho_low": _number(exam.test.rho_low),
            "rho_high": _number(exam.test.rho_high),
            "epsilon": exam.test.epsilon,
            "n_items": exam.n_items,
            "n_human_items": exam.n_human_items,
            "n_people": exam.n_people,
            "alpha_people": _number(exam.people.value),
            "alpha_with": _number(exam.together.value),
            "alpha_with_low": _number(exam.together.low),
            "alpha_with_high": _number(exam.together.high),
            "repeatability": _number(exam.repeatability),
            "checks": exam.n_checks,
            "checks_failed": exam.n_failed,
            "biases": [{**asdict(bias), "is_clear": bias.is_clear} for bias in exam.biases],
            "verdict": exam.verdict,
            "recorded": exam.judge in recorded,
        }
        for exam in results
    ]


def _number(value: float) -> float | None:
    return value if isfinite(value) else None


def _judges(study: Study) -> dict[str, Judge]:
    """By the name that tables have; of several versions that are asked the same, the newest."""
    return {judge.worker_name: judge for judge in study.judges.order_by("version")}


def _titles(study: Study, names: set[str]) -> dict[str, str]:
    """What judges are called: as the study calls them, or as an imported file did. They are no people."""
    workers = Worker.objects.filter(study=study, pseudonym__in=names).values_list("pseudonym", "external_id")
    return {**dict(workers), **{name: str(judge) for name, judge in _judges(study).items()}}


def _recorded(study: Study) -> set[str]:
    """Whose answers came in a file: nobody was asked here."""
    return set(study.workers.filter(crowd=Worker.IMPORTED).values_list("pseudonym", flat=True))


def _lengths(study: Study) -> dict[tuple[str, str], float]:
    summaries = summaries_frame(study)
    keys = zip(summaries["doc_id"], summaries["system"], strict=True)
    texts = [text if isinstance(text, str) else " ".join(text) for text in summaries["summary"]]
    return {key: float(len(text.split())) for key, text in zip(keys, texts, strict=True)}


def powered_scores(study: Study, trusted: Trusted) -> list[dict[str, Any]]:
    """Systems' means by people with models' help, by measure; none while no model has judged."""
    from analysis.judges.prediction_powered import powered_measures

    models = models_judgments(study)
    if models.empty or trusted.judgments.empty:
        return []
    protocols = set(models["protocol"])
    people = trusted.judgments[trusted.judgments["protocol"].isin(protocols)]
    if people.empty:
        return []
    return [
        {
            "measure": measure,
            "systems": [{**asdict(row), **_limits(row)} for row in result.systems],
            "helps": any(row.tuning > 0 and row.n_model for row in result.systems),
        }
        for measure, result in powered_measures(people, models).items()
    ]


def _limits(row: Any) -> dict[str, float | None]:
    return {name: _number(getattr(row, name)) for name in ("low", "high", "people_low", "people_high", "tuning")}
