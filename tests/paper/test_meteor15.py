"""METEOR 1.5 to the digit: against its own program, and against the scores that SummEval's users publish."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.tables import read_table
from scoring import registry
from scoring.metrics.meteor import release

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
PAIRS = 500

pytestmark = [
    pytest.mark.paper,
    pytest.mark.skipif(not (SHARED / "summeval").is_dir(), reason=f"the data are not at {SHARED}"),
    pytest.mark.skipif(release.folder() is None, reason=f"METEOR 1.5 is not here ({release.COMMAND})"),
]


@pytest.mark.skipif(shutil.which("java") is None, reason="the program of METEOR 1.5 needs Java")
def test_500_pairs_equal_the_program() -> None:
    documents = read_table(SHARED / "realsumm" / "documents.jsonl.gz", "documents").set_index("doc_id")["references"]
    summaries = read_table(SHARED / "realsumm" / "summaries.jsonl.gz", "summaries").iloc[::5]
    pairs = [
        (" ".join(summary), [" ".join(text) for text in documents[doc_id]])
        for doc_id, summary in zip(summaries["doc_id"], summaries["summary"], strict=True)
    ]
    metric = registry.get("meteor[tables=release]")
    scores = [metric.evaluate_example(summary, references)["meteor[tables=release]"] for summary, references in pairs]
    assert len(scores) == PAIRS
    np.testing.assert_allclose(scores, program_scores(pairs), atol=1e-12)


def program_scores(pairs: list[tuple[str, list[str]]]) -> list[float]:
    """What the release's program says: a line of counts for each pair, then a line with all counts to be scored."""
    command = ["java", "-Xmx2G", "-jar", "meteor-1.5.jar", "-", "-", "-stdio", "-l", "en", "-norm"]
    with subprocess.Popen(
        command, cwd=release.folder(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None

        def ask(*parts: str) -> str:
            program.stdin.write(" ||| ".join(parts) + "\n")
            program.stdin.flush()
            return program.stdout.readline().strip()

        counts = [ask("SCORE", *references, summary) for summary, references in pairs]
        return [float(ask("EVAL", *counts)), *(float(program.stdout.readline()) for _ in counts[1:])]


@pytest.fixture(scope="module")
def exact_texts() -> pd.DataFrame:
    """The 1,200 summaries of the 12 systems whose very characters are known."""
    summaries = pd.read_json(SHARED / "summeval" / "summaries.jsonl.gz", lines=True)
    return summaries[summaries["text_from"] == "DAMO"]


def test_all_1200_published_scores_of_summeval_come_out(exact_texts: pd.DataFrame) -> None:
    references = pd.read_json(SHARED / "summeval" / "documents.jsonl.gz", lines=True).set_index("doc_id")["references"]
    scores = read_table(SHARED / "summeval" / "scores.csv.gz", "scores")
    published = scores[scores["metric"] == "METEOR"].set_index(["doc_id", "system"])["value"]
    metric = registry.get("meteor[tables=release]")
    differences = [
        metric.evaluate_example(row.summary, references[row.doc_id][0])["meteor[tables=release]"]
        - published[row.doc_id, row.system]
        for row in exact_texts.itertuples()
    ]
    assert len(differences) == 1200
    assert max(map(abs, differences)) < 1e-12
