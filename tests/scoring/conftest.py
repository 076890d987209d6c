"""Shared by the scoring tests: small tables, and what may be missing on a machine."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from scoring.metrics.meteor import wordnet
from tests.scoring.metrics import perl_rouge

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def skip_if_missing(reason: str | None) -> None:
    """Skip with the reason; where the whole suite must run (CI), fail instead."""
    if reason is None:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}; the test set-up must install it")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def perl(tmp_path_factory: pytest.TempPathFactory) -> perl_rouge.PerlRouge:
    skip_if_missing(perl_rouge.why_not())
    return perl_rouge.PerlRouge(tmp_path_factory.mktemp("perl"))


@pytest.fixture(scope="session")
def net() -> wordnet.WordNet:
    skip_if_missing(None if wordnet.folder() else "WordNet is not here (apt-get install wordnet-base, or WORDNET_DIR)")
    return wordnet.require()


@pytest.fixture(scope="session")
def realsumm() -> Path:
    folder = SHARED / "realsumm"
    if not folder.is_dir():
        pytest.skip(f"the REALSumm data are not at {folder}")
    return folder


@pytest.fixture
def documents() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "doc_id": ["1", "2"],
            "source": ["The cat sat on the mat and looked at the dog.", "Rain fell all day in the north."],
            "references": [["The cat sat on the mat.", "A cat sat there."], [["Rain fell.", "It fell all day."]]],
        }
    )


@pytest.fixture
def summaries() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "doc_id": ["2", "1", "1", "2"],
            "system": ["b", "a", "b", "a"],
            "summary": [["Rain fell all day."], "The cat sat.", "A dog looked at the cat.", "It was dry."],
            "group": ["ext", "abs", "ext", "abs"],
        }
    )
