"""Dropping dissenters raises agreement by construction: a filter's gain is told apart from selection."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.filters import apply_rules, filter_effect, preview


def crowd(share_right, documents=40, units=10, seed=0, bad=()):
    """Four workers per summary out of twenty; `share_right` is how often they are right, `bad` workers guess."""
    rng = np.random.default_rng(seed)
    rows = []
    for d in range(documents):
        truth = rng.integers(0, 2, units)
        for w in rng.choice(20, 4, replace=False):
            is_right = rng.random(units) < (0.5 if w in bad else share_right)
            rows += [
                (f"d{d}", "s", f"u{u}", f"w{w}", int(truth[u] if is_right[u] else 1 - truth[u])) for u in range(units)
            ]
    return pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])


def test_no_filter_repairs_coin_flips():
    """Alpha goes from about 0 to .13 when the dissenters of coin flips are dropped."""
    facts = preview(crowd(0.5), ["majority-dissent"])
    assert facts.agreement_before < 0.05 < facts.agreement_after
    assert facts.effect.verdict == "chance"
    assert facts.effect.sentence().startswith("This crowd's agreement is not above chance (alpha ")
    # The same rule does as much to shuffled answers.
    gain = facts.effect.after - facts.effect.before
    assert abs(facts.effect.shuffled_after - facts.effect.shuffled_before - gain) < 0.06


def test_dropping_dissenters_among_equally_good_workers_is_selection():
    effect = filter_effect(crowd(0.8, seed=1), ["majority-dissent"])
    assert effect.after > effect.before + 0.05
    assert effect.verdict == "selects"
    assert "no more than selection would" in effect.sentence()
    assert abs(effect.held_out - effect.before) < 0.05


def test_dropping_workers_who_guess_improves_agreement_on_answers_not_looked_at():
    effect = filter_effect(crowd(0.9, documents=80, bad=(0, 1, 2, 3)), ["worker-agreement[threshold=0.3]"])
    assert effect.verdict == "improves"
    assert effect.held_out > effect.before + 0.05
    assert effect.gain_low > 0


def test_a_filter_that_drops_nobody_says_so():
    effect = filter_effect(crowd(1.0), ["majority-dissent"])
    assert effect.verdict == "nothing"
    assert effect.sentence() == "The filter leaves every answer in: alpha 1.000."


def test_the_effect_leaves_the_judgments_as_they_are_and_repeats():
    judgments = crowd(0.8)
    before = judgments.copy()
    first, second = (filter_effect(judgments, ["majority-dissent"], seed=3) for _ in range(2))
    assert first == second
    pd.testing.assert_frame_equal(judgments, before)
    assert len(apply_rules(judgments, ["majority-dissent"]).kept) < len(judgments)


def test_scales_that_cant_be_compared_have_no_effect_to_tell():
    mixed = pd.concat([crowd(0.9), crowd(0.9).assign(unit="coherence", value=lambda rows: 1 + 3 * rows["value"])])
    mixed = mixed.drop_duplicates(["doc_id", "system", "unit", "worker_id"])
    assert filter_effect(mixed, ["majority-dissent"]) is None


def test_what_a_filter_does_doesnt_hang_on_how_pseudonyms_sort():
    """A study's pseudonyms are salted: the same answers imported twice must give the same figures."""
    judgments = crowd(0.8)
    judgments["assignment_id"] = judgments["doc_id"] + "-" + judgments["worker_id"]
    names = dict(zip(sorted(set(judgments["worker_id"])), np.random.default_rng(1).permutation(20), strict=True))
    salted = judgments.assign(worker_id=judgments["worker_id"].map(lambda name: f"p{names[name]:02}"))
    salted = salted.sort_values(["doc_id", "system", "worker_id", "unit"])
    for ties in ("first", "random"):
        plain, other = (filter_effect(rows, ["majority-dissent"], ties=ties) for rows in (judgments, salted))
        assert plain == other
        plain, other = (apply_rules(rows, ["majority-dissent"], ties=ties).decisions for rows in (judgments, salted))
        assert [f"p{names[decision.worker_id]:02}" for decision in plain] == [decision.worker_id for decision in other]


def test_units_that_documents_only_number_alike_are_no_dimensions():
    """scu0 of every document is easy, scu9 hard: dealt by their numbers, shuffled answers still agreed a little."""
    rng = np.random.default_rng(0)
    rows = [
        (f"d{d}", "s", f"scu{u}", f"w{w}", int(rng.random() < (0.95 - 0.1 * u)))
        for d in range(60) for u in range(10 - d % 2) for w in range(4)
    ]  # fmt: skip
    judgments = pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])
    effect = filter_effect(judgments, ["majority-dissent"])
    assert effect.before > 0.2
    assert abs(effect.shuffled_before) < 0.02
    ratings = judgments[judgments["unit"] < "scu9"]  # all documents have these: they may be dimensions
    assert filter_effect(ratings, ["majority-dissent"]).shuffled_before > 0.1
