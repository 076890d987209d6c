"""SummEval's published scores of ROUGE, made again by our commands from the texts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import scoring
from analysis.tables import read_table

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "summeval"
PARTS = {"p": "precision", "r": "recall", "f": "f1"}

pytestmark = [
    pytest.mark.paper,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"the SummEval data are not at {DATA}"),
]


@pytest.fixture(scope="module")
def rouge() -> pd.DataFrame:
    """Our scores of the 12 systems whose very characters are known, stemmed, against the first reference."""
    summaries = read_table(DATA / "summaries.jsonl.gz", "summaries")
    documents = read_table(DATA / "documents.jsonl.gz", "documents")
    documents["references"] = documents["references"].map(lambda texts: list(texts)[:1])
    names = [
        f"rouge-{count}-{part}[stem{',split=none' if count == 'l' else ''}]"
        for count in ("1", "2", "3", "4", "l", "su4")
        for part in PARTS
    ]
    return scoring.evaluate(summaries[summaries["text_from"] == "DAMO"], documents, ",".join(names))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("count", ["1", "2", "3", "4", "l", "su4"])
def test_rouge_equals_all_1200_published_scores(rouge: pd.DataFrame, count: str, part: str) -> None:
    published = read_table(DATA / "scores.csv.gz", "scores")
    published = published[published["metric"] == f"rouge-{count}_{PARTS[part]}"].set_index(["doc_id", "system"])[
        "value"
    ]
    ours = rouge[rouge["metric"].str.startswith(f"rouge-{count}-{part}[")].set_index(["doc_id", "system"])["value"]
    assert len(ours) == 1200
    scale = 100 if published.max() > 1.5 else 1
    assert (ours - published.reindex(ours.index) / scale).abs().max() < 6e-6  # the program prints five digits
