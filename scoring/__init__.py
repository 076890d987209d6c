"""Text in, numbers out: every metric of the field, equal to its reference implementation.

`evaluate` scores data frames with many metrics at once, `explain` shows how one score came about, and
`registry.get(name)` gives one metric as an object with `evaluate_example` and `evaluate_batch`.
"""

from __future__ import annotations

from scoring import registry
from scoring.base import VERSION as __version__
from scoring.errors import ScoringError
from scoring.explain import explain
from scoring.run.evaluate import evaluate

__all__ = ["ScoringError", "__version__", "evaluate", "explain", "registry"]
