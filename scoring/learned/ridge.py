"""Ridge regression with a penalty chosen by cross-validation, where documents are never split between folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

PENALTIES = tuple(10.0**power for power in np.arange(-5.0, 1.5, 0.5))
"""Candidates, as shares of the number of summaries."""
INNER_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Ridge:
    """Weights over values that are brought to mean 0 and deviation 1."""

    intercept: float
    means: Values
    scales: Values
    weights: Values
    penalty: float

    def predict(self, values: Values) -> Values:
        predictions: Values = self.intercept + ((values - self.means) / self.scales * self.weights).sum(axis=1)
        return predictions


def make_folds(documents: Sequence[str], count: int, seed: int) -> Indices:
    """The fold of every row: documents are shuffled and dealt out, so that all rows of one fall into one fold."""
    names = sorted(set(documents))
    order = np.random.default_rng(seed).permutation(len(names))
    fold = {names[place]: number % count for number, place in enumerate(order.tolist())}
    return np.array([fold[name] for name in documents], dtype=np.intp)


def fit(values: Values, target: Values, documents: Sequence[str], seed: int) -> Ridge:
    """The regression with the penalty that foretells unseen documents best."""
    penalty = PENALTIES[0]
    inner = min(INNER_FOLDS, len(set(documents)))
    if inner > 1:
        folds = make_folds(documents, inner, seed)
        errors = np.zeros(len(PENALTIES))
        for number in range(inner):
            held_out = folds == number
            for place, ridge in enumerate(_fit_all(values[~held_out], target[~held_out])):
                errors[place] += ((ridge.predict(values[held_out]) - target[held_out]) ** 2).sum()
        penalty = PENALTIES[int(errors.argmin())]
    return next(ridge for ridge in _fit_all(values, target) if ridge.penalty == penalty)


def out_of_fold(values: Values, target: Values, documents: Sequence[str], folds: int, seed: int) -> Values:
    """For every row the prediction of a regression that saw neither its document nor chose its penalty on it."""
    numbers = make_folds(documents, folds, seed)
    predictions = np.empty(len(target))
    for number in range(folds):
        held_out = numbers == number
        training = [name for name, out in zip(documents, held_out.tolist(), strict=True) if not out]
        predictions[held_out] = fit(values[~held_out], target[~held_out], training, seed).predict(values[held_out])
    return predictions


def _fit_all(values: Values, target: Values) -> list[Ridge]:
    """One regression per penalty, from one decomposition."""
    means = values.mean(axis=0)
    scales = values.std(axis=0)
    # A metric that never changes gets no weight; rounding must not make it look as if it did.
    flat = scales <= 1e-12 * np.maximum(1.0, np.abs(means))
    scales = np.where(flat, 1.0, scales)
    scaled = np.where(flat, 0.0, (values - means) / scales)
    intercept = float(target.mean())
    variances, axes = np.linalg.eigh(scaled.T @ scaled / len(target))
    along = axes.T @ (scaled.T @ (target - intercept) / len(target))
    return [
        Ridge(intercept, means, scales, axes @ (along / (np.maximum(variances, 0.0) + penalty)), penalty)
        for penalty in PENALTIES
    ]
