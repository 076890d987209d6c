"""What an error costs: points by severity, as a study sets them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.errors.marks import OVERALL, PROTOCOL, span_list
from analysis.tables import AnalysisError

WEIGHTS: dict[str, float] = {"minor": 1.0, "major": 5.0}
"""MQM's usual points."""


def read_weights(text: str) -> dict[str, float]:
    """`minor=1,major=5` as numbers; AnalysisError for anything else."""
    weights = dict(WEIGHTS)
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, number = part.partition("=")
        try:
            weights[name.strip()] = float(number)
        except ValueError:
            raise AnalysisError(f"The weight {part!r} can't be read; write minor=1,major=5.") from None
        if not 0 <= weights[name.strip()] < math.inf:
            raise AnalysisError(f"The weight of {name.strip()} is {number}; it must be 0 or more.")
    return weights


def with_weights(judgments: pd.DataFrame, weights: Mapping[str, float]) -> pd.DataFrame:
    """The judgments with the points that their spans have under other weights than those they were collected with."""
    is_error = judgments["unit"] != OVERALL
    if "protocol" in judgments.columns:
        is_error &= judgments["protocol"] == PROTOCOL
    cells = zip(judgments["value"], judgments["spans"], is_error, strict=True)
    return judgments.assign(value=[_points(spans, weights) if own else float(value) for value, spans, own in cells])


def _points(spans: Any, weights: Mapping[str, float]) -> float:
    severities = [mark.get("severity") for mark in span_list(spans) or []]
    for severity in severities:
        if severity not in weights:
            raise AnalysisError(f"There is no weight for the severity {severity!r}; there are {', '.join(weights)}.")
    return float(sum(weights[str(severity)] for severity in severities))
