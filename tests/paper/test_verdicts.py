"""The verdicts on real studies, as docs/statistics/verdicts.md tells them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from analysis.aggregate import aggregate
from analysis.report import build_report
from analysis.tables import read_table

pytestmark = pytest.mark.paper
DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistics" / "verdicts.md"
HUMAN = "litepyramid_recall"


def verdict(scores: pd.DataFrame, human: str) -> str:
    return build_report(scores, human=human, resamples=50).verdict


@pytest.fixture(scope="module")
def realsumm() -> pd.DataFrame:
    if not (DATA / "realsumm").exists():
        pytest.skip(f"the REALSumm data is not here: {DATA / 'realsumm'}")
    return read_table(DATA / "realsumm" / "scores.csv.gz", "scores")


def test_realsumm_is_open_for_its_extractive_systems_alone(realsumm: pd.DataFrame) -> None:
    text, page = verdict(realsumm, HUMAN), PAGE.read_text(encoding="utf-8")
    for words in (
        "On these 25 systems and 100 documents there is too little data to say whether a metric can stand in",
        "though the closest of 14, rouge_2_recall, has r = .961 (for the true means .909 to 1.000",
        "within their groups taken together (r = .937, .847 to 1.000), but not shown within single groups: ext (",
        "ext (r = .739, −.296 to 1.000). It is shown within abs.",
        "These can't: rouge_1_precision, rouge_2_precision, rouge_l_precision, bert_precision_score.",
    ):
        assert words in text
    for figures in (".961 (.909 to 1.000", ".937 (.847 to 1.000)", ".739 (−.296 to 1.000)"):
        assert figures in page
    undeclared = verdict(realsumm.drop(columns="group").assign(system=realsumm["group"] + realsumm["system"]), HUMAN)
    assert "rouge_2_recall can stand in for people" in undeclared


def test_negated_metrics_get_the_same_answer_and_are_said_to_run_the_other_way(realsumm: pd.DataFrame) -> None:
    turned = realsumm["metric"].isin(["rouge_2_recall", "js-2"])
    negated = realsumm.assign(value=realsumm["value"].where(~turned, -realsumm["value"]))
    plain, other = verdict(realsumm, HUMAN), verdict(negated, HUMAN)
    assert "Lower is better for rouge_2_recall, js-2: " in other
    assert other.split("These can't")[0] == plain.split("These can't")[0]


def test_one_document_and_two_systems_decide_nothing(realsumm: pd.DataFrame) -> None:
    alone = verdict(realsumm[realsumm["doc_id"] == realsumm["doc_id"].iloc[0]], HUMAN)
    assert "too little data" in alone
    assert "Everything rests on one document" in alone
    abstractive = realsumm[realsumm["group"] == "abs"]
    two = abstractive[abstractive["system"].isin(sorted(set(abstractive["system"]))[:2])]
    assert "No metric can be judged on fewer than 3 systems: add systems." in verdict(two, HUMAN)


@pytest.mark.parametrize(
    ("measure", "lead"),
    [
        ("relevance", "qa-eval_f1, has r = .820 (for the true means .286 to .993"),
        ("coherence", "bertscore_f1, has r = .637 (for the true means −.108 to .933"),
        ("consistency", "qa-eval_f1, has r = .846 (for the true means .363 to .996"),
        ("fluency", "qa-eval_f1, has r = .811 (for the true means .266 to .994"),
    ],
)
def test_summeval_shows_no_metric_and_ranks_no_human_measure(measure: str, lead: str) -> None:
    folder = DATA / "summeval"
    if not folder.exists():
        pytest.skip(f"the SummEval data is not here: {folder}")
    judgments, scores = (read_table(folder / f"{name}.csv.gz", name) for name in ("judgments", "scores"))
    experts = aggregate(judgments[judgments["role"] == "expert"], scheme="mean").assign(role="human")
    scores = scores[~scores["metric"].str.endswith(("_precision", "_recall"))].assign(role="")
    report = build_report(pd.concat([scores, experts]), human=measure, resamples=50)
    assert "too little data to say" in report.verdict
    assert f"the closest of 18, {lead}" in report.verdict
    assert ("These can't: bertscore_f1." in report.verdict) == (measure == "consistency")
    assert any("given by people too, and so not judged as metrics" in warning for warning in report.warnings)
