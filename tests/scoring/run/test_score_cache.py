"""The cache on disk: keys, partial cells, several processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from scoring.errors import ScoringError
from scoring.run.score_cache import Cache, Keys
from scoring.texts import Document

ROOT = Path(__file__).resolve().parents[3]
KEYS = [bytes([n]) * 16 for n in range(3)]


def test_what_was_put_comes_back_and_columns_are_added(tmp_path: Path) -> None:
    columns = [f"c{n}" for n in range(11)]  # more than one byte of bits
    with Cache(tmp_path) as cache:
        signature_cache = cache.of_signature("a|1", columns)
        with cache.writing():
            signature_cache.store(KEYS[:2], ["c10", "c0"], [[1.5, float("nan")], [2.5, 3.5]])
        with cache.writing():
            signature_cache.store(KEYS[1:2], ["c3"], [[7.0]])
        block = signature_cache.get(KEYS, ["c0", "c3", "c10"])
    assert block.is_known.tolist() == [[True, False, True], [True, True, True], [False] * 3]
    assert np.isnan(block.values[0, 0])
    assert block.values[1].tolist() == [3.5, 7.0, 2.5]


def test_signatures_have_scores_of_their_own(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        with cache.writing():
            cache.of_signature("stem:no", ["c"]).store(KEYS[:1], ["c"], [[1.0]])
        assert not cache.of_signature("stem:yes", ["c"]).get(KEYS[:1], ["c"]).is_known.any()
    with Cache(tmp_path) as reopened:
        assert reopened.of_signature("stem:no", ["c"]).get(KEYS[:1], ["c"]).values.tolist() == [[1.0]]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        signature_cache = cache.of_signature("a", ["c"])

        def fail() -> None:
            with cache.writing():
                signature_cache.store(KEYS[:1], ["c"], [[1.0]])
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fail()
        assert not signature_cache.get(KEYS[:1], ["c"]).is_known.any()


def test_keys_tell_texts_and_splits_apart() -> None:
    texts = ["a b", ("a b",), ("a", " b"), ("a ", "b"), ("a", "b"), "ab", "", ()]
    document = Document("1", ("r",), "s")
    keys = Keys(document, texts).of(["references"])
    assert len(set(keys)) == len(texts)
    assert Keys(document, texts[:1]).of(["source"]) != keys[:1]
    # The id of a document is not part of a key: the same texts have the same score.
    assert Keys(Document("2", ("r",), "other"), texts[:1]).of(["references"]) == keys[:1]
    assert Keys(Document("1", ("r", ""), "s"), texts[:1]).of(["references"]) != keys[:1]


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from scoring.run.score_cache import Cache
number = int(sys.argv[2])
with Cache(Path(sys.argv[1])) as cache:
    signature_cache = cache.of_signature("s", ["a", "b", "c", "d"])
    for turn in range(40):
        with cache.writing():
            signature_cache.store([bytes([turn]) * 16], ["abcd"[number]], [[float(number)]])
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    running = [subprocess.Popen([*command, str(number)], cwd=ROOT) for number in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    with Cache(tmp_path) as cache:
        block = cache.of_signature("s", ["a", "b", "c", "d"]).get(
            [bytes([t]) * 16 for t in range(40)], ["a", "b", "c", "d"]
        )
    assert block.is_known.all()  # nobody overwrote another's column
    assert (block.values == [0.0, 1.0, 2.0, 3.0]).all()


def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ScoringError, match="cannot be used"):
        Cache(tmp_path / "file")
