"""The 39 operations. Each parses nothing, calls one function of the market, and gives a document."""

from annotation.marketplace.api.registry import HANDLERS

from . import assignments, hits, money, qualifications, workers

__all__ = ["HANDLERS", "assignments", "hits", "money", "qualifications", "workers"]
