"""Libraries that are imported when something of them is first used: `from analysis.lazy import pandas as pd`.

The site's first page, its commands and `--help` need none of them; importing them takes longer than Django does.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy
    import pandas
    import pyarrow

__all__ = ["absent", "has_arrow", "how_to_bring", "numpy", "pandas", "pyarrow"]


class Lazy:
    """Stands for a module until it is needed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self._name), attribute)
        setattr(self, attribute, value)  # next time without this detour
        return value


if not TYPE_CHECKING:
    numpy, pandas, pyarrow = Lazy("numpy"), Lazy("pandas"), Lazy("pyarrow")


def has_arrow() -> bool:
    """Whether pyarrow is here. Files without it are read more slowly, and Parquet can't be.

    As pandas found it: strings that it keeps in its own way stay so when pyarrow is installed meanwhile.
    """
    return bool(import_module("pandas.compat").HAS_PYARROW)


def absent(modules: Sequence[str]) -> list[str]:
    """Those of the modules that are not installed."""
    return [name for name in modules if find_spec(name) is None]


def how_to_bring(part: str) -> str:
    """The command that installs a part of the libraries: the repository's, or the package's."""
    if (Path(__file__).resolve().parents[1] / "Makefile").is_file():
        return f"make {part}"
    return f"pip install 'pyramidion-eval[{part}]'"
