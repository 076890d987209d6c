"""Models small enough to be made in a test: a few words, one layer, weights drawn with a seed."""

from __future__ import annotations

from pathlib import Path

WORDS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] . , the a in of was city river paris london berlin bridge over train opened "
    "yesterday mayor anna said people cross ##ing it new old every morning masked who where 1999"
)


def write_model(folder: Path, kind: str, places: int = 64, labels: tuple[str, ...] = ()) -> Path:
    """A BERT of this kind (BertForMaskedLM, BertForQuestionAnswering, BertModel) with its tokenizer."""
    import torch
    import transformers

    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text(WORDS.replace(" ", "\n"), encoding="utf-8")
    settings = transformers.BertConfig(
        vocab_size=len(WORDS.split()),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=places,
        initializer_range=0.5,
        **({"id2label": dict(enumerate(labels))} if labels else {}),
    )
    with torch.random.fork_rng():
        torch.manual_seed(5)
        getattr(transformers, kind)(settings).save_pretrained(folder)
    transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=places).save_pretrained(folder)
    return folder


def make_entailment_model(folder: Path, labels: tuple[str, ...] = ("contradiction", "entailment", "neutral")) -> str:
    """A tiny model that tells whether one text follows from another, as its random weights have it; its folder."""
    return str(write_model(folder / "nli", "BertForSequenceClassification", labels=labels))
