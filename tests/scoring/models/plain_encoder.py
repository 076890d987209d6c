"""The embedded model run plainly, one text at a time, for tests that compute a metric again from its formula."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.tables import read_table
from scoring import models

SYSTEMS = 10
DOCUMENTS = 3


@dataclass(frozen=True)
class Plain:
    """Word pieces of a text with where they stand, and all hidden states."""

    pieces: list[str]
    spans: list[tuple[int, int]]
    states: list[np.ndarray]

    @property
    def content(self) -> list[int]:
        """All but [CLS] and [SEP]."""
        return [i for i, piece in enumerate(self.pieces) if piece not in ("[CLS]", "[SEP]")]


@lru_cache(maxsize=1)
def _network() -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    folder = str(models.require(models.DEFAULT).folder)
    return AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()


@lru_cache(maxsize=512)
def read(text: str) -> Plain:
    import torch

    tokenizer, model = _network()
    encoding = tokenizer(text, return_offsets_mapping=True)
    with torch.no_grad():
        states = model(torch.tensor([encoding["input_ids"]]), output_hidden_states=True).hidden_states
    pieces = tokenizer.convert_ids_to_tokens(encoding["input_ids"])
    return Plain(pieces, encoding["offset_mapping"], [state[0].double().numpy() for state in states])


def layer(text: Plain, name: str) -> np.ndarray:
    """One layer, or the sum of the last four."""
    return sum(text.states[-4:]) if name == "last4" else text.states[int(name)]


def thirty_pairs(realsumm: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """3 documents × 10 systems, sources cut to about 150 words and split into sentences."""
    documents = read_table(realsumm / "documents.jsonl.gz", "documents").iloc[:DOCUMENTS].copy()
    documents["source"] = [
        [f"{sentence} ." for sentence in " ".join(text.split()[:150]).split(" . ")] for text in documents["source"]
    ]
    summaries = read_table(realsumm / "summaries.jsonl.gz", "summaries")
    summaries = summaries[summaries["doc_id"].isin(documents["doc_id"])].sort_values(["doc_id", "system"])
    return summaries.groupby("doc_id").head(SYSTEMS).reset_index(drop=True), documents
