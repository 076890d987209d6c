"""One encoder for all metrics: each distinct text goes through a model once, for every layer that is asked of it.

On a CPU each text runs alone and in one thread, several texts at a time in several threads: nothing is padded, and a
text's vectors are the same to the last bit whatever else is encoded with it, in one process or in many, now or from
the cache. (Alone a text runs as fast as in a padded batch: the matrices are large enough.) On a GPU texts of similar
length share a padded batch, in half precision unless told otherwise; vectors then agree to that precision only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np

from scoring import models
from scoring.models.embeddings_cache import Vectors, open_cache, text_key
from scoring.models.tokenizer import READINGS, Tokenizer, Tokens
from scoring.models.torch_runner import LocalBackend
from scoring.texts import Memo

REMEMBERED = 256 * 2**20
"""Bytes of vectors that a process keeps besides those it is working on."""


@dataclass(frozen=True)
class VectorRequest:
    """The vectors of a text that a metric is going to ask for."""

    text: str
    layer: str
    """A layer's number (0 is the input embeddings), or `last4`: the sum of the last four."""
    long: str = "truncate"
    """How a text that is longer than the model is read: `truncate` or `windows`."""


@dataclass(frozen=True)
class TextToEncode:
    """A request for vectors with the encoder that it goes to."""

    model: str
    is_half: bool
    folder: Path | None
    """Where embeddings are kept."""
    request: VectorRequest


class Backend(Protocol):
    """Runs token sequences through a model: here, or in an actor elsewhere."""

    def run(
        self, name: str, sequences: Sequence[Sequence[int]], layers: Sequence[str], is_half: bool
    ) -> list[list[Vectors]]:
        """For each sequence, one array of vectors per layer."""
        ...


class Encoder:
    """The vectors of texts by one model, from memory, from the cache on disk, or computed."""

    def __init__(self, name: str, is_half: bool = False) -> None:
        self.model = models.require(name)
        self.name, self.is_half = name, is_half
        self._fingerprint = self.model.fingerprint + ("-half" if is_half else "")
        self.tokenizer = Tokenizer(self.model.folder)
        self.tokens: Memo[tuple[str, str], Tokens] = Memo(lambda key: self.tokenizer.read(*key), limit=4_000)
        self._vectors: dict[bytes, Vectors] = {}
        self._saved: set[tuple[Path, bytes]] = set()

    def get(self, request: VectorRequest, folder: Path | None = None) -> Vectors:
        """One vector per token of the text, special tokens included."""
        key = self._key(request)
        if key not in self._vectors:
            self.encode([request], folder)
        return self._vectors[key]

    def encode(self, requests: Iterable[VectorRequest], folder: Path | None = None) -> None:
        """Bring these vectors into memory, all layers of a text in one pass."""
        requested = {self._key(request): request for request in requests}
        missing = [key for key in requested if key not in self._vectors]
        unsaved = [key for key in requested if (folder, key) not in self._saved] if folder is not None else []
        if not missing and not unsaved:
            return
        if missing:
            self._forget(requested.keys())
        sought = list(dict.fromkeys([*missing, *unsaved]))
        cached = open_cache(folder).get(sought) if folder is not None else {}
        self._vectors |= {key: cached[key] for key in missing if key in cached}
        self._vectors |= self._compute({key: requested[key] for key in missing if key not in cached})
        if folder is not None:
            open_cache(folder).store({key: self._vectors[key] for key in sought if key not in cached})
            self._saved.update((folder, key) for key in sought)

    def _key(self, request: VectorRequest) -> bytes:
        # A text that fits the model reads the same way under either choice.
        reading = READINGS[request.long] if self.tokens[request.text, request.long].is_long else "whole"
        return text_key(self._fingerprint, request.layer, reading, request.text)

    def _forget(self, needed_keys: Iterable[bytes]) -> None:
        """Drop the oldest vectors that nobody asks for now."""
        keep = set(needed_keys)
        total = sum(vectors.nbytes for vectors in self._vectors.values())
        for key in list(self._vectors):
            if total <= REMEMBERED:
                return
            if key not in keep:
                total -= self._vectors.pop(key).nbytes

    def _compute(self, missing: dict[bytes, VectorRequest]) -> dict[bytes, Vectors]:
        by_text: dict[tuple[int, ...], list[tuple[bytes, str]]] = {}
        for key, request in missing.items():
            by_text.setdefault(self.tokens[request.text, request.long].ids, []).append((key, request.layer))
        # Texts that need the same layers run together.
        groups: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
        for ids, users in by_text.items():
            groups.setdefault(tuple(sorted({layer for _, layer in users})), []).append(ids)
        vectors_by_key: dict[bytes, Vectors] = {}
        for layers, texts in groups.items():
            for ids, per_layer in zip(texts, self._run(texts, layers), strict=True):
                by_layer = dict(zip(layers, per_layer, strict=True))
                vectors_by_key |= {key: by_layer[layer] for key, layer in by_text[ids]}
        return vectors_by_key

    def _run(self, texts: Sequence[tuple[int, ...]], layers: Sequence[str]) -> list[list[Vectors]]:
        """Cut what is too long, run all, and put the windows of a text together again."""
        cuts = [self.tokenizer.cut(ids) for ids in texts]
        ids = [chunk.ids for chunks in cuts for chunk in chunks]
        results = iter(_backend.run(self.name, ids, layers, self.is_half))
        vectors_by_text = []
        for chunks in cuts:
            outputs = [next(results) for _ in chunks]
            trimmed = [[vectors[chunk.keep] for vectors in layer] for chunk, layer in zip(chunks, outputs, strict=True)]
            vectors_by_text.append([np.concatenate(pieces) for pieces in zip(*trimmed, strict=True)])
        return vectors_by_text


_backend: Backend = LocalBackend()


def use_backend(backend: Backend | None) -> None:
    """Let sequences run elsewhere from now on (an actor of a cluster); None brings them back into this process."""
    global _backend
    _backend = backend or LocalBackend()


@lru_cache(maxsize=4)
def open_encoder(name: str, is_half: bool = False) -> Encoder:
    """One encoder per model and process."""
    return Encoder(name, is_half)


def encode_all(texts: Iterable[TextToEncode]) -> None:
    """Bring all these texts into the memory of their encoders."""
    groups: dict[tuple[str, bool, Path | None], list[VectorRequest]] = {}
    for text in texts:
        groups.setdefault((text.model, text.is_half, text.folder), []).append(text.request)
    for (model, is_half, folder), requests in groups.items():
        open_encoder(model, is_half).encode(requests, folder)
