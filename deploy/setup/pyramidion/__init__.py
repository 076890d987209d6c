"""Human judgments of text summaries, and which automatic metrics deserve trust.

Two libraries work on files and data frames, in any script or notebook:

    from pyramidion import analysis, scoring

`pyramidion.analysis`: judgments and scores in, findings out.
    `analysis.tables.read_table("judgments.csv", "judgments")`, then `analysis.filters`, `analysis.agreement`,
    `analysis.aggregate`, `analysis.correlate`, `analysis.compare`, `analysis.report`.
`pyramidion.scoring`: texts in, numbers out.
    `scoring.evaluate(summaries, documents, ["rouge-1-f", "js-2"])` gives the scores table;
    `scoring.registry.known()` names every metric.

The site is started by the command `pyramidion start`, a demo study to look at by `pyramidion demo`.
"""

from importlib import import_module
from types import ModuleType

__all__ = ["analysis", "scoring"]


def __getattr__(name: str) -> ModuleType:
    """The libraries are loaded when they are asked for: the command line needs neither."""
    if name in __all__:
        return import_module(f"pyramidion.{name}")
    raise AttributeError(f"module 'pyramidion' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
