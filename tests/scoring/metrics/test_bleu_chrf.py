"""BLEU and chrF equal sacrebleu, per summary and over a system."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import sacrebleu

import scoring
from analysis.tables import read_table
from scoring import registry


@pytest.fixture(scope="module")
def tables(realsumm: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    documents = read_table(realsumm / "documents.jsonl.gz", "documents").iloc[:20]
    summaries = read_table(realsumm / "summaries.jsonl.gz", "summaries")
    is_chosen = summaries["doc_id"].isin(documents["doc_id"]) & summaries["system"].isin(["bart_out", "t5_out_large"])
    return summaries[is_chosen], documents


def test_forty_summaries_and_their_systems(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    summaries, documents = tables
    scores = scoring.evaluate(summaries, documents, "bleu,chrf,chrf[words=2],bleu[lowercase]")
    values = scores.set_index(["doc_id", "system", "metric"])["value"]
    references = dict(zip(documents["doc_id"], (" ".join(refs[0]) for refs in documents["references"]), strict=True))
    for system, rows in summaries.groupby("system"):
        hypotheses = [" ".join(text) for text in rows["summary"]]
        targets = [references[doc_id] for doc_id in rows["doc_id"]]
        for doc_id, text, target in zip(rows["doc_id"], hypotheses, targets, strict=True):
            expected = {
                "bleu": sacrebleu.sentence_bleu(text, [target]),
                "bleu[lowercase]": sacrebleu.sentence_bleu(text, [target], lowercase=True),
                "chrf": sacrebleu.sentence_chrf(text, [target]),
                "chrf[words=2]": sacrebleu.sentence_chrf(text, [target], word_order=2),
            }
            for metric, score in expected.items():
                assert values[doc_id, system, metric] == score.score
        assert values["*", system, "bleu"] == sacrebleu.corpus_bleu(hypotheses, [targets]).score
        assert values["*", system, "chrf"] == sacrebleu.corpus_chrf(hypotheses, [targets]).score
        assert values["*", system, "chrf[words=2]"] == sacrebleu.corpus_chrf(hypotheses, [targets], word_order=2).score


@pytest.mark.parametrize("summary", ["The cat.", "A cat sat on the mat today", "", "Nothing in common"])
def test_several_references(summary: str) -> None:
    references = ["The cat sat on the mat.", "A cat was sitting on a mat today."]
    (bleu,) = registry.get("bleu").evaluate_example(summary, references).values()
    (chrf,) = registry.get("chrf").evaluate_example(summary, references).values()
    assert bleu == sacrebleu.sentence_bleu(summary, references).score
    assert chrf == sacrebleu.sentence_chrf(summary, references).score


def test_the_aggregate_of_a_batch_is_the_corpus_score() -> None:
    summaries, references = ["The cat sat there.", "It rained all day."], ["The cat sat here.", "It rained."]
    scores = registry.get("bleu").evaluate_batch(summaries, references)
    assert scores == {"bleu": sacrebleu.corpus_bleu(summaries, [references]).score}


def test_effective_order_can_be_turned_off() -> None:
    # Three tokens have no 4-grams: without the effective order sacrebleu gives 0.
    metric = sacrebleu.BLEU(effective_order=False)
    (value,) = registry.get("bleu[effective=no]").evaluate_example("the cat sat", "the cat sat").values()
    assert value == metric.corpus_score(["the cat sat"], [["the cat sat"]]).score
    (with_it,) = registry.get("bleu").evaluate_example("the cat sat", "the cat sat").values()
    assert with_it == pytest.approx(100.0)
