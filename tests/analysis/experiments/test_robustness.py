"""Correlation by the setting of an option: number of references, size of the anchor set."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analysis.cli import main
from analysis.correlate import correlate
from analysis.experiments.robustness import by_option, split_option
from tests.analysis._matrices import table

RNG = np.random.default_rng(0)
SCORES = table(
    **{
        "h": RNG.random((6, 8)),
        "anc-1[references=0]": RNG.random((6, 8)),
        "anc-1[references=1]": RNG.random((6, 8)),
        "anc-1[references=0+1]": RNG.random((6, 8)),
        "anc-1[k=1]": RNG.random((6, 8)),
        "anc-1[k=10]": RNG.random((6, 8)),
        "anc-1[k=5]": RNG.random((6, 8)),
        "plain": RNG.random((6, 8)),
    }
)


def test_options_are_cut_out_of_names():
    assert split_option("anc-1[k=5,stem]", "k") == ("anc-1[stem]", "5")
    assert split_option("anc-1[k=5]", "stem") is None
    assert split_option("anc-1", "k") is None


def test_choices_of_as_many_references_are_averaged():
    points = {p.setting: p for p in by_option(SCORES, human="h", option="references", coefficients=["pearson"])}
    single = correlate(SCORES, human="h", metrics=["anc-1[references=0]", "anc-1[references=1]"], level="summary")
    assert list(points) == ["1", "2"]
    assert points["1"].value == pytest.approx((single[0].value + single[1].value) / 2)
    assert (points["1"].variants, points["2"].variants) == (2, 1)
    assert points["2"].spread == 0


def test_settings_stand_in_the_order_of_their_numbers():
    points = by_option(SCORES, human="h", option="k", coefficients=["spearman"])
    assert [p.setting for p in points] == ["1", "5", "10"]


def test_an_option_nobody_has():
    with pytest.raises(ValueError, match=r"metric\[layer=1\]"):
        by_option(SCORES, human="h", option="layer")


def test_the_command(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    SCORES.to_csv(path, index=False)
    plot = tmp_path / "k.svg"
    assert main(["robustness", str(path), "--human", "h", "--option", "k", "--json", "--plot", str(plot)]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 6
    assert plot.exists()
