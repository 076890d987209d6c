"""Filters: each rule on planted workers, the published properties of majority-dissent, and a crowd with known truth."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.filters import Rule, apply_rules, parse_rules, preview
from analysis.tables import AnalysisError, check_table
from tests.analysis.simulated_crowd import detection
from tests.analysis.support import table


def hit(*workers: str, doc: str = "d", system: str = "s") -> pd.DataFrame:
    """One summary: `hit("1100", "1101")` has two workers w0 and w1 who answer four units."""
    return table([(doc, system, f"u{u}", f"w{w}", int(a)) for w, row in enumerate(workers) for u, a in enumerate(row)])


def dropped(judgments: pd.DataFrame, *rules: str, **options) -> set[str]:
    return {decision.worker_id for decision in apply_rules(judgments, rules, **options).decisions}


def test_the_worker_with_most_dissent_goes() -> None:
    # w3 is outvoted on u0 and u1 (3-1), w2 on u2 (3-1); u3 is 2-2
    result = apply_rules(hit("1110", "1110", "1101", "0011"), ["majority-dissent"])
    assert [d.worker_id for d in result.decisions] == ["w3"]
    assert result.decisions[0].evidence == {"dissent": 2, "units": 4, "tied": 1}
    assert "Outvoted on 2 of 4 units of doc_id d, system s" in result.decisions[0].reason
    assert sorted(result.kept["worker_id"].unique()) == ["w0", "w1", "w2"]
    assert len(result.dropped) == 4


def test_an_even_split_counts_against_nobody() -> None:
    assert dropped(hit("11", "10", "01", "00"), "majority-dissent") == set()


def test_each_document_and_system_is_judged_by_itself() -> None:
    judgments = pd.concat([hit("111", "111", "111", "000"), hit("000", "111", "111", "111", system="t")])
    result = apply_rules(judgments, ["majority-dissent"])
    assert [(d.item["system"], d.worker_id) for d in result.decisions] == [("s", "w3"), ("t", "w0")]
    assert len(result.kept) == 18
    per_document = apply_rules(judgments, ["majority-dissent[per=doc_id]"], ties="all")
    assert {d.worker_id for d in per_document.decisions} == {"w0", "w3"}


@pytest.mark.parametrize(("ties", "expected"), [("first", {"w0"}), ("all", {"w0", "w1"}), ("none", set())])
def test_ties_among_the_worst_follow_the_named_policy(ties: str, expected: set[str]) -> None:
    # w0 is outvoted on u0, w1 on u1
    assert dropped(hit("01", "10", "11", "11"), "majority-dissent", ties=ties) == expected


def test_a_random_choice_among_ties_repeats_with_its_seed() -> None:
    judgments = pd.concat([hit("01", "10", "11", "11", doc=f"d{i:02}") for i in range(30)])

    def dropped_workers(seed: int) -> list[str]:
        return [d.worker_id for d in apply_rules(judgments, ["majority-dissent"], seed, "random").decisions]

    assert dropped_workers(1) == dropped_workers(1) != dropped_workers(2)
    assert len(dropped_workers(1)) == 30
    assert set(dropped_workers(1)) == {"w0", "w1"}


ANSWERS = st.lists(st.lists(st.integers(0, 1), min_size=6, max_size=6), min_size=4, max_size=4)


@settings(max_examples=25, deadline=None)
@given(ANSWERS, st.integers(0, 1000))
def test_four_workers_obey_what_the_released_rows_obey(answers: list[list[int]], seed: int) -> None:
    """facts: strict majorities only; exactly one worst worker goes if outvoted at all, otherwise nobody."""
    judgments = hit(*["".join(map(str, row)) for row in answers])
    votes = np.array(answers)
    yes = votes.sum(axis=0)
    outvoted = [int(sum(abs(2 * yes - 4)[u] > 0 and votes[w, u] != (yes[u] > 2) for u in range(6))) for w in range(4)]
    result = apply_rules(judgments, ["majority-dissent"], seed, "random")
    if max(outvoted) == 0:
        assert result.decisions == ()
        assert len(result.kept) == 24
    else:
        (decision,) = result.decisions
        assert outvoted[int(decision.worker_id[1])] == max(outvoted) == decision.evidence["dissent"]
        assert len(result.kept) == 18
    shuffled = judgments.sample(frac=1, random_state=seed)
    repeated = apply_rules(shuffled, ["majority-dissent"], seed, "random")
    assert repeated.decisions == result.decisions


def crowd(answers: dict[str, list[int]], **columns) -> pd.DataFrame:
    rows = [("d", "s", f"u{u:03}", worker, a) for worker, given_ in answers.items() for u, a in enumerate(given_)]
    return table(rows).assign(**columns)


TRUTH = np.random.default_rng(0).integers(0, 2, 40)
GOOD = {f"good{i}": TRUTH.tolist() for i in range(4)}


def test_worker_agreement_drops_who_disagrees_with_everybody() -> None:
    judgments = crowd({**GOOD, "bad": (1 - TRUTH).tolist()})
    (decision,) = apply_rules(judgments, ["worker-agreement"]).decisions
    assert decision.worker_id == "bad"
    assert decision.evidence["answers"] == 40
    assert decision.settings["threshold"] == 0.35
    assert dropped(judgments, "worker-agreement[minimum=41]") == set()
    assert dropped(judgments, "worker-agreement[measure=raw,threshold=0.5]") == {"bad"}


def test_straightlining_finds_constant_and_alternating_answers() -> None:
    judgments = crowd({**GOOD, "yes": [1] * 40, "zigzag": [0, 1] * 20})
    result = apply_rules(judgments, ["straightlining"])
    reasons = {d.worker_id: d.reason for d in result.decisions}
    assert set(reasons) == {"yes", "zigzag"}
    assert "Answered 1 to 40 of 40 units" in reasons["yes"]
    assert "repeat every 2 units in 38 of 38 places" in reasons["zigzag"]


def test_a_constant_answer_that_everybody_gives_is_no_straightlining() -> None:
    assert dropped(crowd({f"w{i}": [0] * 39 + [1] for i in range(5)}), "straightlining") == set()


def test_checks_drops_who_fails_them() -> None:
    checks = crowd({"ok": [0, 0, 0, 1, 0, 0], "asleep": [1, 1, 0, 1, 0, 0]}, is_check=True)
    judgments = pd.concat([crowd(GOOD, is_check=False), checks], ignore_index=True)
    (decision,) = apply_rules(judgments, ["checks"]).decisions
    assert (decision.worker_id, decision.evidence) == ("asleep", {"failed": 3, "checks": 6})
    planted = judgments.assign(expected=judgments["is_check"].map({True: "1", False: ""}))
    assert dropped(planted, "checks") == {"ok", "asleep"}
    # an empty cell means the answer to a BLANK statement
    assert dropped(judgments.assign(expected=""), "checks") == {"asleep"}
    with pytest.raises(AnalysisError, match="needs check items"):
        apply_rules(crowd(GOOD), ["checks"])


def test_time_drops_by_robust_z_and_by_floor() -> None:
    rng = np.random.default_rng(0)
    judgments = crowd({**GOOD, **{f"more{i}": TRUTH.tolist() for i in range(6)}, "fast": TRUTH.tolist()})
    judgments["seconds"] = np.where(judgments["worker_id"] == "fast", 1.0, 10.0) * np.exp(
        rng.normal(0, 0.3, len(judgments))
    )
    (decision,) = apply_rules(judgments, ["time"]).decisions
    assert decision.worker_id == "fast"
    assert "robust deviations faster" in decision.reason
    (decision,) = apply_rules(judgments, ["time[floor=3,z=100]"]).decisions
    assert "below the floor of 3 s" in decision.reason
    with pytest.raises(AnalysisError, match="no column 'seconds'"):
        apply_rules(crowd(GOOD), ["time"])


def test_bad_reference_drops_who_cannot_tell_planted_summaries() -> None:
    rows = []
    for doc in range(8):
        for system, quality in (("lead", 4), ("model", 5), ("planted", 1)):
            rows.append((f"d{doc}", system, "coherence", "sees", quality))
            rows.append((f"d{doc}", system, "coherence", "blind", 3 + doc % 2))
    (decision,) = apply_rules(table(rows), ["bad-reference[system=planted]"]).decisions
    assert decision.worker_id == "blind"
    assert decision.evidence["p"] > 0.05
    with pytest.raises(AnalysisError, match="name its system"):
        apply_rules(table(rows), ["bad-reference"])


def test_signals_drops_by_paste_and_by_focus() -> None:
    rows = []
    for worker in range(12):
        for doc in range(4):
            rows.append((f"d{doc}", "s", "u", f"w{worker:02}", 1, int(worker == 3), 60 if worker == 7 else worker % 3))
    judgments = table(rows, "doc_id system unit worker_id value pastes focus_losses")
    reasons = {d.worker_id: d.reason for d in apply_rules(judgments, ["signals"]).decisions}
    assert set(reasons) == {"w03", "w07"}
    assert reasons["w03"] == "Pasted text in 4 of 4 assignments."
    assert "Left the page 60.0 times per assignment" in reasons["w07"]
    with pytest.raises(AnalysisError, match="needs a column pastes or focus_losses"):
        apply_rules(crowd(GOOD), ["signals"])


def test_rules_combine_in_order_and_every_dropped_row_says_why() -> None:
    judgments = crowd({**GOOD, "bad": (1 - TRUTH).tolist(), "yes": [1] * 40})
    result = apply_rules(judgments, ["straightlining", Rule("worker-agreement", {"threshold": 0.2})], seed=4)
    assert [d.worker_id for d in result.decisions] == ["yes", "bad"]
    assert len(result.kept) + len(result.dropped) == len(judgments)
    assert result.dropped["reason"].str.len().min() > 20
    assert json.loads(result.dropped["settings"].iloc[0])["threshold"] == 0.2
    assert json.loads(result.dropped["evidence"].iloc[-1])["same"] == 40
    assert [rule["name"] for rule in result.settings["rules"]] == ["straightlining", "worker-agreement"]
    assert (result.settings["seed"], result.settings["ties"]) == (4, "first")
    check_table(result.dropped, "judgments")


def test_checks_go_where_their_worker_goes_and_count_for_no_other_rule() -> None:
    judgments = pd.concat(
        [
            hit("111", "111", "111", "000").assign(is_check=False),
            hit("1", "1", "1", "0").assign(is_check=True, unit="blank"),
        ]
    )
    result = apply_rules(judgments, ["majority-dissent"])
    assert result.decisions[0].evidence["dissent"] == 3
    assert result.decisions[0].n_rows == 4
    assert result.kept["is_check"].sum() == 3
    assert apply_rules(judgments, ["majority-dissent"], include_checks=True).decisions[0].evidence["dissent"] == 4


def test_a_filter_that_would_drop_everybody_is_refused() -> None:
    with pytest.raises(AnalysisError, match=r"worker-agreement\[threshold=2\] would drop everybody \(4 workers\)"):
        apply_rules(crowd(GOOD), ["worker-agreement[threshold=2]"])


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("nonsense", "no rule 'nonsense'; there are .*majority-dissent, worker-agreement"),
        ("time[speed=1]", "no setting 'speed'; its settings are z, floor, minimum"),
        ("time[z=quick]", "setting z of time needs a number, not 'quick'"),
        ("time[z", "no closing bracket"),
        ("time[z]", "'z' in 'time\\[z\\]' has no value"),
    ],
)
def test_a_wrong_rule_is_answered_with_what_is_known(rule: str, sentence: str) -> None:
    with pytest.raises(AnalysisError, match=sentence):
        apply_rules(crowd(GOOD, seconds=1.0), [rule])


def test_rules_are_read_with_commas_outside_brackets_between_them() -> None:
    rules = parse_rules("checks[max_failed=0.3,minimum=2], time,straightlining[share=1]")
    assert [str(rule) for rule in rules] == ["checks[max_failed=0.3,minimum=2]", "time", "straightlining[share=1]"]


def test_a_preview_says_what_it_would_cost() -> None:
    judgments = pd.concat([hit("110", "110", "110", "001"), hit("11", "11", "11", "11", doc="e")])
    effect = preview(judgments, ["majority-dissent"], quota=4, price=0.2)
    assert effect.agreement_before < effect.agreement_after == 1
    assert (effect.tasks_below, effect.assignments_missing, effect.cost) == (1, 1, pytest.approx(0.2))
    assert (effect.workers_dropped, effect.rows_dropped) == (0, 3)


def test_a_preview_of_mixed_scales_has_no_pooled_agreement() -> None:
    ratings = table([("d", "s", "fluency", f"w{i}", 4 + i % 2) for i in range(4)])
    effect = preview(pd.concat([hit("110", "110", "110", "001"), ratings]), ["majority-dissent"])
    assert np.isnan(effect.agreement_before)
    assert effect.result.decisions[0].worker_id == "w3"


@pytest.mark.parametrize("answers", [20, 40])
def test_planted_workers_of_a_simulated_crowd_are_found(answers: int) -> None:
    detected = {d.kind: d for d in detection(range(6), answers)}
    planted = [d for kind, d in detected.items() if kind != "careful"]
    assert sum(d.dropped for d in planted) >= 0.95 * sum(d.workers for d in planted)
    assert detected["careful"].dropped <= 0.02 * detected["careful"].workers
