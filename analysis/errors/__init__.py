"""Marked errors: what people marked in summaries, as scores, as rates, and how far they agree on the places."""

from __future__ import annotations

from analysis.errors.marks import OVERALL, PROTOCOL, Marks, read_marks
from analysis.errors.measures import measures
from analysis.errors.places import PlaceAgreement, place_agreement
from analysis.errors.rates import Rate, rates
from analysis.errors.weights import WEIGHTS, read_weights, with_weights

__all__ = [
    "OVERALL",
    "PROTOCOL",
    "WEIGHTS",
    "Marks",
    "PlaceAgreement",
    "Rate",
    "measures",
    "place_agreement",
    "rates",
    "read_marks",
    "read_weights",
    "with_weights",
]
