"""Do Bayesian intervals serve a correlation over few systems? Prints the table of docs/statistics/models.md.

    python -m benchmarks.analysis._bayesian_intervals

The posterior is that of the exact density of r (Hotelling 1953) on a grid, under a flat prior and under 1 / (1 − ρ²).
"""

from __future__ import annotations

import numpy as np
from scipy.special import hyp2f1

STUDIES = 1500
GRID = np.linspace(-0.999, 0.999, 801)
PRIORS = {"flat": np.ones_like(GRID), "1/(1 − ρ²)": 1 / (1 - GRID**2)}


def credible(r: float, n: int, prior: np.ndarray) -> tuple[float, float]:
    """The central 95 % of the posterior."""
    shape = (1 - GRID**2) ** ((n - 1) / 2) * (1 - GRID * r) ** (1.5 - n)
    weight = shape * hyp2f1(0.5, 0.5, n - 0.5, (GRID * r + 1) / 2) * prior
    below = np.cumsum(weight) / weight.sum()
    return float(GRID[np.searchsorted(below, 0.025)]), float(GRID[min(np.searchsorted(below, 0.975), len(GRID) - 1)])


def simulated(n: int, rho: float, rng: np.random.Generator) -> np.ndarray:
    x = rng.normal(size=(STUDIES, n))
    y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=(STUDIES, n))
    return np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(x, y, strict=True)])


def rows() -> list[str]:
    rng = np.random.default_rng(0)
    places = np.linspace(-0.995, 0.9995, 300)
    lines = []
    for n in (4, 6, 10, 25):
        for rho in (0.3, 0.6, 0.75, 0.9):
            r = simulated(n, rho, rng)
            reach = 1.959964 / np.sqrt(n - 3)
            intervals = [(np.tanh(np.arctanh(r) - reach), np.tanh(np.arctanh(r) + reach))]
            for prior in PRIORS.values():
                bounds = np.array([credible(place, n, prior) for place in places])
                intervals.append((np.interp(r, places, bounds[:, 0]), np.interp(r, places, bounds[:, 1])))
            cells = [
                f"{((low <= rho) & (rho <= high)).mean():.3f}, {(high - low).mean():.2f}" for low, high in intervals
            ]
            lines.append(f"| {n} | {rho:g} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    print("\n".join(rows()))
