"""One call for many metrics: pairing, order, jobs, cache, refusals."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import scoring
from analysis.tables import TableError
from scoring.errors import EmptyTextWarning, MissingInput, ScoringError, UndefinedWarning
from scoring.metrics.rouge import Rouge
from scoring.run.engines import Pool
from scoring.run.plan import MissingScores, Piece, make_plan
from scoring.texts import Document

METRICS = "rouge-2-f,rouge-1-r[stem],coverage,length,bleu,cider"


def test_scores_are_a_sorted_table_with_groups(summaries: pd.DataFrame, documents: pd.DataFrame) -> None:
    scores = scoring.evaluate(summaries, documents, ["rouge-1-r", "rouge-1-p"])
    assert list(scores.columns) == ["doc_id", "system", "metric", "value", "group"]
    keys = list(zip(scores["doc_id"], scores["system"], scores["metric"], strict=True))
    assert keys == sorted(keys)
    assert len(keys) == 8
    first = scores.iloc[0]
    # "The cat sat." against two references of 6 and 4 words: all 3 words match 3 + 2 times, of 2 · 3 words.
    assert (first["doc_id"], first["system"], first["metric"], first["group"]) == ("1", "a", "rouge-1-p", "abs")
    assert first["value"] == 0.83333


def test_pairing_is_by_id(summaries: pd.DataFrame, documents: pd.DataFrame) -> None:
    expected = scoring.evaluate(summaries, documents, METRICS)
    scores = scoring.evaluate(summaries.iloc[::-1], documents.iloc[::-1], METRICS)
    pd.testing.assert_frame_equal(scores, expected)


def test_without_groups_there_is_no_group_column(summaries: pd.DataFrame, documents: pd.DataFrame) -> None:
    scores = scoring.evaluate(summaries.drop(columns="group"), documents, "bleu")
    assert list(scores.columns) == ["doc_id", "system", "metric", "value"]


def test_jobs_do_not_change_a_bit(summaries: pd.DataFrame, documents: pd.DataFrame, tmp_path: Path) -> None:
    expected = scoring.evaluate(summaries, documents, METRICS)
    scores = scoring.evaluate(summaries, documents, METRICS, jobs=2, cache=tmp_path)
    pd.testing.assert_frame_equal(scores, expected, check_exact=True)


def test_a_cached_run_computes_nothing_again(
    summaries: pd.DataFrame, documents: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[tuple[int, int]] = []
    real = Rouge.score

    def counting(self: Rouge, document: object, texts: list[object], columns: list[str]) -> list[list[float]]:
        computed.append((len(texts), len(columns)))
        return real(self, document, texts, columns)  # type: ignore[arg-type]

    monkeypatch.setattr(Rouge, "score", counting)
    three = summaries.iloc[:3]
    first = scoring.evaluate(three, documents, "rouge-1-f,rouge-1-r", cache=tmp_path)
    assert sum(rows * columns for rows, columns in computed) == 6
    computed.clear()
    second = scoring.evaluate(three, documents, "rouge-1-f,rouge-1-r", cache=tmp_path)
    assert computed == []
    pd.testing.assert_frame_equal(second, first, check_exact=True)
    # One more summary and one more metric: 2 new cells for the new summary, 4 for the new metric.
    extended = scoring.evaluate(summaries, documents, "rouge-1-f,rouge-1-r,rouge-2-f", cache=tmp_path)
    assert sum(rows * columns for rows, columns in computed) == 6
    pd.testing.assert_frame_equal(extended, scoring.evaluate(summaries, documents, "rouge-1-f,rouge-1-r,rouge-2-f"))


def test_a_changed_reference_is_not_taken_from_the_cache(
    summaries: pd.DataFrame, documents: pd.DataFrame, tmp_path: Path
) -> None:
    scoring.evaluate(summaries, documents, "rouge-1-r", cache=tmp_path)
    changed_documents = documents.assign(references=[["Nothing shared"], ["Nothing shared"]])
    scores = scoring.evaluate(summaries, changed_documents, "rouge-1-r", cache=tmp_path)
    assert scores["value"].tolist() == [0.0] * 4


def test_an_interrupted_run_goes_on(
    summaries: pd.DataFrame, documents: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.run.BATCH", 1)
    scored_documents: list[str] = []
    real = Rouge.score

    def stopping(self: Rouge, document: Document, *arguments: object) -> list[list[float]]:
        scored_documents.append(document.doc_id)
        if scored_documents == ["1", "2"]:
            raise KeyboardInterrupt
        return real(self, document, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Rouge, "score", stopping)
    with pytest.raises(KeyboardInterrupt):
        scoring.evaluate(summaries, documents, "rouge-1-r", cache=tmp_path)
    scoring.evaluate(summaries, documents, "rouge-1-r", cache=tmp_path)
    assert scored_documents == ["1", "2", "2"]  # document 1 came from the cache


def test_progress_counts_summaries(summaries: pd.DataFrame, documents: pd.DataFrame) -> None:
    calls: list[tuple[int, int]] = []
    scoring.evaluate(summaries, documents, "length", progress=lambda completed, total: calls.append((completed, total)))
    assert calls[-1] == (4, 4)


def test_system_level_scores_have_a_star(summaries: pd.DataFrame, documents: pd.DataFrame) -> None:
    import sacrebleu

    scores = scoring.evaluate(summaries, documents, "bleu")
    stars = scores[scores["doc_id"] == "*"].set_index("system")
    assert list(scores["doc_id"].unique()) == ["*", "1", "2"]
    assert stars["group"].to_dict() == {"a": "abs", "b": "ext"}
    hypotheses = ["The cat sat.", "It was dry."]
    references = [["The cat sat on the mat.", "Rain fell. It fell all day."], ["A cat sat there.", None]]
    expected = sacrebleu.corpus_bleu(hypotheses, references).score  # type: ignore[arg-type]
    assert stars.loc["a", "value"] == pytest.approx(expected, abs=1e-12)
    assert set(scoring.evaluate(summaries, documents, "bleu[level=corpus]")["doc_id"]) == {"*"}
    assert set(scoring.evaluate(summaries, documents, "bleu[level=summary]")["doc_id"]) == {"1", "2"}


def test_signatures_travel_with_the_scores(summaries: pd.DataFrame, documents: pd.DataFrame) -> None:
    scores = scoring.evaluate(summaries, documents, "rouge-1-r[stem],cider")
    signatures = scores.attrs["signatures"]
    assert list(signatures) == ["cider", "rouge-1-r[stem]"]
    assert "corpus:2-" in signatures["cider"]  # CIDEr names the corpus that its document frequencies come from


def test_empty_texts_are_scored_and_told(documents: pd.DataFrame) -> None:
    summaries = pd.DataFrame({"doc_id": ["1", "2"], "system": ["a", "a"], "summary": ["", "..."]})
    with pytest.warns(EmptyTextWarning, match="document 1, system a and 1 more"):
        scores = scoring.evaluate(summaries, documents, "rouge-1-f,coverage,js-2,bleu,length")
    values = scores.set_index(["doc_id", "metric"])["value"]
    assert values["1", "rouge-1-f"] == 0.0
    assert values["1", "length"] == 0.0
    assert values["1", "bleu"] == 0.0
    assert math.isnan(values["1", "coverage"])
    assert math.isnan(values["1", "js-2"])


def test_an_empty_reference_is_told(summaries: pd.DataFrame, documents: pd.DataFrame) -> None:
    hollow = documents.assign(references=[[" "], ["Rain fell."]])
    with pytest.warns(EmptyTextWarning, match="Empty reference: document 1"):
        scores = scoring.evaluate(summaries, hollow, "rouge-w-f")
    assert scores[scores["doc_id"] == "1"]["value"].tolist() == [0.0, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scoring.evaluate(summaries, hollow, "length")  # doesn't look at references


def test_a_summary_without_its_document_is_refused(summaries: pd.DataFrame, documents: pd.DataFrame) -> None:
    with pytest.raises(MissingInput, match=r"1 document\(s\).*: 2;"):
        scoring.evaluate(summaries, documents.iloc[:1], "rouge-1-f")


def test_a_document_without_source_is_refused_where_it_is_needed(
    summaries: pd.DataFrame, documents: pd.DataFrame
) -> None:
    for without in (documents.assign(source=["x", ""]), documents.drop(columns="source")):
        with pytest.raises(MissingInput, match="has no source text, which coverage"):
            scoring.evaluate(summaries, without, "rouge-1-f,coverage")
        assert len(scoring.evaluate(summaries, without, "rouge-1-f")) == 4


def test_a_document_without_references_is_refused(summaries: pd.DataFrame, documents: pd.DataFrame) -> None:
    bare = documents.assign(references=[[], ["Rain."]])
    with pytest.raises(MissingInput, match="Document 1 has no reference"):
        scoring.evaluate(summaries, bare, "rouge-1-f")
    assert len(scoring.evaluate(summaries, bare, "coverage")) == 4


def test_a_doubled_summary_is_refused(summaries: pd.DataFrame, documents: pd.DataFrame) -> None:
    doubled = pd.concat([summaries, summaries.iloc[:1]])
    with pytest.raises(TableError, match="system"):
        scoring.evaluate(doubled, documents, "rouge-1-f")


def test_bad_engines_and_jobs_are_refused(summaries: pd.DataFrame, documents: pd.DataFrame) -> None:
    with pytest.raises(ScoringError, match="local, ray"):
        scoring.evaluate(summaries, documents, "length", engine="cloud")
    with pytest.raises(ScoringError, match="1 or more"):
        scoring.evaluate(summaries, documents, "length", jobs=0)


@pytest.mark.parametrize("metric", ["js-2", "novel-2"])
def test_an_undefined_score_is_never_silent(metric: str) -> None:
    """One word has no pair of words: the score is undefined, though the text isn't empty."""
    summaries = pd.DataFrame(
        [("1", "short", "Cat"), ("1", "long", "A black cat sat.")], columns=["doc_id", "system", "summary"]
    )
    documents = pd.DataFrame({"doc_id": ["1"], "source": ["A black cat sat here."], "references": [["A black cat."]]})
    with pytest.warns(UndefinedWarning, match=f"{metric} is undefined for document 1, system short"):
        scores = scoring.evaluate(summaries, documents, metric)
    assert scores.set_index("system")["value"].isna().to_dict() == {"short": True, "long": False}


def _asleep(_batch: object) -> object:
    time.sleep(20)
    return []


def test_a_pool_that_is_left_early_does_not_wait_for_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.run.engines._compute_batch", _asleep)
    finished_piece = Piece(Document("d", ("a",), None), ("a",), ())
    results = Pool(make_plan(scoring.registry.parse("length")), 2).run(
        [[finished_piece], *[[replace(finished_piece, missing=(MissingScores(0, ("length",), (0,)),))]] * 9]
    )
    assert next(iter(results)) == [[]]
    started = time.monotonic()
    results.close()  # type: ignore[attr-defined]
    assert time.monotonic() - started < 10
