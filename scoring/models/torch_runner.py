"""Token sequences through a model, on the CPU or a GPU. The only place where torch runs."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from scoring import models
from scoring.models import threads
from scoring.models.embeddings_cache import Vectors
from scoring.models.tokenizer import quiet

BATCH_TOKENS = 4096
"""Tokens of a batch, padding included: what one thread or one call of a GPU takes at a time."""
_PLAIN = {"bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert", "mpnet", "deberta", "deberta-v2"}
"""Kinds of model without a last normalisation behind all layers: their upper layers can be left off."""
_LAST = re.compile(r"last([1-9]\d?)")

Sequences = Sequence[Sequence[int]]


class LocalBackend:
    """Runs models in this process; each is loaded once."""

    def run(self, name: str, sequences: Sequences, layers: Sequence[str], is_half: bool) -> list[list[Vectors]]:
        return _load(models.require(name).folder, is_half).run(sequences, layers)


def depth(layer: str, total: int) -> int:
    """How many layers must be computed for this one; raises ValueError when the model hasn't got it."""
    last = _LAST.fullmatch(layer)
    if last and int(last[1]) <= total:
        return total
    if layer.isdecimal() and int(layer) <= total:
        return int(layer)
    raise ValueError(
        f"layer={layer} is not possible: the model has {total} layers; use 0 to {total}, or last1 to last{total}"
    )


def batches(lengths: Sequence[int], budget: int = BATCH_TOKENS) -> list[list[int]]:
    """Numbers of texts in batches of similar length, longest first; padded, none is above the budget of tokens."""
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    groups: list[list[int]] = []
    for number in order:
        if groups and lengths[groups[-1][0]] * (len(groups[-1]) + 1) <= budget:
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


class Network:
    """A loaded model."""

    def __init__(self, folder: Path, is_half: bool) -> None:
        import torch
        from transformers import AutoModel

        self._torch: Any = torch
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        kind = torch.float16 if is_half and self._device == "cuda" else torch.float32
        with quiet():
            model: Any = AutoModel.from_pretrained(str(folder), local_files_only=True, dtype=kind)
        if model.config.is_encoder_decoder:
            model = model.get_encoder()
        self._model: Any = model.eval().to(self._device)
        self.layers = int(model.config.num_hidden_layers)
        # transformers sets its hooks for hidden states at the first call; copies that share layers must find them set.
        with torch.inference_mode():
            self._model(input_ids=torch.zeros((1, 1), dtype=torch.long, device=self._device), output_hidden_states=True)
        self._shallow: dict[int, Any] = {self.layers: self._model}

    def run(self, sequences: Sequences, layers: Sequence[str]) -> list[list[Vectors]]:
        """For each sequence, its vectors in each layer."""
        layer_count = max(depth(layer, self.layers) for layer in layers)
        model = self._down_to(layer_count)
        vectors_by_text: list[list[Vectors]] = [[] for _ in sequences]
        work = batches([len(ids) for ids in sequences])

        def run_batch(batch: list[int]) -> None:
            ids = [sequences[i] for i in batch]
            results = self._padded(model, ids, layers) if self._device == "cuda" else self._unpadded(model, ids, layers)
            for i, vectors in zip(batch, results, strict=True):
                vectors_by_text[i] = vectors

        with _one_thread_each(self._torch):
            if self._device == "cuda" or threads.count() == 1 or len(work) == 1:
                for batch in work:
                    run_batch(batch)
            else:
                with ThreadPoolExecutor(
                    threads.count(), initializer=self._torch.set_num_threads, initargs=(1,)
                ) as pool:
                    list(pool.map(run_batch, work))
        return vectors_by_text

    def _unpadded(self, model: Any, sequences: Sequences, layers: Sequence[str]) -> list[list[Vectors]]:
        """One text after the other, so that none feels its neighbours."""
        return [self._padded(model, [ids], layers)[0] for ids in sequences]

    def _padded(self, model: Any, sequences: Sequences, layers: Sequence[str]) -> list[list[Vectors]]:
        torch = self._torch
        width = max(map(len, sequences))
        ids = torch.zeros((len(sequences), width), dtype=torch.long)
        mask = torch.zeros((len(sequences), width), dtype=torch.long)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence)] = torch.tensor(sequence)
            mask[row, : len(sequence)] = 1
        padded = len(sequences) > 1
        with torch.inference_mode():
            mask = mask.to(self._device) if padded else None
            states = model(input_ids=ids.to(self._device), attention_mask=mask, output_hidden_states=True).hidden_states
            layer_vectors = [self._choose(states, layer).float().cpu().numpy() for layer in layers]
        return [[vectors[row, : len(sequence)] for vectors in layer_vectors] for row, sequence in enumerate(sequences)]

    def _choose(self, states: Sequence[Any], layer: str) -> Any:
        last = _LAST.fullmatch(layer)
        if last is None:
            return states[int(layer)]
        first, *remaining = states[-int(last[1]) :]
        total = first.clone()
        for state in remaining:
            total += state
        return total

    def _down_to(self, layer_count: int) -> Any:
        """The model without the layers above the highest that is asked for."""
        if layer_count not in self._shallow:
            self._shallow[layer_count] = _without_upper(self._model, layer_count)
        return self._shallow[layer_count]


def _without_upper(model: Any, layer_count: int) -> Any:
    """A model that shares all weights with the first and stops earlier; the same model where that isn't safe."""
    stem = "encoder" if hasattr(model, "encoder") else "transformer"
    stack = getattr(getattr(model, stem, None), "layer", None)
    if model.config.model_type not in _PLAIN or stack is None or layer_count < 1:
        return model
    shallow, inner = _shallow_copy(model), _shallow_copy(getattr(model, stem))
    inner.layer = stack[:layer_count]
    setattr(shallow, stem, inner)
    return shallow


def _shallow_copy(module: Any) -> Any:
    duplicate = copy.copy(module)
    duplicate.__dict__["_modules"] = dict(module._modules)
    return duplicate


@contextmanager
def _one_thread_each(torch: Any) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@lru_cache(maxsize=2)
def _load(folder: Path, is_half: bool) -> Network:
    return Network(folder, is_half)
