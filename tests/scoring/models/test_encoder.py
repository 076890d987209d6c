"""One encoder for all metrics: each text once, the same bits everywhere, nothing downloaded."""

from __future__ import annotations

import math
import multiprocessing
import shutil
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import scoring
from scoring import models, registry
from scoring.errors import EmptyTextWarning, LongTextWarning, NotReady, UndefinedWarning
from scoring.models import encoder as encoding
from scoring.models import facts_cache
from scoring.models.embeddings_cache import EmbeddingCache, text_key
from scoring.models.encoder import Encoder, VectorRequest, open_encoder
from scoring.models.torch_runner import LocalBackend, batches, depth
from scoring.models.windows import windows
from scoring.run.files import score_files
from scoring.run.plan import make_plan

ALL = "bertscore-f,moverscore,ancr-1,supert"
WORDS = ("the", "cat", "sat", "on", "mat", "and", "looked", "at", "a", "dog", "slept", "in", "sun", "rain", "fell")


def text(length: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    return " ".join(rng.choice(WORDS, length))


class Counting:
    """The usual backend, with a list of all that it was asked to run."""

    def __init__(self) -> None:
        self.sequences: list[tuple[int, ...]] = []

    def run(
        self, name: str, sequences: Sequence[Sequence[int]], layers: Sequence[str], is_half: bool
    ) -> list[list[np.ndarray]]:
        self.sequences += [tuple(ids) for ids in sequences]
        return LocalBackend().run(name, sequences, layers, is_half)


@pytest.fixture
def counting() -> Iterator[Counting]:
    backend = Counting()
    encoding.use_backend(backend)
    open_encoder.cache_clear()
    yield backend
    encoding.use_backend(None)
    open_encoder.cache_clear()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two documents (one source is long), three systems, of which two say the same."""
    folder = tmp_path_factory.mktemp("corpus")
    documents = pd.DataFrame(
        {
            "doc_id": ["1", "2"],
            "source": [text(40, 1) + ".", text(600, 2) + "."],
            "references": [[text(9, 3), text(7, 4)], [text(8, 5)]],
        }
    )
    shared_texts = {"1": text(8, 6), "2": text(11, 7)}
    rows = [(doc_id, system, shared_texts[doc_id]) for doc_id in "12" for system in ("a", "b")]
    rows += [("1", "c", text(10, 8)), ("2", "c", text(6, 9))]
    documents.to_json(folder / "documents.jsonl", orient="records", lines=True)
    frame = pd.DataFrame(rows, columns=["doc_id", "system", "summary"])
    frame.to_json(folder / "summaries.jsonl", orient="records", lines=True)
    return folder


def run(corpus: Path, out: Path, metrics: str = ALL, **options: object) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LongTextWarning)
        score_files(corpus / "summaries.jsonl", corpus / "documents.jsonl", metrics, out, **options)  # type: ignore[arg-type]
    return out.read_bytes()


def test_windows_keep_each_token_once_and_away_from_edges() -> None:
    for length, size in [(1, 5), (5, 5), (6, 5), (1000, 510), (1021, 510), (7, 1), (9, 2)]:
        cuts = windows(length, size)
        kept_places = [place for window in cuts for place in range(window.keep_start, window.keep_end)]
        assert kept_places == list(range(length))
        assert all(0 <= window.start <= window.keep_start <= window.keep_end <= window.end <= length for window in cuts)
        sizes = [window.end - window.start for window in cuts]
        assert max(sizes) <= size
        assert max(sizes) - min(sizes) <= 1
    # Two windows of 510 that share 64 hold 956 tokens, three that share them hold 1,402.
    assert [len(windows(length, 510)) for length in (510, 511, 956, 957, 1402, 1403)] == [1, 2, 2, 3, 3, 4]
    # 100 tokens in windows of 40: a token inside has at least 10 neighbours on both sides.
    inner = [(window, place) for window in windows(100, 40) for place in range(window.keep_start, window.keep_end)]
    assert all(min(p - o.start, o.end - 1 - p) >= 9 for o, p in inner if 10 <= p < 90)


def test_batches_stay_below_the_budget_with_similar_lengths() -> None:
    lengths = [5, 100, 7, 90, 300, 6]
    assert batches(lengths, 200) == [[4], [1, 3], [2, 5, 0]]
    assert sorted(i for batch in batches(lengths, 10) for i in batch) == list(range(6))


def test_a_layer_that_the_model_lacks_is_refused() -> None:
    assert (depth("3", 6), depth("last4", 6), depth("0", 6)) == (3, 6, 0)
    for bad_layer in ("7", "last7", "-1", "best"):
        with pytest.raises(ValueError, match="use 0 to 6"):
            depth(bad_layer, 6)


@pytest.mark.needs("torch")
def test_neighbours_do_not_change_a_bit() -> None:
    texts = [text(length, length) for length in (3, 12, 12, 30, 4, 50)]
    one_by_one, together = Encoder(models.DEFAULT), Encoder(models.DEFAULT)
    together.encode([VectorRequest(sentence, layer) for sentence in texts for layer in ("2", "5", "last4")])
    for sentence in texts:
        for layer in ("5", "2", "last4"):
            request = VectorRequest(sentence, layer)
            assert np.array_equal(one_by_one.get(request), together.get(request))


@pytest.mark.needs("torch")
def test_layers_are_those_of_the_model() -> None:
    import torch
    from transformers import AutoModel

    model = AutoModel.from_pretrained(str(models.require(models.DEFAULT).folder)).eval()
    encoder = Encoder(models.DEFAULT)
    ids = encoder.tokens["A cat sat.", "truncate"].ids
    with torch.no_grad():
        states = [state[0].numpy() for state in model(torch.tensor([ids]), output_hidden_states=True).hidden_states]
    for layer in range(7):
        assert np.allclose(encoder.get(VectorRequest("A cat sat.", str(layer))), states[layer], atol=1e-5)
    assert np.allclose(encoder.get(VectorRequest("A cat sat.", "last4")), sum(states[3:]), atol=1e-5)


@pytest.mark.needs("torch")
def test_long_texts_are_cut_or_read_in_windows() -> None:
    encoder = open_encoder(models.DEFAULT)
    long = text(700, 1)
    windowed, cut = encoder.tokens[long, "windows"], encoder.tokens[long, "truncate"]
    assert windowed.is_long
    assert (len(windowed.ids), len(cut.ids)) == (702, 512)
    vectors = encoder.get(VectorRequest(long, "1", "windows"))
    assert vectors.shape == (702, 384)
    # Two windows that share 64 of 700 tokens: 0 to 382 and 318 to 700. They part at 350, behind [CLS] at 351.
    cls, *content, sep = windowed.ids
    first, second = (
        vectors
        for (vectors,) in LocalBackend().run(
            models.DEFAULT, [[cls, *content[:382], sep], [cls, *content[318:], sep]], ["1"], False
        )
    )
    assert np.array_equal(vectors[:351], first[:351])
    assert np.array_equal(vectors[351:], second[351 - 318 :])


@pytest.mark.needs("torch")
def test_each_distinct_text_is_encoded_once_for_all_metrics(corpus: Path, tmp_path: Path, counting: Counting) -> None:
    run(corpus, tmp_path / "scores.csv")
    # 4 different summaries, 3 references, a short source and a long one in 2 windows.
    assert len(counting.sequences) == len(set(counting.sequences)) == 4 + 3 + 1 + 2


@pytest.mark.needs("torch")
def test_the_cache_serves_other_metrics_and_other_runs(corpus: Path, tmp_path: Path, counting: Counting) -> None:
    uncached = run(corpus, tmp_path / "fresh.csv", "bertscore-f,bertscore-r,moverscore[layer=5]")
    cache = tmp_path / "cache"
    run(corpus, tmp_path / "first.csv", "bertscore-f", cache=cache)
    open_encoder.cache_clear()
    counting.sequences.clear()
    cached = run(corpus, tmp_path / "again.csv", "bertscore-f,bertscore-r,moverscore[layer=5]", cache=cache)
    assert counting.sequences == []
    assert cached == uncached


@pytest.mark.needs("torch")
def test_jobs_and_cache_do_not_change_a_byte(corpus: Path, tmp_path: Path) -> None:
    expected = run(corpus, tmp_path / "1.csv")
    assert run(corpus, tmp_path / "2.csv", jobs=2, cache=tmp_path / "cache") == expected
    assert run(corpus, tmp_path / "3.csv", cache=tmp_path / "cache") == expected
    (tmp_path / "cache" / "scores-1.sqlite3").unlink()
    open_encoder.cache_clear()
    assert run(corpus, tmp_path / "4.csv", cache=tmp_path / "cache") == expected


@pytest.mark.needs("torch")
def test_a_second_run_neither_tokenises_nor_hashes_nor_loads_anything(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = "bertscore-f[layer=1,idf],moverscore[layer=1]"
    first = run(corpus, tmp_path / "first.csv", metrics, cache=tmp_path / "cache")

    def refuse(*_: object) -> None:
        raise AssertionError("this was known from the first run")

    open_encoder.cache_clear()
    monkeypatch.setattr(models, "_fingerprints", {})
    monkeypatch.setattr(models, "_fingerprint", refuse)
    monkeypatch.setattr(encoding, "Tokenizer", refuse)
    assert run(corpus, tmp_path / "second.csv", metrics, cache=tmp_path / "cache") == first
    open_encoder.cache_clear()


def test_notes_come_back_and_damaged_ones_count_as_none(tmp_path: Path) -> None:
    facts_cache.note(tmp_path, "a", {"texts": 2})
    facts_cache.note(None, "a", 3)
    assert (facts_cache.recall(tmp_path, "a"), facts_cache.recall(tmp_path, "b"), facts_cache.recall(None, "a")) == (
        {"texts": 2},
        None,
        None,
    )
    (file,) = (tmp_path / "notes-1").iterdir()
    file.write_text("{")
    assert facts_cache.recall(tmp_path, "a") is None
    for number in range(facts_cache.LIMIT + 3):
        facts_cache.note(tmp_path, str(number), number)
    assert len(list((tmp_path / "notes-1").iterdir())) == facts_cache.LIMIT


@pytest.mark.needs("torch")
def test_a_run_tells_of_long_texts(corpus: Path, tmp_path: Path) -> None:
    with pytest.warns(
        LongTextWarning, match=r"ancr-1: 3 of 6 summaries .* read in overlapping windows \(long=windows\)"
    ):
        lines = score_files(corpus / "summaries.jsonl", corpus / "documents.jsonl", "ancr-1", tmp_path / "scores.csv")
    assert "|long:windows-64|" in lines[0].signature


@pytest.mark.needs("torch")
def test_empty_texts_never_crash() -> None:
    documents = pd.DataFrame({"doc_id": ["1", "2"], "source": ["A cat.", "..."], "references": [["a cat", " "], ["a"]]})
    summaries = pd.DataFrame({"doc_id": ["1", "2"], "system": ["a", "a"], "summary": ["", "a dog"]})
    with pytest.warns(EmptyTextWarning), pytest.warns(UndefinedWarning, match="supert is undefined for document 1"):
        scores = scoring.evaluate(summaries, documents, ALL)
    values = dict(zip(zip(scores["doc_id"], scores["metric"], strict=True), scores["value"], strict=True))
    assert values["1", "bertscore-f"] == 0.0
    assert values["1", "ancr-1"] == 0.0
    assert math.isnan(values["2", "ancr-1"])
    assert math.isnan(values["1", "moverscore"])


@pytest.mark.needs("torch")
def test_a_folder_and_the_local_copy_of_the_hub_work_as_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded = models.require(models.DEFAULT)
    folder = tmp_path / "mine"
    shutil.copytree(embedded.folder, folder)
    assert models.require(str(folder)).fingerprint == embedded.fingerprint
    snapshot = tmp_path / "hub" / "models--some--bert" / "snapshots" / "abc"
    snapshot.parent.mkdir(parents=True)
    snapshot.symlink_to(embedded.folder)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("abc")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.file_download.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    model = models.require("some/bert")
    assert model.folder == snapshot
    assert model.layers == 6
    (folder / "vocab.txt").write_text("another\n")
    assert models.require(str(folder)).fingerprint != embedded.fingerprint


@pytest.mark.needs("torch")
def test_missing_models_are_all_named_before_any_work(tmp_path: Path) -> None:
    metrics = registry.parse(f"bertscore-f[model=no/such,layer=1],ancr-1[model={tmp_path}],rouge-1-f")
    with pytest.raises(NotReady) as error:
        make_plan(metrics)
    assert "hf download no/such brings it" in str(error.value)
    assert f"The folder {tmp_path} holds no model" in str(error.value)


def vectors_of(number: int, rows: int = 10) -> np.ndarray:
    return np.full((rows, 4), number, dtype=np.float32)


def key(number: int) -> bytes:
    return text_key("model", "5", "whole", str(number))


def test_the_cache_gives_back_what_was_put(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path)
    cache.store({key(1): vectors_of(1), key(2): vectors_of(2, 3)})
    vectors = EmbeddingCache(tmp_path).get([key(1), key(2), key(3)])
    assert vectors.keys() == {key(1), key(2)}
    assert np.array_equal(vectors[key(2)], vectors_of(2, 3))
    with pytest.raises(ValueError, match="read-only"):
        vectors[key(2)][0, 0] = 5
    assert (
        len({text_key("a", "1", "whole", "bc"), text_key("ab", "1", "whole", "c"), text_key("a", "1w", "hole", "bc")})
        == 3
    )


def test_the_cache_stays_below_its_limit_and_drops_what_is_oldest(tmp_path: Path) -> None:
    # 160 bytes a text, 1,600 bytes in all, 400 a segment.
    cache = EmbeddingCache(tmp_path, limit=1600)
    for number in range(40):
        cache.store({key(number): vectors_of(number)})
    assert cache.size <= 1600
    assert sum(file.stat().st_size for file in tmp_path.rglob("*.f32")) == cache.size
    vectors = cache.get([key(number) for number in range(40)])
    assert key(39) in vectors
    assert key(0) not in vectors
    assert all(np.array_equal(vectors[key(n)], vectors_of(n)) for n in range(40) if key(n) in vectors)


def _work(folder: Path, start: int) -> None:
    cache = EmbeddingCache(folder, limit=4000)
    for number in range(start, start + 60):
        cache.store({key(number): vectors_of(number)})
        vectors = cache.get([key(i) for i in range(100)])
        damaged = [n for n in range(100) if key(n) in vectors and not np.array_equal(vectors[key(n)], vectors_of(n))]
        if damaged:
            raise SystemExit(1)


def test_several_processes_share_the_cache(tmp_path: Path) -> None:
    EmbeddingCache(tmp_path)
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_work, args=(tmp_path, start)) for start in (0, 20, 40)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert EmbeddingCache(tmp_path, limit=4000).size <= 4000 + 3 * 1000
