"""Training a metric: choose weights by cross-validation, compare it with its ingredients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite

import numpy as np
import numpy.typing as npt

from analysis.correlate import Options, bootstrap_samples, percentile_interval, point_estimate, weights_of
from scoring.errors import ScoringError
from scoring.learned.examples import Examples
from scoring.learned.model_file import Ingredient, Model
from scoring.learned.ridge import fit, out_of_fold

Values = npt.NDArray[np.float64]

LEVELS = ("system", "summary")
BLOCK = 1000
"""How many resamples are worked out at once."""


@dataclass(frozen=True)
class Settings:
    """How to train and to report."""

    human: str
    folds: int = 10
    seed: int = 0
    resamples: int = 1000
    coefficient: str = "pearson"


@dataclass(frozen=True)
class Row:
    """How well one metric follows the human measure on documents that the regression hadn't seen."""

    metric: str
    level: str
    coefficient: str
    value: float
    low: float
    high: float
    n_used: int
    is_best: bool = False
    """Whether it is the ingredient that follows the human measure best at this level."""
    difference: float | None = None
    """The learned metric's correlation minus this one's, with its interval."""
    difference_low: float | None = None
    difference_high: float | None = None


@dataclass(frozen=True)
class TrainedModel:
    """A model and what it is worth."""

    model: Model
    rows: list[Row]
    verdict: str


def train(examples: Examples, settings: Settings, name: str, kind: str) -> TrainedModel:
    """The weights from all examples; the figures from predictions for documents that were held out."""
    documents = len(set(examples.documents))
    if documents < 2 or len(examples.target) < 3:
        raise ScoringError(f"There are {documents} documents with all scores; training needs at least 2.")
    if float(np.ptp(examples.target)) == 0.0:
        raise ScoringError(f"{settings.human} is the same for all summaries; there is nothing to learn.")
    folds = max(2, min(settings.folds, documents))
    predicted = out_of_fold(examples.values, examples.target, examples.documents, folds, settings.seed)
    rows = report(examples, predicted, settings, name)
    verdict_text = verdict(rows, name, settings.human)
    model = _model(examples, settings, name, kind)
    ratio = float(((predicted - examples.target) ** 2).sum() / ((examples.target - examples.target.mean()) ** 2).sum())
    figures = {
        "folds": folds,
        "split_by": "doc_id",
        "r_squared": 1.0 - ratio,
        "resampled": "documents and systems",
        "resamples": settings.resamples,
        "correlations": [_clean(asdict(row)) for row in rows],
        "verdict": verdict_text,
    }
    return TrainedModel(replace(model, cross_validation=figures), rows, verdict_text)


def report(examples: Examples, predicted: Values, settings: Settings, name: str) -> list[Row]:
    """The learned metric and its ingredients, each turned so that higher means better."""
    metrics, human = _cube(examples, predicted)
    rows = []
    for level in LEVELS:
        options = Options(level, settings.coefficient)
        points = [point_estimate(metric, human, options) for metric in metrics]
        values = np.array([point.value for point in points])
        signs = np.where(values < 0, -1.0, 1.0)
        signs[0] = 1.0
        values, samples = values * signs, _samples(metrics, human, options, settings) * signs
        ranked = np.where(np.isfinite(values[1:]), values[1:], -np.inf)
        best = 1 + int(ranked.argmax())
        for place, metric in enumerate([name, *examples.metrics]):
            low, high = percentile_interval(samples[:, place])
            row = Row(metric, level, settings.coefficient, float(values[place]), low, high, points[0].n_used)
            if place:
                low, high = percentile_interval(samples[:, 0] - samples[:, place])
                gain = float(values[0] - values[place])
                row = replace(row, is_best=place == best, difference=gain, difference_low=low, difference_high=high)
            rows.append(row)
    return rows


def _samples(metrics: Values, human: Values, options: Options, settings: Settings) -> Values:
    """One row per resample of documents and systems, one column per metric: all metrics see the same draws."""
    blocks = [
        np.stack([bootstrap_samples(metric, human, options, weights) for metric in metrics], axis=1)
        for weights in _draws(settings, *human.shape)
    ]
    return np.concatenate([np.empty((0, len(metrics))), *blocks])


def _draws(settings: Settings, systems: int, documents: int) -> Iterator[tuple[Values, Values]]:
    """The weights of systems and of documents, a block of resamples at a time."""
    rng = np.random.default_rng(settings.seed)
    for start in range(0, settings.resamples, BLOCK):
        count = min(BLOCK, settings.resamples - start)
        draws = [(rng.integers(0, documents, documents), rng.integers(0, systems, systems)) for _ in range(count)]
        columns, rows = zip(*draws, strict=True)
        yield weights_of(rows, systems), weights_of(columns, documents)


def verdict(rows: Sequence[Row], name: str, human: str) -> str:
    """One sentence per level on the learned metric and its best ingredient."""
    sentences = []
    for level in dict.fromkeys(row.level for row in rows):
        learned = next(row for row in rows if row.level == level and row.difference is None)
        best = next(row for row in rows if row.level == level and row.is_best)
        low, high = best.difference_low, best.difference_high
        figures = f"({learned.value:.3f} against {best.value:.3f}, difference {best.difference:+.3f}"
        if low is None or high is None or not (isfinite(low) and isfinite(high)):
            sentences.append(f"At the {level} level {name} and {best.metric} cannot be told apart {figures}).")
            continue
        figures += f", 95% interval {low:+.3f} to {high:+.3f})"
        if low > 0:
            text = f"{name} follows {human} better than its best ingredient, {best.metric}"
        elif high < 0:
            text = f"{name} follows {human} worse than its best ingredient, {best.metric}"
        else:
            text = f"{name} cannot be told apart from its best ingredient, {best.metric}"
        sentences.append(f"At the {level} level {text} {figures}.")
    return " ".join(sentences)


def _cube(examples: Examples, predicted: Values) -> tuple[Values, Values]:
    """The learned metric and the ingredients as metrics × systems × documents, and the human measure."""
    rows = {name: number for number, name in enumerate(sorted(set(examples.systems)))}
    columns = {name: number for number, name in enumerate(sorted(set(examples.documents)))}
    at = [rows[name] for name in examples.systems], [columns[name] for name in examples.documents]
    cells = np.full((1 + len(examples.metrics), len(rows), len(columns)), np.nan)
    human = np.full((len(rows), len(columns)), np.nan)
    human[at] = examples.target
    for number, values in enumerate([predicted, *examples.values.T]):
        cells[number][at] = values
    return cells, human


def _model(examples: Examples, settings: Settings, name: str, kind: str) -> Model:
    ridge = fit(examples.values, examples.target, examples.documents, settings.seed)
    ingredient_rows = zip(examples.metrics, examples.signatures, ridge.means, ridge.scales, ridge.weights, strict=True)
    training = {
        "hash": examples.hash,
        "summaries": len(examples.target),
        "documents": len(set(examples.documents)),
        "systems": len(set(examples.systems)),
        "dropped": examples.dropped,
    }
    ingredients = tuple(
        Ingredient(metric, signature, float(mean), float(scale), float(weight))
        for metric, signature, mean, scale, weight in ingredient_rows
    )
    return Model(name, kind, settings.human, ridge.intercept, ingredients, ridge.penalty, settings.seed, training)


def _clean(row: dict[str, object]) -> dict[str, object]:
    """JSON has no NaN."""
    return {key: None if isinstance(value, float) and not isfinite(value) else value for key, value in row.items()}
