"""How much a metric's correlation depends on one of its options (anchored ROUGE, Table 2 and Figure 3).

Variants stand side by side in one scores table with the option in brackets: `anchored-1[k=5]`. The setting
may also list what was used, as in `anchored-1[references=0+2]`; then its setting is the length of the list, and the
correlations of all choices of so many references are averaged, as in the paper.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.correlate import correlate
from analysis.correlate.score_cube import ScoreCube, build_cube
from analysis.tables import AnalysisError

_BRACKETS = re.compile(r"^([^\[\]]+)\[([^\]]*)\]$")


@dataclass(frozen=True)
class OptionPoint:
    """The correlation of one metric at one setting of the option."""

    metric: str
    option: str
    setting: str
    coefficient: str
    value: float
    """Mean over the variants with this setting."""
    variants: int
    spread: float
    """Standard deviation over the variants; 0 for one."""


def split_option(name: str, option: str) -> tuple[str, str] | None:
    """The metric without the option, and its setting; None when the name doesn't hold the option."""
    match = _BRACKETS.match(name)
    if not match:
        return None
    other_options, setting = [], None
    for text in match[2].split(","):
        key, _, value = text.strip().partition("=")
        if key == option:
            setting = value
        elif text.strip():
            other_options.append(text.strip())
    if setting is None:
        return None
    base = f"{match[1]}[{','.join(other_options)}]" if other_options else match[1]
    return base, setting


def by_option(
    scores: pd.DataFrame | ScoreCube,
    *,
    human: str,
    option: str,
    level: str = "summary",
    coefficients: Sequence[str] = ("pearson", "spearman"),
) -> list[OptionPoint]:
    """Correlations by setting of an option, for every metric that has it in its name."""
    cube = scores if isinstance(scores, ScoreCube) else build_cube(scores)
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    splits = {name: split for name in cube.beside(human) if (split := split_option(name, option))}
    lists = any("+" in setting for _, setting in splits.values())
    for name, (metric, setting) in splits.items():
        groups[metric, str(len(setting.split("+"))) if lists else setting].append(name)
    if not groups:
        raise AnalysisError(f"No metric of the table has the option {option!r} in its name, as in metric[{option}=1].")
    points = []
    for (metric, setting), names in sorted(groups.items(), key=lambda item: (item[0][0], _order(item[0][1]))):
        for coefficient in coefficients:
            results = correlate(cube, human=human, metrics=names, level=level, coefficient=coefficient)
            values = np.array([result.value for result in results])
            mean = float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")
            spread = float(np.nanstd(values)) if np.isfinite(values).any() else float("nan")
            points.append(OptionPoint(metric, option, setting, coefficient, mean, len(names), spread))
    return points


def _order(setting: str) -> tuple[float, str]:
    try:
        return float(setting), setting
    except ValueError:
        return float("inf"), setting
