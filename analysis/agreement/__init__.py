"""Agreement between workers, with named policies and intervals.

Pooled, alpha weighs every unit of the study in one table. Per item (`per=["doc_id", "system"]`) it is worked out
for each item and averaged, which is how several papers report it; the two differ widely on the same data, so a
result always says which it is. The interval depends on what is resampled, so the cluster is part of the result too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import sparse

from analysis import make_callable
from analysis.agreement.coefficients import KERNELS, LEVELS, Kernel, alpha, alpha_of_table
from analysis.agreement.counts import (
    UNIT,
    Counts,
    Floats,
    Ints,
    codes_of,
    count,
    is_mixed,
    latest,
    on_one_scale,
    patterns,
    unit_codes,
)
from analysis.agreement.raters import RATER_COEFFICIENTS, of_raters, of_workers, resampled_workers
from analysis.agreement.result import AgreementResult, Watch, interval, lost_note, unwatched
from analysis.tables import AnalysisError
from analysis.tables.batches import latest_batches
from analysis.tables.where import without_checks

__all__ = ["CLUSTERS", "UNDEFINED", "AgreementResult", "agreement", "alpha_samples", "pooled_alpha"]

UNDEFINED = ("drop", "one")
CLUSTERS = ("doc_id", "unit", "system", "worker_id", "doc_id,worker_id")
BOTH = "doc_id,worker_id"
OTHER_SCALE = (
    "A unit that stands on a scale of its own, such as the score for the whole, is left out; --by unit has it."
)
CELLS = 4_000_000
"""How many numbers a block of weights may hold at once."""


def agreement(
    judgments: pd.DataFrame,
    *,
    coefficient: str = "alpha",
    level: str = "nominal",
    per: Sequence[str] | None = None,
    undefined: str = "drop",
    by: str | None = None,
    ci: int = 0,
    cluster: str | None = None,
    seed: int = 0,
    include_checks: bool = False,
    watch: Watch = unwatched,
) -> list[AgreementResult]:
    """How far the workers agree: one result, or one for each value of the column `by`.

    `cluster` is what the interval redraws. Units of one document share it, so documents are redrawn by default (items
    when `per` goes across documents); where the same workers judge many documents, `doc_id,worker_id` redraws both.

    >>> import pandas as pd
    >>> answers = {"u1": (1, 1), "u2": (0, 0), "u3": (1, 0), "u4": (1, 1)}
    >>> rows = [("d1", "s1", unit, f"w{w}", value) for unit, pair in answers.items() for w, value in enumerate(pair)]
    >>> judgments = pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])
    >>> [(result.coefficient, round(result.value, 3)) for result in agreement(judgments)]
    [('alpha', 0.533)]
    """
    cluster = cluster or ("unit" if per and "doc_id" not in per else "doc_id")
    _check_names(coefficient, [*KERNELS, *RATER_COEFFICIENTS], "coefficient")
    _check_names(level, LEVELS, "level")
    _check_names(undefined, UNDEFINED, "policy for undefined values")
    blank = AgreementResult(
        coefficient, level, float("nan"), 0, 0, per=tuple(per or ()), undefined=undefined, resamples=ci, seed=seed
    )
    if ci < 0:
        raise AnalysisError(f"{ci} resamples can't be drawn; give 0 for no interval, or 1000.")
    judgments = judgments if include_checks else without_checks(judgments)
    judgments = latest_batches(judgments) if by == "round" else latest(judgments)
    if by != "unit" and "unit" not in blank.per:
        pool = on_one_scale(judgments)
        blank = replace(blank, notes=(OTHER_SCALE,) if len(pool) < len(judgments) else ())
        judgments = pool
    if cluster != "unit":
        codes_of(judgments, cluster.split(","))  # refuses a column that isn't there
    if by == "worker_id":
        return of_workers(judgments, blank)
    results = []
    for name, rows in _parts(judgments, by):
        start = replace(
            blank, group=name, n_judgments=len(rows), n_workers=int(rows["worker_id"].nunique()), cluster=cluster
        )
        if start.n_workers < 2:
            results.append(_one_worker(start, rows))
            continue
        _refuse_mixed(rows, start.per)
        counts = count(rows)
        start = replace(start, notes=(*start.notes, *_notes(start, counts)))
        if coefficient in RATER_COEFFICIENTS:
            result = of_raters(rows, start, counts, watch)
        else:
            result = _of_counts(rows, start, KERNELS[coefficient], counts, watch)
        results.append(_with_reasons(result, rows, cluster))
    return results


def _check_names(name: str, choices: Sequence[str], kind: str) -> None:
    if name not in choices:
        raise AnalysisError(f"There is no {kind} {name!r}; there are {', '.join(choices)}.")


def _parts(judgments: pd.DataFrame, by: str | None) -> list[tuple[str | None, pd.DataFrame]]:
    if judgments.empty:
        raise AnalysisError("There are no judgments to work on.")
    if by is None:
        return [(None, judgments)]
    if by not in judgments.columns:
        raise AnalysisError(f"The judgments have no column {by!r}; they have {', '.join(judgments.columns)}.")
    return [(str(name), rows.reset_index(drop=True)) for name, rows in judgments.groupby(by, sort=True)]


def _one_worker(start: AgreementResult, rows: pd.DataFrame) -> AgreementResult:
    worker = rows["worker_id"].iloc[0]
    sentence = f"All judgments come from one worker ({worker}); agreement needs at least two."
    if start.group is None:
        raise AnalysisError(sentence)
    return replace(start, n_undefined=1, cluster=None, notes=(f"{start.group}: {sentence}",))


def _refuse_mixed(rows: pd.DataFrame, per: tuple[str, ...]) -> None:
    mixed = None if "unit" in per or "protocol" in per else is_mixed(rows)
    if mixed:
        raise AnalysisError(
            f"The judgments mix {mixed}, whose values can't be compared; choose some with --where, or use --by."
        )


def _with_reasons(result: AgreementResult, rows: pd.DataFrame, cluster: str) -> AgreementResult:
    """Undefined is said with its reason; a cluster that can't be redrawn gives no interval."""
    prefix, notes = f"{result.group}: " if result.group is not None else "", list(result.notes)
    if np.isnan(result.value) and not notes:
        notes.append(f"{prefix}{result.coefficient} is undefined here: too few units, or too little variation in them.")
    columns = cluster.split(",") if cluster != "unit" else list(result.per or UNIT)
    if result.resamples and min(_sizes(rows, columns, cluster)) < 2:
        notes.append(f"{prefix}There is one {', '.join(columns)} only, and nothing to resample: no interval.")
        return replace(result, low=float("nan"), high=float("nan"), notes=tuple(notes))
    return replace(result, notes=tuple(notes))


def _sizes(rows: pd.DataFrame, columns: Sequence[str], cluster: str) -> list[int]:
    """How many items each of the redrawn columns has; several columns together make one item of `unit`."""
    if cluster == "unit":
        return [codes_of(rows, columns)[1]]
    return [codes_of(rows, [column])[1] for column in columns]


def _of_counts(
    rows: pd.DataFrame, start: AgreementResult, kernel: Kernel, counts: Counts, watch: Watch
) -> AgreementResult:
    if start.per:
        return _averaged(rows, start, kernel, counts)
    size = counts.table.sum(axis=1)
    value = _pooled(kernel, counts, start.level)
    low, high, notes = float("nan"), float("nan"), start.notes
    if start.resamples:
        if start.cluster == BOTH:
            low, high = _two_way(rows, start, kernel, counts, watch, value)
        else:
            samples = _resampled(rows, start, kernel, counts, watch)
            low, high = interval(samples, n=_redrawn(rows, start))
            notes += (*lost_note(samples), *_fixed_workers(rows, start))
    return replace(
        start,
        value=value,
        n_units=int((size >= 2).sum()),
        n_undefined=int(np.isnan(value)),
        low=low,
        high=high,
        cluster=start.cluster if start.resamples else None,
        notes=notes,
    )


def _fixed_workers(rows: pd.DataFrame, start: AgreementResult) -> tuple[str, ...]:
    """Redrawn documents take the workers as they are: with habits of theirs such an interval is too narrow."""
    pairs = rows[["worker_id", "doc_id"]].drop_duplicates()
    if start.cluster == "unit" and rows.groupby("doc_id")["unit"].nunique().max() > 1:
        return ("Units of one document belong together; redrawn singly they make the interval too narrow.",)
    if start.cluster != "doc_id" or start.coefficient != "alpha" or len(pairs) < 2 * start.n_workers:
        return ()
    return ("The interval is about these workers, who judge several documents each; doc_id,worker_id redraws both.",)


def _pooled(kernel: Kernel, counts: Counts, level: str) -> float:
    if kernel is alpha:
        return alpha_of_table(counts.table, counts.values, level)
    return float(kernel(np.ones((1, len(counts.table))), counts.table, counts.values, level)[0])


def _notes(start: AgreementResult, counts: Counts) -> list[str]:
    prefix, size = f"{start.group}: " if start.group is not None else "", counts.table.sum(axis=1)
    notes = []
    once = int((size == 1).sum())
    if once == len(size):
        notes.append(f"{prefix}Every unit was judged once only; agreement needs two judgments of the same unit.")
    elif once:
        notes.append(f"{prefix}{once} of {len(size)} units were judged once only and say nothing about agreement.")
    if len(counts.values) == 1:
        notes.append(
            f"{prefix}All answers are equal ({counts.values[0]:g}); without any variation "
            "chance-corrected agreement is undefined (raw agreement is 1)."
        )
    return notes


def _averaged(rows: pd.DataFrame, start: AgreementResult, kernel: Kernel, counts: Counts) -> AgreementResult:
    """The mean over items of each item's own coefficient."""
    item_of, n_items = unit_codes(rows, start.per, counts)
    values = _coefficients(kernel, counts, item_of, n_items, start.level)
    paired = np.bincount(item_of, weights=counts.table.sum(axis=1) >= 2, minlength=n_items) > 0
    item_values = np.where(np.isnan(values) & paired, 1.0, values) if start.undefined == "one" else values
    is_defined = ~np.isnan(item_values)
    value = float(item_values[is_defined].mean()) if is_defined.any() else float("nan")
    low = high = float("nan")
    cluster = None
    if start.resamples:
        cluster = "item" if start.cluster == "unit" else str(start.cluster)
        cluster_of = _item_clusters(rows, start, counts, item_of, n_items)
        low, high = interval(_resampled_mean(item_values, cluster_of, start), n=int(cluster_of.max()) + 1)
    n_undefined = int(np.isnan(values).sum())
    return replace(start, value=value, n_units=n_items, n_undefined=n_undefined, low=low, high=high, cluster=cluster)


def _pattern_counts(counts: Counts, group_of: Ints, groups: int) -> tuple[sparse.csr_matrix, Floats]:
    rows, pattern_of = patterns(counts.table)
    weights = np.ones(len(pattern_of))
    return sparse.csr_matrix((weights, (group_of, pattern_of)), shape=(groups, len(rows))), rows


def _coefficients(kernel: Kernel, counts: Counts, item_of: Ints, n_items: int, level: str) -> Floats:
    """Each item's own coefficient. Alpha comes from the package: 0.1 seconds for 2,500 summaries of eleven SCUs."""
    if kernel is alpha:
        ends = np.cumsum(np.bincount(item_of, minlength=n_items))
        tables = np.split(counts.table[np.argsort(item_of, kind="stable")], ends[:-1])
        return np.array([alpha_of_table(table, counts.values, level) for table in tables])
    matrix, rows = _pattern_counts(counts, item_of, n_items)
    step = max(1, CELLS // max(1, len(rows)))
    blocks = [kernel(matrix[i : i + step].toarray(), rows, counts.values, level) for i in range(0, n_items, step)]
    return np.concatenate(blocks)


def _item_clusters(rows: pd.DataFrame, start: AgreementResult, counts: Counts, item_of: Ints, n_items: int) -> Ints:
    if start.cluster == "unit":
        return np.arange(n_items)
    unit_cluster, _ = unit_codes(rows, [str(start.cluster)], counts)
    of_item = np.zeros(n_items, dtype=np.int64)
    of_item[item_of] = unit_cluster
    if not np.array_equal(of_item[item_of], unit_cluster):
        raise AnalysisError(
            f"An item of --per {','.join(start.per)} spans several values of {start.cluster}; "
            f"resample one of {', '.join(['unit', *start.per])} instead."
        )
    return of_item


def _resampled_mean(values: Floats, cluster_of: Ints, start: AgreementResult) -> Floats:
    """Resampling items only re-weights their fixed values."""
    is_defined = ~np.isnan(values)
    size = int(cluster_of.max()) + 1
    sums = np.bincount(cluster_of[is_defined], weights=values[is_defined], minlength=size)
    counts = np.bincount(cluster_of[is_defined], minlength=size)
    draws = _draws(np.full(size, 1 / size), size, start)
    with np.errstate(invalid="ignore"):
        return np.asarray((draws @ sums) / (draws @ counts), dtype=np.float64)


def pooled_alpha(judgments: pd.DataFrame, level: str) -> float:
    """Krippendorff's alpha of all units together, without anything around it."""
    rows = on_one_scale(latest(judgments.reset_index(drop=True)))
    return _pooled(alpha, count(rows), level)


def alpha_samples(judgments: pd.DataFrame, level: str, resamples: int, seed: int) -> Floats:
    """Pooled alpha of resampled documents; the same seed draws the same documents from any rows about them."""
    rows = on_one_scale(latest(judgments.reset_index(drop=True)))
    start = AgreementResult("alpha", level, float("nan"), 0, 0, cluster="doc_id", resamples=resamples, seed=seed)
    return _resampled(rows, start, alpha, count(rows), unwatched)


def _draws(shares: Floats, size: int, start: AgreementResult) -> Floats:
    rng = np.random.default_rng(start.seed)
    return rng.multinomial(size, shares, size=start.resamples).astype(np.float64)


def _redrawn(rows: pd.DataFrame, start: AgreementResult) -> int | None:
    """How many clusters are redrawn, of two kinds the fewer; units are too many to matter."""
    return None if start.cluster == "unit" else codes_of(rows, [str(start.cluster)])[1]


def _two_way(
    rows: pd.DataFrame, start: AgreementResult, kernel: Kernel, counts: Counts, watch: Watch, value: float
) -> tuple[float, float]:
    """Documents and workers at once: their variances add up, less what both have counted (Cameron et al. 2011).

    Redrawing both at the same time would count the noise of single answers three times and cover everything.
    """
    variances = {}
    for cluster in ("doc_id", "worker_id", "unit"):
        samples = _resampled(rows, replace(start, cluster=cluster), kernel, counts, watch)
        variances[cluster] = float(np.nanvar(samples))
    documents, workers, units = variances.values()
    reach = 1.96 * float(np.sqrt(max(documents, workers, documents + workers - units)))
    return value - reach, min(value + reach, 1.0)


def _resampled(rows: pd.DataFrame, start: AgreementResult, kernel: Kernel, counts: Counts, watch: Watch) -> Floats:
    if start.cluster == "worker_id":
        return resampled_workers(rows, start, kernel, counts, watch)
    if start.cluster == "unit":
        group_of, groups = np.zeros(len(counts.table), dtype=np.int64), 1
    else:
        group_of, groups = unit_codes(rows, [str(start.cluster)], counts)
    matrix, table = _pattern_counts(counts, group_of, groups)
    rng = np.random.default_rng(start.seed)
    if start.cluster == "unit":  # drawing units is drawing how often each pattern occurs
        size, shares = len(counts.table), matrix.toarray()[0] / len(counts.table)
    else:
        size, shares = groups, np.full(groups, 1 / groups)
    step = max(1, CELLS // max(1, len(table), len(shares)))
    samples = []
    for first in range(0, start.resamples, step):
        draws = rng.multinomial(size, shares, size=min(step, start.resamples - first)).astype(np.float64)
        weights = draws if start.cluster == "unit" else np.asarray(draws @ matrix)
        samples.append(kernel(weights, table, counts.values, start.level))
    return np.concatenate(samples)


make_callable(__name__, agreement)
