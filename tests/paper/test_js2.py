"""JS-2 as REALSumm published it."""

from __future__ import annotations

from pathlib import Path

import pytest

import scoring
from analysis.tables import read_table

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "realsumm"

pytestmark = [
    pytest.mark.paper,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"the REALSumm data are not at {DATA}"),
]


def test_at_least_2236_of_2500_published_values_are_equal() -> None:
    # The others were scored against each system's own, differently tokenised copy of the reference.
    summaries = read_table(DATA / "summaries.jsonl.gz", "summaries")
    documents = read_table(DATA / "documents.jsonl.gz", "documents")
    published = read_table(DATA / "scores.csv.gz", "scores")
    published = published[published["metric"] == "js-2"].set_index(["doc_id", "system"])["value"]
    our_values = scoring.evaluate(summaries, documents, "js-2").set_index(["doc_id", "system"])["value"]
    assert len(our_values) == len(published) == 2500
    equal = (our_values - published).abs() < 1e-6
    assert int(equal.sum()) >= 2236
