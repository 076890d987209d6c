"""The score cube: aligned by id, honest about what is missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.correlate.score_cube import MissingMeasure, build_cube
from tests.analysis._matrices import table


def test_cells_are_aligned_by_id_whatever_the_order():
    scores = table(h=[[1, 2], [3, 4]], m=[[5, 6], [7, 8]]).sample(frac=1, random_state=0)
    cube = build_cube(scores)
    assert (cube.metrics, cube.systems, cube.documents) == (("h", "m"), ("s0", "s1"), ("d0", "d1"))
    assert cube.matrix("m").tolist() == [[5, 6], [7, 8]]


def test_documents_with_numbers_for_names_stand_in_their_order():
    scores = pd.DataFrame({"doc_id": ["10", "9", "2"], "system": "s", "metric": "m", "value": [1.0, 2.0, 3.0]})
    assert build_cube(scores).documents == ("2", "9", "10")


def test_one_name_in_two_groups_is_two_systems():
    scores = pd.DataFrame(
        {
            "doc_id": "d",
            "system": ["bart", "bart", "lead"],
            "group": ["abs", "ext", "ext"],
            "metric": "m",
            "value": [1.0, 2.0, 3.0],
        }
    )
    cube = build_cube(scores)
    assert cube.systems == ("abs/bart", "ext/bart", "lead")
    assert cube.groups == ("abs", "ext", "ext")


def test_rows_without_a_group_join_the_one_group_of_their_system():
    scores = pd.DataFrame(
        {
            "doc_id": "d",
            "system": ["bart", "bart"],
            "group": ["abs", ""],
            "metric": ["m", "h"],
            "value": [1.0, 2.0],
        }
    )
    assert build_cube(scores).systems == ("bart",)
    torn = pd.concat([scores, scores.assign(group=["ext", "ext"], metric="m")[:1]])
    with pytest.raises(ValueError, match="several groups and also without a group"):
        build_cube(torn)


def test_a_second_score_for_a_cell_is_refused():
    scores = table(m=[[1.0]])
    with pytest.raises(ValueError, match="Two scores are given for metric 'm', system 's0' and document 'd0'"):
        build_cube(pd.concat([scores, scores]))


def test_coverage_says_what_is_missing():
    x = np.array([[1, np.nan, 3], [np.nan, np.nan, np.nan], [1, np.nan, 3]])
    cube = build_cube(table(h=np.ones((3, 3)), m=x))
    full, partial = cube.coverage()
    assert full.complete
    assert (partial.n_scores, partial.n_expected) == (4, 9)
    assert (partial.missing_systems, partial.partial_systems) == (("s1",), ("s0", "s2"))
    assert partial.missing_documents == 1
    assert partial.sentence() == (
        "m has 4 of 9 scores; nothing for s1; some documents missing for s0, s2; 1 documents without any score."
    )


def test_only_the_named_metrics_in_their_order():
    cube = build_cube(table(a=[[1]], b=[[2]], c=[[3]]), ["c", "a"])
    assert cube.metrics == ("c", "a")
    assert cube.values[:, 0, 0].tolist() == [3, 1]
    with pytest.raises(MissingMeasure, match="Measures there: a, b, c"):
        build_cube(table(a=[[1]], b=[[2]], c=[[3]]), ["d"])
