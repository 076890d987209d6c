"""Models small enough to be made in a test: a few words, one layer, weights drawn with a seed."""

from __future__ import annotations

from pathlib import Path

WORDS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] . , the a in of was city river paris london berlin bridge over train opened "
    "yesterday mayor anna said people cross ##ing it new old every morning masked who where 1999"
)


def write_model(folder: Path, kind: str, places: int = 64) -> Path:
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
    )
    with torch.random.fork_rng():
        torch.manual_seed(5)
        getattr(transformers, kind)(settings).save_pretrained(folder)
    transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=places).save_pretrained(folder)
    return folder
