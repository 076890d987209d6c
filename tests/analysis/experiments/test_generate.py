"""Genetic search for summaries over the whole range of a metric."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analysis.cli import main
from analysis.experiments.generate import Job, Search, breed, collect, generate, lexrank
from analysis.tables import read_table

RNG = np.random.default_rng(0)
WORDS = [f"w{i}" for i in range(60)]
DOCUMENT = [" ".join(RNG.choice(WORDS, 8)) for _ in range(25)]
GOOD = set(RNG.choice(WORDS, 15, replace=False))


def hits(sentences, references=None):
    """Different good words in the summary: what a content metric rewards."""
    return float(len(GOOD & {word for sentence in sentences for word in sentence.split()}))


def test_the_search_climbs_and_covers_the_range():
    summaries = breed(DOCUMENT, hits, Search(words=32, population=40, generations=15, keep=200))
    values = [summary.fitness for summary in summaries]
    random = [summary.fitness for summary in summaries if summary.generation == 0]
    assert values == sorted(values, reverse=True)
    assert max(values) > max(random)
    assert min(values) <= np.mean(random)
    assert len({summary.sentences for summary in summaries}) == len(summaries)


def test_summaries_fit_and_no_further_sentence_does():
    for summary in breed(DOCUMENT, hits, Search(words=32, population=10, generations=2)):
        assert sum(len(DOCUMENT[i].split()) for i in summary.sentences) == 32
        assert list(summary.sentences) == sorted(set(summary.sentences))


def test_the_seed_decides():
    search = Search(words=32, population=10, generations=3)
    assert breed(DOCUMENT, hits, search) == breed(DOCUMENT, hits, search)
    assert breed(DOCUMENT, hits, search) != breed(
        DOCUMENT, hits, Search(words=32, population=10, generations=3, seed=1)
    )


def test_a_document_without_a_fitting_sentence():
    with pytest.raises(ValueError, match="fits into 3 words"):
        breed(DOCUMENT, hits, Search(words=3))


def test_lexrank_takes_the_central_sentence():
    # Three sentences about a flood share words with each other; the last stands alone.
    sentences = [
        "the river flood reached town",
        "flood water of the river covered town streets",
        "town streets closed after river flood",
        "bananas ripen slowly",
        "violins sound bright",
    ]
    assert lexrank(sentences, words=8)[0] in (0, 1, 2)
    assert 3 not in lexrank(sentences, words=12)


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    search = Search(words=32, population=6, generations=1)
    jobs = [Job(f"d{i}", tuple(DOCUMENT), "hits", hits, search) for i in range(3)]
    first = next(generate(jobs, tmp_path))
    before = first.stat().st_mtime_ns
    assert len(list(generate(jobs, tmp_path, workers=2))) == 2
    assert first.stat().st_mtime_ns == before
    rows = collect(tmp_path)
    assert {row["doc_id"] for row in rows} == {"d0", "d1", "d2"}
    assert sum(row["system"] == "lexrank" for row in rows) == 3
    with pytest.raises(ValueError, match="local, ray"):
        list(generate(jobs, tmp_path, engine="spark"))


def test_the_command(tmp_path, capsys):
    documents = tmp_path / "documents.jsonl"
    rows = [{"doc_id": f"d{i}", "source": DOCUMENT, "references": [[DOCUMENT[0]]]} for i in range(2)]
    documents.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "summaries.jsonl"
    words = [
        "generate",
        str(documents),
        "--fitness",
        "tests.analysis.experiments.test_generate:hits",
        "--out",
        str(out),
    ]
    words += ["--words", "32", "--population", "8", "--generations", "2", "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)[0]["documents"] == 2
    summaries = read_table(out, "summaries")
    assert "lexrank" in set(summaries["system"])
    assert main([*words[:3], "nowhere:nothing", *words[4:]]) == 2
    assert "MODULE:FUNCTION" in capsys.readouterr().err
