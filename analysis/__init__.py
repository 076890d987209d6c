"""Judgments and scores in, findings out.

What people import stands here: `read_table`, `check_table`, `write_table`, and six packages that can be called like
the function they are named after: `aggregate`, `agreement`, `correlate`, `compare`, `filters` and `report`.

>>> import pandas as pd
>>> from analysis import aggregate, agreement, correlate
>>> rows = [(f"d{d}", f"s{s}", "coherence", f"w{w}", 1 + s + (d + w) % 2)
...         for d in range(4) for s in range(4) for w in range(3)]
>>> judgments = pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])
>>> round(agreement(judgments, level="interval")[0].value, 3)
0.782
>>> human = aggregate(judgments)
>>> metric = human[["doc_id", "system"]].assign(metric="length", value=human["value"] ** 2)
>>> [(result.metric, round(result.value, 3)) for result in correlate(pd.concat([human, metric]), human="coherence")]
[('length', 0.989)]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

VERSION = "0.1.0"
"""Of the whole project; `pyproject.toml` says the same."""
_TABLES = ("AnalysisError", "check_table", "read_table", "write_table")

__all__ = ["VERSION", "agreement", "aggregate", "compare", "correlate", "filters", "report", *_TABLES]


class _CallablePackage(ModuleType):
    """A package that is called like the function it is named after (docs/decisions/0019)."""

    entry: Callable[..., Any]

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.entry(*args, **options)


def make_callable(package: str, entry: Callable[..., Any]) -> None:
    """Let `from analysis import NAME` give something that is both the package and its main function."""
    module = sys.modules[package]
    module.__class__ = _CallablePackage
    module.__dict__["entry"] = entry


def __getattr__(name: str) -> Any:
    if name in _TABLES:
        from analysis import tables

        return getattr(tables, name)
    if name in __all__:
        import importlib

        return importlib.import_module(f"analysis.{name}")
    raise AttributeError(f"module 'analysis' has no attribute {name!r}")
