"""REALSumm as preferences: of two summaries the one with the higher recall is preferred. The planned pairs order the
25 systems as docs/protocols/preference.md says."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

from analysis.preferences import comparisons, strengths
from analysis.tables import read_table
from annotation.protocols.preference import plan_pairs

pytestmark = pytest.mark.paper
FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "realsumm"


@cache
def recalls() -> pd.DataFrame:
    """A row per document, a column per system."""
    if not FOLDER.exists():
        pytest.skip(f"the REALSumm data is not here: {FOLDER}")
    scores = read_table(FOLDER / "scores.csv.gz", "scores")
    human = scores[scores["metric"] == "litepyramid_recall"]
    return human.pivot(index="doc_id", columns="system", values="value")


def ranked(per_document: int, seed: int) -> tuple[float, float]:
    """Kendall's tau and Pearson's r of the strengths with the mean recalls."""
    table = recalls()
    documents = {row: dict.fromkeys(table.columns, 0) for row in range(len(table))}
    rows = []
    for row, first, second in plan_pairs(documents, per_document, seed):
        lead = table.iloc[row][first] - table.iloc[row][second]
        rows.append((str(row), first, second, "w", first if lead > 0 else second if lead < 0 else "tie"))
    preferences = pd.DataFrame(rows, columns=["doc_id", "system_a", "system_b", "worker_id", "preferred"])
    strength = pd.Series({row.system: row.strength for row in strengths(comparisons(preferences)).systems})
    means = table.mean()[strength.index]
    return float(stats.kendalltau(strength, means).statistic), float(stats.pearsonr(strength, means).statistic)


def test_the_data_are_25_systems_on_100_documents():
    assert recalls().shape == (100, 25)


@pytest.mark.parametrize(
    ("per_document", "tau", "r"),
    [
        (4, (0.59, 0.72), (0.79, 0.90)),
        (10, (0.66, 0.75), (0.89, 0.92)),
        (20, (0.79, 0.83), (0.94, 0.95)),
        (40, (0.86, 0.93), (0.97, 0.98)),
    ],
)
def test_planned_pairs_order_the_systems_as_documented(per_document, tau, r):
    runs = [ranked(per_document, seed) for seed in range(3)]
    assert [round(extreme([run[0] for run in runs]), 2) for extreme in (min, max)] == list(tau)
    assert [round(extreme([run[1] for run in runs]), 2) for extreme in (min, max)] == list(r)


def test_all_pairs_are_the_ceiling():
    tau, r = ranked(0, 0)
    assert (round(tau, 2), round(r, 2)) == (0.93, 0.99)
