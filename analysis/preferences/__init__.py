"""Preferences between two summaries of a document: strengths of systems, and how far the answers can be trusted."""

from __future__ import annotations

from analysis.preferences.comparisons import Comparisons, comparisons
from analysis.preferences.consistency import Consistency, consistency, remarks
from analysis.preferences.human_scores import human_scores
from analysis.preferences.judgments import preferences_of
from analysis.preferences.metrics import MetricAccuracy, metric_accuracy
from analysis.preferences.strengths import Strength, Strengths, strengths

__all__ = [
    "Comparisons",
    "Consistency",
    "MetricAccuracy",
    "Strength",
    "Strengths",
    "comparisons",
    "consistency",
    "human_scores",
    "metric_accuracy",
    "preferences_of",
    "remarks",
    "strengths",
]
