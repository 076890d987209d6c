"""Partial correlation given length, and correlations pooled over studies."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from analysis.cli import main
from analysis.models.meta import between_studies, meta_correlate
from analysis.models.partial import partial_correlate
from tests.analysis._matrices import table


def longer_is_better(seed=0, systems=20, documents=6):
    """People like long summaries, and so does the metric; beyond length the metric knows nothing."""
    rng = np.random.default_rng(seed)
    length = rng.normal(0, 1, (systems, documents)) + rng.normal(0, 1, systems)[:, None]
    return table(
        h=length + rng.normal(0, 0.5, length.shape),
        m=length + rng.normal(0, 0.5, length.shape),
        constant=np.ones_like(length),
        length=length,
    )


def test_a_metric_that_only_measures_length_has_nothing_left():
    of_studies = [partial_correlate(longer_is_better(seed), human="h", given="length") for seed in range(20)]
    only_length = [result for results in of_studies for result in results if result.metric == "m"]
    assert min(result.plain for result in only_length) > 0.8
    assert abs(np.mean([result.value for result in only_length])) < 0.15
    assert sum(result.low < 0 < result.high for result in only_length) >= 17
    constant = next(result for result in of_studies[0] if result.metric == "constant")
    assert math.isnan(constant.value)


def test_the_pearson_partial_is_the_correlation_of_residuals():
    scores = longer_is_better(3)
    (result,) = partial_correlate(scores, human="h", given="length", metrics=["m"])
    means = scores.groupby(["metric", "system"])["value"].mean().unstack("metric")

    def residual(name):
        line = np.polyfit(means["length"], means[name], 1)
        return means[name] - np.polyval(line, means["length"])

    assert result.value == pytest.approx(np.corrcoef(residual("h"), residual("m"))[0, 1])
    # Fisher with n − 4: atanh(r) ± 1.959964 / sqrt(16)
    assert result.high == pytest.approx(math.tanh(math.atanh(result.value) + 1.959964 / 4), abs=1e-6)
    (by_document,) = partial_correlate(scores, human="h", given="length", metrics=["m"], level="summary")
    assert by_document.n_used == 6
    assert abs(by_document.value) < abs(by_document.plain)


def test_the_command_for_partial_correlation(tmp_path, capsys):
    longer_is_better().to_csv(tmp_path / "scores.csv", index=False)
    path = str(tmp_path / "scores.csv")
    assert main(["correlate", path, "--human", "h", "--given", "length", "--metrics", "m", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["plain"] > row["value"]
    assert main(["correlate", path, "--human", "h", "--given", "length", "--ci", "100"]) == 2


def test_between_studies_by_hand():
    # Effects 0, 1 with variance .1 each: mean .5, Q = (.25 + .25) / .1 = 5; scale 20 − 200 / 20 = 10; τ² = 4 / 10.
    tau_squared, q = between_studies(np.array([0.0, 1.0]), np.array([0.1, 0.1]))
    assert (tau_squared, q) == (pytest.approx(0.4), pytest.approx(5))


def study(r, systems, seed):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, 1))
    return table(h=human, m=r * human + math.sqrt(1 - r * r) * rng.normal(size=human.shape), other=human[::-1])


def test_studies_that_differ_give_a_wide_expectation_and_alike_ones_a_narrow_one():
    alike = meta_correlate({str(i): study(0.8, 30, i) for i in range(6)}, human="h", metrics=["m"])[0]
    apart = meta_correlate({str(i): study(r, 30, i) for i, r in enumerate([0.9, 0.1, 0.9, 0.2, 0.8, -0.3])}, human="h")
    differing = next(result for result in apart if result.metric == "m")
    assert alike.low < 0.8 < alike.high
    assert differing.i_squared > 0.7 > alike.i_squared
    assert differing.p_heterogeneity < 0.001
    assert differing.expected_high - differing.expected_low > differing.high - differing.low


def test_the_interval_covers_with_few_studies():
    # 100 times four studies of 10 systems with true r = .6: 95 % should hold it; 88 of 100 is the least by chance.
    covered = 0
    for seed in range(100):
        studies = {str(i): study(0.6, 10, 1000 * seed + i) for i in range(4)}
        (pooled,) = meta_correlate(studies, human="h", metrics=["m"])
        covered += pooled.low <= 0.6 <= pooled.high
    assert covered >= 88


def test_the_command_for_studies(tmp_path, capsys):
    paths = []
    for i in range(3):
        paths.append(str(tmp_path / f"{i}.csv"))
        study(0.7, 12, i).to_csv(paths[-1], index=False)
    assert main(["meta", *paths, "--human", "h", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["metric"] for row in rows} == {"m", "other"}
    assert {row["studies"] for row in rows} == {3}
    assert main(["meta", paths[0], "--human", "h"]) == 2
    assert main(["meta", *paths, "--human", "h,h"]) == 2
    assert "one each" in capsys.readouterr().err
