"""SummEval from its individual annotations: agreement, tables and correlations, as published and as they come out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis.aggregate import aggregate
from analysis.agreement import agreement
from analysis.correlate import correlate
from analysis.correlate.score_cube import ScoreCube, build_cube
from analysis.tables import read_table

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "summeval"
DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")

pytestmark = [
    pytest.mark.paper,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"the SummEval data are not at {DATA}"),
]


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return json.loads((DATA / "expected.json").read_text())


@pytest.fixture(scope="module")
def judgments() -> pd.DataFrame:
    return read_table(DATA / "judgments.csv.gz", "judgments")


@pytest.fixture(scope="module")
def means(judgments: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Mean of the annotators by role: a row per summary, a column per dimension."""
    return {
        role: aggregate(rows, scheme="mean").set_index(["doc_id", "system", "metric"])["value"].unstack("metric")
        for role, rows in judgments.groupby("role")
    }


@pytest.fixture(scope="module")
def cube(judgments: pd.DataFrame) -> ScoreCube:
    human = aggregate(judgments[judgments["role"] == "expert"], scheme="mean")
    columns = ["doc_id", "system", "metric", "value"]
    return build_cube(pd.concat([human[columns], read_table(DATA / "scores.csv.gz", "scores")[columns]]))


def crowd_role(judgments: pd.DataFrame) -> str:
    return next(role for role in judgments["role"].unique() if role != "expert")


@pytest.mark.parametrize("level", ["interval", "ordinal", "nominal"])
def test_alpha_of_crowd_and_experts(judgments: pd.DataFrame, expected: dict[str, Any], level: str) -> None:
    for role, key in (("expert", "expert"), (crowd_role(judgments), "turker")):
        rows = judgments[judgments["role"] == role]
        figures = expected["alpha"]["recomputed"][key]
        (pooled,) = agreement(rows, level=level)
        assert pooled.value == pytest.approx(figures[f"{level}_pooled_units"], abs=1e-9)
        if level != "nominal":
            by_dimension = {result.group: result.value for result in agreement(rows, level=level, by="unit")}
            assert by_dimension == pytest.approx(figures[f"{level}_by_dimension"], abs=1e-9)


def test_the_crowds_published_alpha_comes_out_and_the_experts_does_not(expected: dict[str, Any]) -> None:
    published, ours = expected["alpha"]["published"], expected["alpha"]["recomputed"]
    assert round(ours["turker"]["interval_pooled_units"], 4) == published["crowd"] == 0.4920
    assert round(ours["expert"]["interval_pooled_units"], 4) == 0.7187
    assert published["experts_round_2"] == 0.7127


def test_table_3_the_experts_means_of_every_system(means: dict[str, pd.DataFrame], expected: dict[str, Any]) -> None:
    by_system = means["expert"].groupby("system").mean()
    rows = expected["table_3_expert_means"]["rows"]
    assert len(rows) == 16
    for row in rows:
        assert by_system.loc[row["system"], list(DIMENSIONS)].to_dict() == pytest.approx(row["recomputed"])
    published = [row["published"] for row in rows if row["published"] and row["match_2dp"]]
    assert len(published) >= 14


def test_table_1a_examples(means: dict[str, pd.DataFrame], expected: dict[str, Any]) -> None:
    (crowd,) = set(means) - {"expert"}
    for row in expected["table_1a_examples"]["rows"]:
        for role, key in (("expert", "expert"), (crowd, "crowd")):
            values = means[role].loc[(row["doc_id"], row["system"]), list(DIMENSIONS)]
            assert values.tolist() == pytest.approx(row[key])
    assert sum(row["match_1dp"] for row in expected["table_1a_examples"]["rows"]) >= 1


def test_experts_and_crowd_have_nothing_to_do_with_each_other(
    means: dict[str, pd.DataFrame], expected: dict[str, Any]
) -> None:
    (crowd,) = set(means) - {"expert"}
    for dimension in DIMENSIONS:
        r = means["expert"][dimension].corr(means[crowd][dimension])
        assert r == pytest.approx(expected["expert_vs_crowd_pearson"]["recomputed"][dimension], abs=1e-9)


def test_sacrerouges_documented_correlations_96_of_96(cube: ScoreCube, expected: dict[str, Any]) -> None:
    matched = 0
    for row in expected["sacrerouge_doc_correlations_with_expert_relevance"]["rows"]:
        for coefficient in ("pearson", "spearman", "kendall"):
            (result,) = correlate(
                cube, human="relevance", metrics=[row["metric"]], level=row["level"], coefficient=coefficient
            )
            assert result.value == pytest.approx(row[coefficient]["recomputed"], abs=1e-9)
            matched += abs(result.value - row[coefficient]["published"]) < 0.0051
    assert matched == 96


@pytest.mark.parametrize("level", ["system", "summary", "global"])
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_all_correlations_of_34_metrics(cube: ScoreCube, expected: dict[str, Any], dimension: str, level: str) -> None:
    figures = expected["correlations_recomputed"]
    coefficients = ("pearson", "spearman") if level == "global" else ("pearson", "spearman", "kendall")
    for coefficient in coefficients:
        results = correlate(cube, human=dimension, metrics=sorted(figures), level=level, coefficient=coefficient)
        values = {result.metric: result.value for result in results}
        assert values == pytest.approx(
            {metric: figures[metric][dimension][level][coefficient] for metric in figures}, abs=1e-9
        )
