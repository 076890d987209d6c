"""What a metric is learned from: human scores and metrics of the same summaries, paired by their ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.tables import read_table
from scoring import registry
from scoring.errors import ScoringError, UnknownMetric, nearest
from scoring.options import split_list
from scoring.run.evaluate import SYSTEM_LEVEL, evaluate

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Examples:
    """Training data: one row per summary, sorted by document and system."""

    documents: list[str]
    systems: list[str]
    metrics: list[str]
    signatures: list[str | None]
    values: Values
    target: Values
    dropped: int
    """Summaries with a human score that lack a metric."""

    @property
    def hash(self) -> str:
        """Of ids, human scores and metric values."""
        digest = sha256("\x1f".join([*self.documents, *self.systems, *self.metrics]).encode())
        digest.update(np.ascontiguousarray(self.values).tobytes() + self.target.tobytes())
        return digest.hexdigest()[:16]


def collect(
    tables: Sequence[Path],
    human: str,
    metrics: Sequence[str],
    texts: tuple[Path, Path] | None = None,
    *,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Examples:
    """Human scores and metrics from tables of scores; metrics that no table has are computed from the texts."""
    scores = _read(tables)
    available = sorted(scores["metric"].unique().tolist())
    if human not in available:
        raise ScoringError(f"There is no {human} in the scores; {nearest(human, available)}.")
    names = _names(metrics) or [name for name in available if name != human]
    if human in names:
        raise ScoringError(f"{human} is what is to be foretold; leave it out of the metrics.")
    lacking = [name for name in names if name not in available]
    if lacking:
        if texts is None:
            raise ScoringError(
                f"The scores have no {', '.join(lacking)}; give --summaries and --documents to compute them."
            )
        summaries, documents = read_table(texts[0], "summaries"), read_table(texts[1], "documents")
        computed = evaluate(summaries, documents, lacking, jobs=jobs, cache=cache, progress=progress)
        scores = pd.concat([scores, computed[["doc_id", "system", "metric", "value"]]], ignore_index=True)
    return _examples(scores, human, names)


def _names(metrics: Sequence[str]) -> list[str]:
    """Canonical names; a name that no metric here has may still stand in a table."""
    names: dict[str, None] = {}
    for text in (spec for item in metrics for spec in split_list(item)):
        try:
            names |= dict.fromkeys(metric.name for metric in registry.parse(text))
        except UnknownMetric:
            names[text] = None
    return list(names)


def _read(tables: Sequence[Path]) -> pd.DataFrame:
    scores = pd.concat([read_table(path, "scores") for path in tables], ignore_index=True)
    scores = scores.loc[scores["doc_id"] != SYSTEM_LEVEL, ["doc_id", "system", "metric", "value"]]
    doubled = scores.duplicated(["doc_id", "system", "metric"])
    if doubled.any():
        row = scores[doubled].iloc[0]
        raise ScoringError(
            f"The scores have {row['metric']} of document {row['doc_id']}, system {row['system']} twice; keep one."
        )
    return scores


def _examples(scores: pd.DataFrame, human: str, names: Sequence[str]) -> Examples:
    wide = scores.pivot(index=["doc_id", "system"], columns="metric", values="value").sort_index()
    with_human = wide[wide[human].notna()]
    full = with_human.dropna(subset=list(names))
    if full.empty:
        raise ScoringError(f"No summary has {human} and all of the metrics; are the ids the same in all tables?")
    return Examples(
        [str(doc_id) for doc_id in full.index.get_level_values("doc_id")],
        [str(system) for system in full.index.get_level_values("system")],
        list(names),
        [_signature(name) for name in names],
        full[list(names)].to_numpy(dtype=np.float64),
        full[human].to_numpy(dtype=np.float64),
        len(with_human) - len(full),
    )


def _signature(name: str) -> str | None:
    try:
        metric = registry.get(name)
    except ScoringError:
        return None
    if metric.base not in metric.family.per_summary([metric.base]):
        raise ScoringError(f"{name} scores whole systems only; a learned metric needs a score for each summary.")
    return metric.signature if metric.ready().ok else None
