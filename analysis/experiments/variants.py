"""All variants of a metric against people, which of them are optimal, and what those have in common (Graham 2015)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.compare import Comparison, compare
from analysis.correlate.score_cube import MissingMeasure, ScoreCube, build_cube
from analysis.tables import AnalysisError

COMBINATIONS = ("mean", "geometric", "harmonic", "coverage", "quality")
_NAME = re.compile(r"^(?P<base>[^\[\]]+?)(?:\[(?P<options>[^\]]*)\])?$")
_PART = re.compile(r"^(?P<family>.+?)[-_](?P<part>p|r|f|precision|recall|f_score)$")
LETTERS = {"A": 1.0, "B": 0.75, "C": 0.5, "D": 0.25, "E": 0.0}
"""Ratings of linguistic quality as shares (section 3.1)."""


@dataclass(frozen=True)
class Variant:
    """One metric with its options and its way to make a system's score."""

    name: str
    family: str
    """What is counted: rouge-2, bleu, …"""
    part: str
    """p, r or f; empty for metrics without."""
    stem: bool
    stop: bool
    score: str
    """mean, median, or whole when the metric scores whole systems."""


@dataclass(frozen=True)
class VariantResult:
    """A variant's correlation and whether any other beats it."""

    variant: Variant
    value: float
    optimal: bool


@dataclass(frozen=True)
class OptionShare:
    """How many of the optimal variants have an option (Table 2)."""

    option: str
    setting: str
    share: float
    """In per cent of the optimal variants that have such an option at all."""
    count: int


def parse_variant(metric: str, score: str) -> Variant:
    """The options that stand in a metric's name, as in `rouge-2-p[stem,stop]`."""
    match = _NAME.match(metric)
    base, options = (match["base"], match["options"] or "") if match else (metric, "")
    flags = {option.split("=")[0].strip() for option in options.split(",")}
    cut = _PART.match(base)
    family, part = (cut["family"], cut["part"][0]) if cut else (base, "")
    return Variant(f"{metric} {score}", family, part, "stem" in flags, "stop" in flags, score)


def variant_cube(cube: ScoreCube, human: str, metrics: Sequence[str]) -> tuple[ScoreCube, list[Variant]]:
    """One score per system for every variant: means and medians as separate metrics."""
    variants, rows = [], [cube.system_scores(human)]
    for metric in metrics:
        for score in ("whole",) if cube.is_whole(metric) else ("mean", "median"):
            variants.append(parse_variant(metric, score))
            rows.append(cube.system_scores(metric, "mean" if score == "whole" else score))
    names = (human, *(variant.name for variant in variants))
    empty = np.full((len(names), len(cube.systems), 0), np.nan)
    return ScoreCube(names, cube.systems, (), cube.groups, empty, np.stack(rows)), variants


def compare_variants(
    scores: pd.DataFrame | ScoreCube,
    *,
    human: str,
    metrics: Sequence[str] | None = None,
    coefficient: str = "pearson",
    correction: str = "none",
) -> tuple[list[VariantResult], Comparison]:
    """All variants by correlation, those that no other beats by Williams' test marked (Table 1, Figure 3).

    The paper corrects for nothing; with 193 variants that makes some 18,000 chances, so consider a correction.
    """
    cube = (scores if isinstance(scores, ScoreCube) else build_cube(scores)).scaled()
    names = cube.beside(human) if metrics is None else list(metrics)
    vectors, variants = variant_cube(cube, human, names)
    comparison = compare(vectors, human=human, test="williams", coefficient=coefficient, correction=correction)
    by_name = {variant.name: variant for variant in variants}
    return [VariantResult(by_name[s.metric], s.value, s.optimal) for s in comparison.standings], comparison


def option_shares(results: Sequence[VariantResult]) -> list[OptionShare]:
    """What the optimal variants have in common (Table 2); metrics without p, r and f don't count."""
    best = [result.variant for result in results if result.optimal and result.variant.part]
    columns = {
        "count": [variant.family for variant in best],
        "stemming": ["stemmed" if variant.stem else "not stemmed" for variant in best],
        "stop words": ["removed" if variant.stop else "not removed" for variant in best],
        "summary score": [{"p": "precision", "r": "recall", "f": "f-score"}[variant.part] for variant in best],
        "system score": [variant.score for variant in best],
    }
    rows = []
    for option, settings in columns.items():
        for setting in sorted(set(settings), key=lambda name: (-settings.count(name), name)):
            count = settings.count(setting)
            rows.append(OptionShare(option, setting, 100 * count / len(best), count))
    return rows


def coverage_score(matching_units: float, estimate: float, model_units: float) -> float:
    """|matching peer units| · E / |model units| (equation 1)."""
    if model_units <= 0:
        raise AnalysisError("A coverage score needs at least one model unit.")
    return matching_units * estimate / model_units


def letter_score(letter: str) -> float:
    """A to E as 1 to 0."""
    if letter not in LETTERS:
        raise AnalysisError(f"There is no rating {letter!r}; there are {', '.join(LETTERS)}.")
    return LETTERS[letter]


def combine_human(scores: pd.DataFrame, coverage: str, quality: str) -> pd.DataFrame:
    """The scores with human:mean, human:geometric and human:harmonic of the two measures, per summary (Table 4)."""
    keys = [name for name in ("doc_id", "system", "group") if name in scores.columns]
    wide = scores[scores["metric"].isin([coverage, quality])].pivot_table(
        index=keys, columns="metric", values="value", aggfunc="first"
    )
    for name in (coverage, quality):
        if name not in wide.columns:
            raise MissingMeasure(f"The scores hold no measure {name!r}.")
    a, b = wide[coverage].to_numpy(dtype=float), wide[quality].to_numpy(dtype=float)
    if (a < 0).any() or (b < 0).any():
        raise AnalysisError("Geometric and harmonic means need scores of 0 or more.")
    with np.errstate(invalid="ignore", divide="ignore"):
        harmonic = np.where(a + b > 0, 2 * a * b / (a + b), np.where(np.isnan(a + b), np.nan, 0))
    combinations = {"human:mean": (a + b) / 2, "human:geometric": np.sqrt(a * b), "human:harmonic": harmonic}
    frames = [wide.index.to_frame(index=False).assign(metric=name, value=value) for name, value in combinations.items()]
    return pd.concat([scores, *frames], ignore_index=True)


@dataclass(frozen=True)
class CombinationResult:
    """A variant against one combination of the human measures."""

    variant: str
    combination: str
    value: float
    optimal: bool


def compare_combinations(
    scores: pd.DataFrame,
    *,
    coverage: str,
    quality: str,
    metrics: Sequence[str] | None = None,
    best: int = 10,
    correction: str = "none",
) -> list[CombinationResult]:
    """The best variants of each combination under all combinations, optimal ones marked (Table 4)."""
    with_combinations = combine_human(scores, coverage, quality)
    names = {c: f"human:{c}" for c in COMBINATIONS[:3]} | {"coverage": coverage, "quality": quality}
    metric_names = metrics or [m for m in dict.fromkeys(scores["metric"]) if m not in (coverage, quality)]
    cube = build_cube(with_combinations)
    tables = {
        combination: compare_variants(cube, human=human, metrics=metric_names, correction=correction)[0]
        for combination, human in names.items()
    }
    top = dict.fromkeys(result.variant.name for table in tables.values() for result in table[:best])
    return [
        CombinationResult(result.variant.name, combination, result.value, result.optimal)
        for combination, table in tables.items()
        for result in sorted(table, key=lambda r: -r.value if math.isfinite(r.value) else 9)
        if result.variant.name in top
    ]
