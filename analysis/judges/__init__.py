"""The exam of judges that are no people: language models held against those who judged the same items.

A judge's several answers to an item are samples of one answer: their mean counts (for yes and no: what most say).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.agreement import alpha_samples, pooled_alpha
from analysis.agreement.coefficients import LEVELS
from analysis.agreement.counts import UNIT, latest
from analysis.bootstrap import percentile_limits
from analysis.judges.alternative import EPSILONS, SCORES, AlternativeTest, Floats, Ints, alternative_test
from analysis.judges.bias import Bias, biases
from analysis.judges.verdict import verdict
from analysis.sentence import Sentence
from analysis.tables import AnalysisError
from analysis.tables.where import without_checks

__all__ = ["EPSILONS", "SCORES", "Agreement", "Bias", "Exam", "examine"]

RATERS = ["doc_id", "system", "unit", "worker_id", "value"]


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha with an interval by documents."""

    value: float
    low: float
    high: float
    n_items: int


@dataclass(frozen=True)
class Exam:
    """What is known of one judge, over everything or in one group of items."""

    judge: str
    group: str | None
    test: AlternativeTest
    n_items: int
    """Items that the judge and at least one person answered."""
    n_human_items: int
    """Items that people answered: the judge was examined on `n_items` of them."""
    n_people: int
    people: Agreement
    """Alpha of the people alone, on the judge's items."""
    together: Agreement
    """Alpha of the people with the judge among them."""
    change: Agreement
    """What the judge does to alpha: together less alone."""
    with_each: dict[str, Agreement]
    """Alpha of the judge with each person."""
    repeatability: float
    """Alpha between the judge's own samples; NaN where every item was asked once."""
    biases: tuple[Bias, ...] = ()
    n_checks: int = 0
    n_failed: int = 0

    @property
    def verdict(self) -> Sentence:
        return verdict(self.test, self.n_items, self.n_people, self.change.low)


@dataclass(frozen=True)
class Settings:
    """How the exam is held."""

    level: str
    score: str
    epsilon: float
    resamples: int
    seed: int


def examine(
    people: pd.DataFrame,
    models: pd.DataFrame,
    *,
    by: str | None = None,
    level: str | None = None,
    score: str | None = None,
    epsilon: float = 0.2,
    lengths: Mapping[tuple[str, str], float] | None = None,
    kin: Mapping[str, str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Exam]:
    """The exam of every judge in `models` against `people`, for each value of the column `by` or over everything.

    `lengths` are words by document and system; `kin` says which system is a judge's own.

    >>> rows = [(f"d{n}", "s", "u", f"w{w}", float((n + (n * w) % 7) % 5)) for n in range(40) for w in range(1, 4)]
    >>> people = pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])
    >>> copy = people[people["worker_id"] == "w1"].assign(worker_id="copy of w1")
    >>> [(exam.judge, exam.test.omega, exam.n_items) for exam in examine(people, copy, resamples=0)]
    [('copy of w1', 1.0, 40)]
    """
    asked, people = without_checks(models), latest(without_checks(people).reset_index(drop=True))
    people = people.drop_duplicates([*UNIT, "worker_id"], keep="last").reset_index(drop=True)
    if people.empty or asked.empty:
        raise AnalysisError("The exam needs answers of people and of a judge to items that are no checks.")
    level = level or ("nominal" if people["value"].nunique() <= 2 else "interval")
    if level not in LEVELS:
        raise AnalysisError(f"There is no level {level!r}; there are {', '.join(LEVELS)}.")
    settings = Settings(level, score or ("accuracy" if level == "nominal" else "rmse"), epsilon, resamples, seed)
    exams = []
    for judge, answers in asked.groupby("worker_id", sort=True):
        checks = _checks(models[models["worker_id"] == judge])
        for group, items in _groups(people, by):
            exam = _exam(str(judge), group, items, _in_group(answers, group, by), settings)
            effects = biases(_differences(items, answers, lengths), (kin or {}).get(str(judge)), resamples, seed)
            exams.append(replace(exam, biases=effects, n_checks=len(checks), n_failed=int(checks.sum())))
    return exams


def _groups(people: pd.DataFrame, by: str | None) -> list[tuple[str | None, pd.DataFrame]]:
    if by is None:
        return [(None, people)]
    if by not in people.columns:
        raise AnalysisError(f"The judgments have no column {by!r}; they have {', '.join(people.columns)}.")
    return [(str(name), rows.reset_index(drop=True)) for name, rows in people.groupby(by, sort=True)]


def _in_group(answers: pd.DataFrame, group: str | None, by: str | None) -> pd.DataFrame:
    return answers if by is None else answers[answers[by].astype(str) == group]


def _exam(judge: str, group: str | None, people: pd.DataFrame, answers: pd.DataFrame, settings: Settings) -> Exam:
    answer_of = single_answers(answers, settings.level)
    items = pd.MultiIndex.from_frame(people[list(UNIT)])
    shared = people[items.isin(answer_of.index)].reset_index(drop=True)
    table = shared.pivot(index="worker_id", columns=list(UNIT), values="value")
    given = answer_of.reindex(table.columns)
    test = alternative_test(
        given.to_numpy(dtype=np.float64),
        table.to_numpy(dtype=np.float64),
        [str(name) for name in table.index],
        _codes(table.columns.get_level_values("doc_id")),
        score=settings.score,
        epsilon=settings.epsilon,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    judged = given.rename("value").reset_index().assign(worker_id=f"{judge} (judge)")[RATERS]
    together = pd.concat([shared[RATERS], judged], ignore_index=True)
    alone, joined = _samples(shared, settings), _samples(together, settings)
    people_alpha, joint_alpha = _value(shared, settings), _value(together, settings)
    n_documents = shared["doc_id"].nunique()

    def agreement(value: float, samples: Floats, n_items: int) -> Agreement:
        return Agreement(value, *percentile_limits(samples, n=n_documents), n_items)

    with_each = {
        str(name): agreement(_value(pair, settings), _samples(pair, settings), len(pair) // 2)
        for name, pair in _pairs(shared, judged)
    }
    return Exam(
        judge,
        group,
        test,
        len(judged),
        int(items.nunique()),
        int(shared["worker_id"].nunique()),
        agreement(people_alpha, alone, len(judged)),
        agreement(joint_alpha, joined, len(judged)),
        agreement(joint_alpha - people_alpha, joined - alone, len(judged)),
        with_each,
        repeatability(answers, settings.level),
    )


def single_answers(answers: pd.DataFrame, level: str) -> pd.Series:
    """A judge's one answer to every item: the mean of its samples, or what most of them say (even: the lower)."""
    samples = answers.groupby(list(UNIT))["value"]
    if level == "nominal":
        return samples.agg(lambda values: values.mode().iloc[0])
    return samples.mean()


def repeatability(answers: pd.DataFrame, level: str) -> float:
    """Alpha between a judge's samples of the same items: rows of their own, or listed in the column `samples`."""
    if "samples" in answers.columns:
        answers = _listed_samples(answers)
    numbers = answers.groupby(list(UNIT)).cumcount()
    if not numbers.any():
        return float("nan")
    return pooled_alpha(answers[[*UNIT, "value"]].assign(worker_id=numbers.astype(str)), level)


def _listed_samples(answers: pd.DataFrame) -> pd.DataFrame:
    """A row for each sample; where none are listed the value itself is the only one."""
    listed = answers["samples"].fillna("").astype(str).str.split()
    values = [names or [value] for names, value in zip(listed, answers["value"], strict=True)]
    return (
        answers.assign(value=pd.Series(values, index=answers.index))
        .explode("value", ignore_index=True)
        .astype({"value": np.float64})
    )


def _pairs(shared: pd.DataFrame, judged: pd.DataFrame) -> list[tuple[object, pd.DataFrame]]:
    """For each person the rows of both on the items that both judged."""
    return [
        (name, pd.concat([rows[RATERS], rows[list(UNIT)].merge(judged, on=list(UNIT))[RATERS]], ignore_index=True))
        for name, rows in shared.groupby("worker_id", sort=True)
    ]


def _value(rows: pd.DataFrame, settings: Settings) -> float:
    return pooled_alpha(rows, settings.level) if len(rows) else float("nan")


def _samples(rows: pd.DataFrame, settings: Settings) -> Floats:
    if not settings.resamples or rows["doc_id"].nunique() < 2:
        return np.full(max(1, settings.resamples), np.nan)
    return alpha_samples(rows, settings.level, settings.resamples, settings.seed)


def _differences(
    people: pd.DataFrame, answers: pd.DataFrame, lengths: Mapping[tuple[str, str], float] | None
) -> pd.DataFrame:
    """The judge's answers less the mean of the people's, with what may move them."""
    means = people.groupby(list(UNIT))["value"].mean().rename("human")
    rows = answers.join(means, on=list(UNIT), how="inner")
    rows = rows.assign(difference=rows["value"] - rows["human"])
    if lengths is not None:
        rows["length"] = [lengths.get(key, np.nan) for key in zip(rows["doc_id"], rows["system"], strict=True)]
    return rows


def _checks(rows: pd.DataFrame) -> Floats:
    """For each check item whether the judge failed it."""
    from analysis.filters.behaviour import expected_answers

    if "is_check" not in rows.columns:
        return np.zeros(0)
    checks = rows[rows["is_check"].astype(bool)]
    return np.asarray(checks["value"].to_numpy() != expected_answers(checks), dtype=np.float64)


def _codes(values: pd.Index) -> Ints:
    return np.asarray(pd.factorize(values)[0], dtype=np.int64)
