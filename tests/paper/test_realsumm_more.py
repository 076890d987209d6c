"""Further metrics on REALSumm's systems: the correlations that sacrerouge documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.correlate import correlate
from analysis.correlate.score_cube import build_cube
from analysis.tables import read_table

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "realsumm_more"

pytestmark = [
    pytest.mark.paper,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"the data are not at {DATA}"),
]


def test_sacrerouges_documented_correlations_72_of_72() -> None:
    cube = build_cube(read_table(DATA / "scores.csv.gz", "scores"))
    rows = json.loads((DATA / "expected.json").read_text())["sacrerouge_docs"]["rows"]
    matched = 0
    for row in rows:
        for coefficient in ("pearson", "spearman", "kendall"):
            (result,) = correlate(
                cube, human="litepyramid_recall", metrics=[row["metric"]], level=row["level"], coefficient=coefficient
            )
            assert result.value == pytest.approx(row[coefficient]["recomputed"], abs=1e-9)
            matched += abs(result.value - row[coefficient]["published"]) < 0.0051
    assert matched == 72
