"""Mixed models of judgments: the linear one against statsmodels and lme4, the ordinal one against ordinal::clmm."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special

from analysis.cli import main
from analysis.models.mixed import mixed_model


def judgments(systems=(0.0, 0.4, 1.0), documents=12, workers=5, seed=0, spread=(0.8, 0.5, 0.4, 0.6), steps=False):
    """Ratings with effects of documents, workers and summaries; every worker judges two thirds of the summaries."""
    rng = np.random.default_rng(seed)
    of_document, of_worker = rng.normal(0, spread[0], documents), rng.normal(0, spread[1], workers)
    rows = []
    for d in range(documents):
        for s, level in enumerate(systems):
            of_summary = rng.normal(0, spread[2])
            for w in range(workers):
                if (d + s + w) % 3:
                    value = level + of_document[d] + of_worker[w] + of_summary + rng.normal(0, spread[3])
                    value = float(np.clip(np.round(value + 3), 1, 5)) if steps else value
                    rows.append((f"d{d}", f"s{s}", "coherence", f"w{w}", value))
    return pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])


def test_the_linear_model_equals_statsmodels():
    mixedlm = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    table = judgments()
    model = mixed_model(table)
    frame = table.assign(one=1, summary=table["doc_id"] + table["system"])
    parts = {"document": "0 + C(doc_id)", "worker": "0 + C(worker_id)", "summary": "0 + C(summary)"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = mixedlm.MixedLM.from_formula(
            "value ~ 0 + system", groups="one", re_formula="0", vc_formula=parts, data=frame
        ).fit(reml=True)
    ours = {effect.system: effect for effect in model.systems}
    for s in range(3):
        assert ours[f"s{s}"].value == pytest.approx(peer.fe_params[f"system[s{s}]"], abs=1e-3)
        assert ours[f"s{s}"].se == pytest.approx(peer.bse_fe[f"system[s{s}]"], rel=5e-3)
    variances = dict(zip(peer.model.exog_vc.names, peer.vcomp, strict=True))
    for factor, variance in variances.items():
        assert model.deviations[factor] ** 2 == pytest.approx(variance, rel=0.02, abs=2e-3)
    assert model.deviations["residual"] ** 2 == pytest.approx(peer.scale, rel=5e-3)


WINE = "23344455 12132354 23325544 32323253 23433333 32322454 11222323 22233334 12323244"
"""Bitterness of wine (Randall 1989; the data set `wine` of R's package ordinal): nine judges in turn, each on bottles
1 to 8; bottles 1–2 are cold without skin contact, 3–4 cold with, 5–6 warm without, 7–8 warm with."""
WINES = ("cold-no", "cold-yes", "warm-no", "warm-yes")


def wine():
    rows = [
        (f"bottle{b}", WINES[b // 2], "bitterness", f"judge{j}", float(rating))
        for j, ratings in enumerate(WINE.split())
        for b, rating in enumerate(ratings)
    ]
    return pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])


def against_first(model, first):
    """Difference and standard error of every system against one."""
    pairs = {(pair.better, pair.worse): (pair.difference, pair.se) for pair in model.pairs}
    return {better: numbers for (better, worse), numbers in pairs.items() if worse == first}


def test_the_linear_model_equals_lme4():
    # R 4.2, lme4: lmer(rating ~ 0 + system + (1|judge) + (1|bottle), wine)
    model = mixed_model(wine())
    effects = {effect.system: effect for effect in model.systems}
    for name, value in zip(WINES, (2.055556, 2.611111, 3.111111, 3.888889), strict=True):
        assert effects[name].value == pytest.approx(value, abs=1e-5)
        assert effects[name].se == pytest.approx(0.227116, abs=1e-4)
    assert model.deviations["worker"] == pytest.approx(0.446567, abs=1e-4)
    assert model.deviations["residual"] == pytest.approx(0.727756, abs=1e-4)
    assert model.deviations["summary"] == pytest.approx(0, abs=1e-3)
    assert "one system only" in model.notes[0]
    # lmer(value ~ 0 + system + (1|doc_id) + (1|worker_id) + (1|summary)) on ratings in steps
    model = mixed_model(judgments(steps=True))
    effects = {effect.system: effect for effect in model.systems}
    for name, value in zip(("s0", "s1", "s2"), (2.3633401, 3.0581292, 3.5969529), strict=True):
        assert effects[name].value == pytest.approx(value, abs=1e-4)
        assert effects[name].se == pytest.approx(0.33470951, abs=1e-4)
    expected = {"summary": 0.54143614, "document": 0.62273100, "worker": 0.48291073, "residual": 0.58343902}
    assert model.deviations == pytest.approx(expected, abs=2e-4)


def test_the_ordinal_model_equals_clmm_on_its_own_example():
    # R 4.2, ordinal 2022.11-16: clmm(rating ~ system + (1|judge) + (1|bottle), wine)
    model = mixed_model(wine(), kind="ordinal")
    ours = against_first(model, "cold-no")
    expected = {"cold-yes": (1.717432, 0.701963), "warm-no": (2.946702, 0.761088), "warm-yes": (4.895665, 0.885607)}
    for name, numbers in expected.items():
        assert ours[name] == pytest.approx(numbers, abs=2e-4)
    assert model.deviations["worker"] == pytest.approx(1.129614, abs=2e-4)
    assert model.deviations["summary"] == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(
    ("options", "deviations", "systems"),
    [
        # clmm(value ~ system + (1|doc_id) + (1|worker_id) + (1|summary)), as printed by summary()
        (
            {},
            {"summary": 1.819, "document": 2.193, "worker": 1.644},
            {"s1": (2.293, 0.924), "s2": (4.180, 1.009)},
        ),
        (
            {"documents": 40, "workers": 6, "seed": 1},
            {"summary": 0.7926, "document": 2.1618, "worker": 0.7136},
            {"s1": (1.1519, 0.2914), "s2": (3.2604, 0.3364)},
        ),
    ],
)
def test_the_ordinal_model_equals_clmm_with_three_crossed_effects(options, deviations, systems):
    model = mixed_model(judgments(steps=True, **options), kind="ordinal")
    assert {name: model.deviations[name] for name in deviations} == pytest.approx(deviations, abs=6e-4)
    ours = against_first(model, "s0")
    for name, numbers in systems.items():
        assert ours[name] == pytest.approx(numbers, abs=6e-4)


def test_a_system_that_is_always_rated_highest_has_no_odds():
    table = judgments(steps=True)
    table.loc[table["system"] == "s2", "value"] = 5.0
    table.loc[table["system"] != "s2", "value"] = table["value"].clip(upper=4)
    with pytest.raises(ValueError, match="did not converge"):
        mixed_model(table, kind="ordinal")


def test_pairs_carry_effect_sizes_and_a_correction():
    model = mixed_model(judgments(documents=30))
    assert [(pair.better, pair.worse) for pair in model.pairs] == [("s2", "s1"), ("s2", "s0"), ("s1", "s0")]
    total = np.sqrt(sum(deviation**2 for deviation in model.deviations.values()))
    for pair in model.pairs:
        assert pair.effect == pytest.approx(pair.difference / total)
        assert pair.low < pair.difference < pair.high
        assert pair.p <= pair.p_adjusted <= 1
    assert model.pairs[1].p < 1e-4


def test_intervals_of_equal_systems_hold_their_level():
    # 40 simulated studies in which both systems are the same: 2 false alarms are expected at .05, 7 would be too many.
    alarms = sum(
        mixed_model(judgments(systems=(0, 0), documents=10, workers=4, seed=seed)).pairs[0].p < 0.05
        for seed in range(40)
    )
    assert alarms < 7


def test_without_effects_the_ordinal_model_is_a_proportional_odds_regression():
    # Summaries and documents without effects of their own: the same as the plain likelihood, maximised directly.
    table = judgments(spread=(0, 0, 0, 1.2), documents=40, steps=True)
    model = mixed_model(table, kind="ordinal")
    levels, place = np.unique(table["value"], return_inverse=True)
    system = table["system"].str[1:].astype(int).to_numpy()

    def loss(x: np.ndarray) -> float:
        cuts = np.concatenate(
            [[-np.inf], x[0] + np.concatenate([[0], np.cumsum(np.exp(x[1 : len(levels) - 1]))]), [np.inf]]
        )
        shift = np.concatenate([[0], x[len(levels) - 1 :]])[system]
        chance = special.expit(cuts[place + 1] - shift) - special.expit(cuts[place] - shift)
        return -np.log(np.maximum(chance, 1e-300)).sum()

    best = optimize.minimize(loss, np.concatenate([[-3], np.zeros(len(levels) - 2), [0, 0]]), method="BFGS").x
    effects = {effect.system: effect.value for effect in model.systems}
    assert effects["s1"] - effects["s0"] == pytest.approx(best[-2], abs=0.1)
    assert effects["s2"] - effects["s0"] == pytest.approx(best[-1], abs=0.1)
    assert sum(effects.values()) == pytest.approx(0, abs=1e-9)


def test_the_ordinal_model_finds_documents_workers_and_the_order_of_systems():
    model = mixed_model(judgments(documents=40, workers=6, steps=True), kind="ordinal")
    assert [effect.system for effect in model.systems] == ["s2", "s1", "s0"]
    # On the logistic scale effects are about 1.8 / .6 times those put in: documents 2.4, workers 1.5.
    assert 1.2 < model.deviations["document"] < 4
    assert 0.5 < model.deviations["worker"] < 3
    assert model.pairs[1].p < 0.001


def test_workers_confined_to_one_summary_have_no_effect_of_their_own():
    table = judgments()
    table["worker_id"] = table["worker_id"] + table["doc_id"] + table["system"]
    model = mixed_model(table)
    assert "worker" not in model.deviations
    assert "confined to one summary" in model.notes[0]


def test_what_cannot_be_modelled_is_refused_with_a_sentence():
    table = judgments()
    with pytest.raises(ValueError, match="All judgments are the same"):
        mixed_model(table.assign(value=3.0))
    with pytest.raises(ValueError, match="a comparison needs two"):
        mixed_model(table[table["system"] == "s0"])
    with pytest.raises(ValueError, match="2 to 20 steps"):
        mixed_model(table, kind="ordinal")
    with pytest.raises(ValueError, match="linear, ordinal"):
        mixed_model(table, kind="cubic")


def test_the_command(tmp_path, capsys):
    path = tmp_path / "judgments.csv"
    judgments(steps=True).to_csv(path, index=False)
    assert main(["mixed", str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    assert [row["system"] for row in json.loads(out)] == ["s2", "s1", "s0"]
    assert "Standard deviations: " in err
    assert main(["mixed", str(path), "--model", "ordinal", "--pairs", "--json"]) == 0
    assert {"effect", "p_adjusted"} <= set(json.loads(capsys.readouterr().out)[0])
    assert main(["mixed", str(path), "--unit", "style"]) == 2
