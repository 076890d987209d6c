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
from scoring.models.torch_runner import Here
from scoring.texts import Memo

REMEMBERED = 256 * 2**20
"""Bytes of vectors that a process keeps besides those it is working on."""


@dataclass(frozen=True)
class Want:
    """The vectors of a text that a metric is going to ask for."""

    text: str
    layer: str
    """A layer's number (0 is the input embeddings), or `last4`: the sum of the last four."""
    long: str = "truncate"
    """How a text that is longer than the model is read: `truncate` or `windows`."""


@dataclass(frozen=True)
class Ask:
    """A want with the encoder that it goes to."""

    model: str
    half: bool
    folder: Path | None
    """Where embeddings are kept."""
    want: Want


class Backend(Protocol):
    """Runs token sequences through a model: here, or in an actor elsewhere."""

    def run(
        self, name: str, sequences: Sequence[Sequence[int]], layers: Sequence[str], half: bool
    ) -> list[list[Vectors]]:
        """For each sequence, one array of vectors per layer."""
        ...


class Encoder:
    """The vectors of texts by one model, from memory, from the cache on disk, or computed."""

    def __init__(self, name: str, half: bool = False) -> None:
        self.model = models.require(name)
        self.name, self.half = name, half
        self._fingerprint = self.model.fingerprint + ("-half" if half else "")
        self.tokenizer = Tokenizer(self.model.folder)
        self.tokens: Memo[tuple[str, str], Tokens] = Memo(lambda key: self.tokenizer.read(*key), limit=4_000)
        self._known: dict[bytes, Vectors] = {}
        self._saved: set[tuple[Path, bytes]] = set()

    def get(self, want: Want, folder: Path | None = None) -> Vectors:
        """One vector per token of the text, special tokens included."""
        key = self._key(want)
        if key not in self._known:
            self.encode([want], folder)
        return self._known[key]

    def encode(self, wants: Iterable[Want], folder: Path | None = None) -> None:
        """Bring these vectors into memory, all layers of a text in one pass."""
        asked = {self._key(want): want for want in wants}
        missing = [key for key in asked if key not in self._known]
        unsaved = [key for key in asked if (folder, key) not in self._saved] if folder is not None else []
        if not missing and not unsaved:
            return
        if missing:
            self._forget(asked.keys())
        sought = list(dict.fromkeys([*missing, *unsaved]))
        found = open_cache(folder).get(sought) if folder is not None else {}
        self._known |= {key: found[key] for key in missing if key in found}
        self._known |= self._compute({key: asked[key] for key in missing if key not in found})
        if folder is not None:
            open_cache(folder).put({key: self._known[key] for key in sought if key not in found})
            self._saved.update((folder, key) for key in sought)

    def _key(self, want: Want) -> bytes:
        # A text that fits the model reads the same way under either choice.
        reading = READINGS[want.long] if self.tokens[want.text, want.long].is_long else "whole"
        return text_key(self._fingerprint, want.layer, reading, want.text)

    def _forget(self, needed: Iterable[bytes]) -> None:
        """Drop the oldest vectors that nobody asks for now."""
        keep = set(needed)
        total = sum(vectors.nbytes for vectors in self._known.values())
        for key in list(self._known):
            if total <= REMEMBERED:
                return
            if key not in keep:
                total -= self._known.pop(key).nbytes

    def _compute(self, missing: dict[bytes, Want]) -> dict[bytes, Vectors]:
        by_text: dict[tuple[int, ...], list[tuple[bytes, str]]] = {}
        for key, want in missing.items():
            by_text.setdefault(self.tokens[want.text, want.long].ids, []).append((key, want.layer))
        # Texts that need the same layers run together.
        groups: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
        for ids, users in by_text.items():
            groups.setdefault(tuple(sorted({layer for _, layer in users})), []).append(ids)
        found: dict[bytes, Vectors] = {}
        for layers, texts in groups.items():
            for ids, per_layer in zip(texts, self._run(texts, layers), strict=True):
                by_layer = dict(zip(layers, per_layer, strict=True))
                found |= {key: by_layer[layer] for key, layer in by_text[ids]}
        return found

    def _run(self, texts: Sequence[tuple[int, ...]], layers: Sequence[str]) -> list[list[Vectors]]:
        """Cut what is too long, run all, and put the windows of a text together again."""
        cuts = [self.tokenizer.cut(ids) for ids in texts]
        results = iter(_backend.run(self.name, [part.ids for parts in cuts for part in parts], layers, self.half))
        whole = []
        for parts in cuts:
            found = [next(results) for _ in parts]
            kept = [[one[part.keep] for one in layer] for part, layer in zip(parts, found, strict=True)]
            whole.append([np.concatenate(pieces) for pieces in zip(*kept, strict=True)])
        return whole


_backend: Backend = Here()


def use_backend(backend: Backend | None) -> None:
    """Let sequences run elsewhere from now on (an actor of a cluster); None brings them back into this process."""
    global _backend
    _backend = backend or Here()


@lru_cache(maxsize=4)
def open_encoder(name: str, half: bool = False) -> Encoder:
    """One encoder per model and process."""
    return Encoder(name, half)


def encode_all(asks: Iterable[Ask]) -> None:
    """Bring all these texts into the memory of their encoders."""
    groups: dict[tuple[str, bool, Path | None], list[Want]] = {}
    for ask in asks:
        groups.setdefault((ask.model, ask.half, ask.folder), []).append(ask.want)
    for (model, half, folder), wants in groups.items():
        open_encoder(model, half).encode(wants, folder)
