"""The score cube: metric × system × document, aligned by id, with NaN where a score is missing.

Rows are systems and columns are documents everywhere in the meta-evaluation. A system is (group, name): two
groups may use one name, and then both are shown as `group/name`. Systems stand in the order of group and name.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.correlate.coefficients import Floats, UnknownName
from analysis.sentence import Sentence, join_sentences, some_of
from analysis.tables import AnalysisError

WHOLE = "*"
"""The `doc_id` of a score that belongs to a whole system, such as corpus BLEU."""
HUMAN = "human"
"""What stands in the column `role` of a score that people gave."""
WILD = 1e100
"""Scores beyond this, or all below its inverse, overflow or vanish when they are squared and summed."""


class MissingMeasure(AnalysisError):
    """A metric or human measure that the table doesn't hold."""


@dataclass(frozen=True)
class Coverage:
    """What one metric has of the systems and documents of the table."""

    metric: str
    n_scores: int
    n_expected: int
    missing_systems: tuple[str, ...]
    """Systems with no score of this metric at all."""
    partial_systems: tuple[str, ...]
    """Systems that have some documents but not all."""
    missing_documents: int
    """Documents with no score of this metric at all."""
    has_whole: bool
    """Whether scores of whole systems (`doc_id` `*`) are there."""

    @property
    def complete(self) -> bool:
        return self.n_scores == self.n_expected

    def sentence(self) -> Sentence:
        """What is missing, for a person."""
        if self.has_whole and not self.n_scores:
            return Sentence("%(metric)s has one score per system and none per document.", {"metric": self.metric})
        if self.complete:
            return Sentence("%(metric)s is complete: %(n)s scores.", {"metric": self.metric, "n": self.n_scores})
        return Sentence(
            "%(metric)s has %(n)s of %(expected)s scores; %(gaps)s.",
            {
                "metric": self.metric,
                "n": self.n_scores,
                "expected": self.n_expected,
                "gaps": join_sentences(self._gaps(), "; "),
            },
        )

    def _gaps(self) -> list[Sentence]:
        gaps = []
        if self.missing_systems:
            gaps.append(Sentence("nothing for %(names)s", {"names": some_of(self.missing_systems)}))
        if self.partial_systems:
            gaps.append(Sentence("some documents missing for %(names)s", {"names": some_of(self.partial_systems)}))
        if self.missing_documents:
            gaps.append(Sentence("%(n)s documents without any score", {"n": self.missing_documents}))
        return gaps


@dataclass(frozen=True)
class ScoreCube:
    """All scores of a table, ready for arithmetic."""

    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    documents: tuple[str, ...]
    groups: tuple[str, ...]
    """The group of each system, empty where none is given."""
    values: Floats
    """metric × system × document."""
    whole_systems: Floats
    """metric × system: scores given for whole systems."""
    humans: tuple[str, ...] = ()
    """Measures that people gave (`role` human in the table): none of them is a metric to be judged."""

    def beside(self, human: str) -> list[str]:
        """The metrics that can be held against a human measure."""
        return [name for name in self.metrics if name != human and name not in self.humans]

    def index(self, metric: str) -> int:
        """Where a metric stands; an unknown one is answered with the known ones."""
        if metric not in self.metrics:
            measures = ", ".join(self.metrics) or "none"
            raise MissingMeasure(f"The scores hold no measure {metric!r}. Measures there: {measures}.")
        return self.metrics.index(metric)

    def matrix(self, metric: str) -> Floats:
        """systems × documents of one metric."""
        return np.asarray(self.values[self.index(metric)])

    def system_scores(self, metric: str, score: str = "mean") -> Floats:
        """One score per system: the given whole-system score where there is one, else the mean or median."""
        whole_scores = self.whole_systems[self.index(metric)]
        return np.where(np.isnan(whole_scores), over_documents(self.matrix(metric), score), whole_scores)

    def is_whole(self, metric: str) -> bool:
        """Whether the metric scores whole systems only, so that documents can't be resampled."""
        index = self.index(metric)
        return bool(np.isnan(self.values[index]).all() and not np.isnan(self.whole_systems[index]).all())

    def keep_systems(self, keep: Sequence[int] | np.ndarray) -> ScoreCube:
        """The cube of some systems, by position, in the given order."""
        places = np.asarray(keep, dtype=int)
        return replace(
            self,
            systems=tuple(self.systems[i] for i in places),
            groups=tuple(self.groups[i] for i in places),
            values=self.values[:, places],
            whole_systems=self.whole_systems[:, places],
        )

    def scaled(self) -> ScoreCube:
        """The cube with scores that are too large or too small to be squared brought near 1.

        Each metric has one factor, a power of two: no correlation changes, and no digit is lost.
        """
        cells = np.concatenate([self.values.reshape(len(self.metrics), -1), self.whole_systems], axis=1)
        largest = np.nan_to_num(np.abs(cells)).max(axis=1, initial=0.0)
        wild = (largest > WILD) | ((largest > 0) & (largest < 1 / WILD))
        if not wild.any():
            return self
        shift = np.where(wild, -np.frexp(largest)[1], 0)
        values = np.ldexp(self.values, shift[:, None, None])
        return replace(self, values=values, whole_systems=np.ldexp(self.whole_systems, shift[:, None]))

    def coverage(self) -> list[Coverage]:
        """What each metric has, and what it lacks."""
        return [self._coverage(index) for index in range(len(self.metrics))]

    def _coverage(self, index: int) -> Coverage:
        present = ~np.isnan(self.values[index])
        has_whole = ~np.isnan(self.whole_systems[index])
        per_system = present.sum(axis=1)
        full = len(self.documents)
        nothing = (per_system == 0) & ~has_whole
        is_partial = (per_system > 0) & (per_system < full)
        return Coverage(
            self.metrics[index],
            int(present.sum()),
            present.size,
            tuple(self.systems[i] for i in np.flatnonzero(nothing)),
            tuple(self.systems[i] for i in np.flatnonzero(is_partial)),
            int((~present.any(axis=0)).sum()),
            bool(has_whole.any()),
        )


def over_documents(matrix: Floats, score: str = "mean") -> Floats:
    """The mean or median of each row, missing cells left aside; NaN for an empty row."""
    if score not in ("mean", "median"):
        raise UnknownName("system score", score, ("mean", "median"))
    present = ~np.isnan(matrix)
    if score == "median":
        with np.errstate(invalid="ignore"):
            cells = zip(matrix, present, strict=True)
            return np.array([np.median(row[ok]) if ok.any() else np.nan for row, ok in cells])
    if present.all() and matrix.shape[1]:
        return np.asarray(matrix.mean(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(present, matrix, 0).sum(axis=1) / present.sum(axis=1))


def build_cube(scores: pd.DataFrame, metrics: Sequence[str] | None = None) -> ScoreCube:
    """The cube of a scores table; `metrics` keeps only those, in that order.

    Summaries marked `is_reference` are left out with a warning; drop that column to keep them.
    """
    scores, note = without_references(scores)
    if note:
        warnings.warn(note, ReferencesLeftOut, stacklevel=2)
    if metrics is not None:
        measures = sorted(set(scores["metric"]))
        for metric in metrics:
            if metric not in measures:
                listing = ", ".join(measures) or "none"
                raise MissingMeasure(f"The scores hold no measure {metric!r}. Measures there: {listing}.")
        scores = scores[scores["metric"].isin(list(metrics))]
    systems, groups, labels = _system_labels(scores)
    metric_names = tuple(metrics) if metrics is not None else tuple(sorted(set(scores["metric"])))
    documents = tuple(sorted(set(scores["doc_id"]) - {WHOLE}, key=_natural))
    shape = (len(metric_names), len(systems), len(documents))
    values, whole_systems = np.full(shape, np.nan), np.full(shape[:2], np.nan)
    m = pd.Index(metric_names).get_indexer(pd.Index(scores["metric"]))
    s = pd.Index(systems).get_indexer(pd.Index(labels))
    d = pd.Index(documents).get_indexer(pd.Index(scores["doc_id"])) if documents else np.full(len(scores), -1)
    v = scores["value"].to_numpy(dtype=float)
    _refuse_duplicates(scores, m, s, d)
    cells = d >= 0
    values[m[cells], s[cells], d[cells]] = v[cells]
    whole_systems[m[~cells], s[~cells]] = v[~cells]
    return ScoreCube(metric_names, systems, documents, groups, values, whole_systems, human_measures(scores))


def human_measures(scores: pd.DataFrame) -> tuple[str, ...]:
    """The measures that the table declares to be people's, by `role` human."""
    if "role" not in scores.columns:
        return ()
    return tuple(sorted(set(scores.loc[scores["role"].fillna("") == HUMAN, "metric"])))


class ReferencesLeftOut(UserWarning):
    """Scores of references against themselves were left out."""


def without_references(scores: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The table without summaries that are a reference of their own document, and a sentence if there were any.

    Such a summary is scored against itself; all measures of it go, and a system's whole score with its last summary.
    """
    if "is_reference" not in scores.columns:
        return scores, ""
    keys = pd.MultiIndex.from_frame(scores[["doc_id", "system"]])
    own = keys[scores["is_reference"].eq(True).to_numpy()].unique()
    scores = scores.drop(columns="is_reference")
    if not len(own):
        return scores, ""
    is_own, is_whole = keys.isin(own), (scores["doc_id"] == WHOLE).to_numpy()
    gone = set(own.get_level_values("system")) - set(scores["system"][~is_own & ~is_whole])
    is_own |= is_whole & scores["system"].isin(gone).to_numpy()
    systems = sorted(set(own.get_level_values("system")))
    names = ", ".join(systems[:5]) + (", …" if len(systems) > 5 else "")
    sentence = Sentence(
        "%(n)s summaries that are a reference of their own document (%(names)s) were left out: they are scored against "
        "themselves, which would decide the correlation.",
        {"n": len(own), "names": names},
    )
    return scores[~is_own], sentence


def _natural(text: str) -> tuple[int, int, str]:
    return (0, int(text), text) if text.isdecimal() else (1, 0, text)


def _refuse_duplicates(scores: pd.DataFrame, m: np.ndarray, s: np.ndarray, d: np.ndarray) -> None:
    is_duplicate = pd.DataFrame({"m": m, "s": s, "d": d}).duplicated().to_numpy()
    if is_duplicate.any():
        row = scores.iloc[int(np.flatnonzero(is_duplicate)[0])]
        raise AnalysisError(
            f"Two scores are given for metric {row['metric']!r}, system {row['system']!r} and document "
            f"{row['doc_id']!r}, and one is expected; remove one or tell the systems apart by `group`."
        )


def fill_groups(scores: pd.DataFrame) -> pd.DataFrame:
    """The table with the group of a system in all its rows, where one row of it names one and none another."""
    if "group" not in scores.columns:
        return scores
    group, system = scores["group"].fillna("").astype(str), scores["system"].astype(str)
    named_groups = pd.DataFrame({"system": system, "group": group})[group != ""].drop_duplicates()
    only = named_groups.drop_duplicates("system", keep=False).set_index("system")["group"]
    return scores.assign(group=group.where(group != "", system.map(only).fillna("")))


def _system_labels(scores: pd.DataFrame) -> tuple[tuple[str, ...], tuple[str, ...], pd.Series]:
    """System names, their groups, and the name that each row belongs to."""
    system = scores["system"].astype(str)
    if "group" not in scores.columns:
        names = tuple(sorted(set(system)))
        return names, ("",) * len(names), system
    group = scores["group"].fillna("").astype(str)
    pairs = pd.DataFrame({"system": system, "group": group}).drop_duplicates()
    with_group = pairs[pairs["group"] != ""]
    several = set(with_group["system"][with_group["system"].duplicated()])
    only = dict(zip(with_group["system"], with_group["group"], strict=True))
    ambiguous = several & set(pairs["system"][pairs["group"] == ""])
    if ambiguous:
        raise AnalysisError(
            f"System {min(ambiguous)!r} stands under several groups and also without a group, so its scores can't "
            "be assigned; give the group in every row of it."
        )
    if only:
        group = group.where(group != "", system.map(only).fillna(""))
    labels = system.where(~system.isin(several), group + "/" + system)
    of = dict(zip(labels, group, strict=True))
    names = tuple(sorted(of, key=lambda name: (of[name], name)))
    return names, tuple(of[name] for name in names), labels
