"""Exact earth mover's distance: POT's network simplex, called without the layers around it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.errors import ScoringError

Weights = npt.NDArray[np.float64]
Costs = npt.NDArray[np.float64]

_ITERATIONS = 1_000_000
_OPTIMAL = 1
_COMPILED = "ot.lp.emd_wrap"
_OTHER_BACKENDS = "POT_BACKEND_DISABLE_PYTORCH"


def distance(supply: Weights, demand: Weights, costs: Costs) -> float:
    """The least cost of moving the mass of one side onto the other; costs are one row per mass of the supply.

    Both sides are scaled to a mass of one. Counts (whole numbers) are moved without rounding.
    """
    if len(supply) == 1 or len(demand) == 1:
        # One heap on a side: there is only one plan.
        return float(supply @ costs @ demand / (supply.sum() * demand.sum()))
    return _solve(supply, demand, costs)[0]


def plan(supply: Weights, demand: Weights, costs: Costs) -> npt.NDArray[np.float64]:
    """How much goes where, as shares of the whole mass."""
    return _solve(supply, demand, costs)[1]


def _solve(supply: Weights, demand: Weights, costs: Costs) -> tuple[float, npt.NDArray[np.float64]]:
    supplied, demanded = supply.sum(), demand.sum()
    # The solver wants equal masses to the last bit; products of counts are.
    flow, cost, *_, code = _solver()(supply * demanded, demand * supplied, np.ascontiguousarray(costs), _ITERATIONS, 1)
    if code != _OPTIMAL:
        raise ScoringError(f"The transport of {len(supply)} to {len(demand)} weights has no solution (code {code}).")
    total_mass = supplied * demanded
    return float(cost / total_mass), flow / total_mass


@lru_cache(maxsize=1)
def _solver() -> Callable[..., Any]:
    """POT's compiled solver. POT loads torch where it finds it, which costs seconds and nothing here needs."""
    already = os.environ.get(_OTHER_BACKENDS)
    if already is None and "torch" not in sys.modules:
        os.environ[_OTHER_BACKENDS] = "1"
    try:
        with _without_the_rest():
            from ot.lp.emd_wrap import emd_c
    finally:
        if already is None:
            os.environ.pop(_OTHER_BACKENDS, None)
    solve: Callable[..., Any] = emd_c
    return solve


@contextmanager
def _without_the_rest() -> Iterator[None]:
    """Let a module of POT load without the package around it, which brings half of scipy and scikit-learn.

    Whoever imports POT afterwards gets all of it.
    """
    spec = find_spec("ot") if "ot" not in sys.modules else None
    if spec is None or not spec.submodule_search_locations:
        yield
        return
    (root, *_) = spec.submodule_search_locations
    for name, folder in (("ot", Path(root)), ("ot.lp", Path(root) / "lp")):
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = [str(folder)]
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name == "ot" or name.startswith("ot.")]:
            if name != _COMPILED:
                del sys.modules[name]
