"""What the metrics on an encoder share: its options, its readiness, its signature, idf, and asking for vectors."""

from __future__ import annotations

import copy
import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from math import log
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from scoring import models
from scoring.base import Readiness, Requirement, library_version
from scoring.errors import ScoringError
from scoring.models import facts_cache, threads
from scoring.models.embeddings_cache import Vectors
from scoring.models.encoder import Encoder, TextToEncode, VectorRequest, open_encoder
from scoring.models.family import LONG, ModelFamily
from scoring.models.tokenizer import READINGS, Tokens
from scoring.models.torch_runner import depth
from scoring.options import Option
from scoring.texts import Document, Text, joined

__all__ = ["LAYER", "LONG", "MODEL", "PRECISION", "Encoded", "EncoderFamily", "Idf", "long_option", "unit"]


def _check_layer(value: str) -> None:
    if value != "auto":
        depth(value, 99)


MODEL = Option("model", models.DEFAULT, "a folder, an installed package or a name of the hub that is on this machine")
LAYER = Option("layer", "auto", "a layer's number, or last4 for the sum of the last four", check=_check_layer)
PRECISION = Option("precision", "auto", "auto is half on a GPU, full on a CPU", choices=("auto", "full", "half"))


def long_option(default: str) -> Option:
    """How texts that are longer than the model are read."""
    return Option(LONG, default, "texts longer than the model", choices=tuple(READINGS))


@dataclass(frozen=True)
class Encoded:
    """A text's tokens with their vectors."""

    tokens: Tokens
    vectors: Vectors


class EncoderFamily(ModelFamily):
    """A metric that compares texts by the vectors of their tokens."""

    encodes = True
    auto_layer: str = "last1"
    """The layer that `auto` means for the embedded model."""

    _folder: Path | None = None

    def with_cache(self, folder: Path) -> Self:
        family = copy.copy(self)
        family._folder = folder
        return family

    def __getstate__(self) -> dict[str, object]:
        # Another process need not see the same GPU: it gets what `auto` means here.
        return {**self.__dict__, "options": {**self.options, "precision": "half" if self.is_half else "full"}}

    def requires(self) -> Sequence[Requirement]:
        return (models.requirement(self.options["model"]),)

    def ready(self) -> Readiness:
        state = models.readiness(self.options["model"])
        if not state.ok:
            return state
        if self.options["precision"] == "half" and not has_gpu():
            return Readiness(False, "precision=half helps on a GPU only, and there is none; leave it out.")
        try:
            depth(self.layer, models.require(self.options["model"]).layers)
        except (ValueError, ScoringError) as error:
            return Readiness(False, f"{error}.".replace("..", "."))
        return Readiness(True)

    @property
    def layer(self) -> str:
        """The layer in use."""
        layer = self.options["layer"]
        if layer != "auto":
            return layer
        return self.auto_layer if self.options["model"] == models.DEFAULT else self.other_layer()

    def other_layer(self) -> str:
        """The layer that `auto` means for any other model: the last, as the authors took it."""
        return "last1"

    @property
    def is_half(self) -> bool:
        return self.options["precision"] == "half" or (self.options["precision"] == "auto" and has_gpu())

    @property
    def encoder(self) -> Encoder:
        return open_encoder(self.options["model"], self.is_half)

    def versions(self) -> Mapping[str, str]:
        model = models.find(self.options["model"])
        return {
            "model": f"{self.options['model']}#{model.cached_fingerprint(self._folder) if model else 'missing'}",
            "layer": self.layer,
            LONG: READINGS[self.options[LONG]],
            "precision": "float16" if self.is_half else "float32",
            **super().versions(),
        }

    def long_texts(self, summaries: str) -> str:
        treatment = "read in overlapping windows" if self.options[LONG] == "windows" else "cut off"
        return (
            f"{summaries} were compared using a text that is longer than {self.options['model']} reads at once; "
            f"such texts were {treatment} ({LONG}={self.options[LONG]})."
        )

    @abstractmethod
    def texts(self, document: Document) -> Sequence[Text]:
        """The texts that summaries are compared with."""

    @abstractmethod
    def values(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        """One row per summary with the asked scores."""

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        self.encoder.encode([text.request for text in self.texts_to_encode(document, summaries)], self._folder)
        score_columns = [column for column in columns if column != LONG]
        with threads.single_blas():
            rows = self.values(document, summaries, score_columns) if score_columns else [[] for _ in summaries]
        if LONG not in columns:
            return rows
        has_long_text = any(self.is_long(text) for text in self.texts(document))
        place = columns.index(LONG)
        marks = [float(has_long_text or self.is_long(summary)) for summary in summaries]
        return [[*row[:place], mark, *row[place:]] for row, mark in zip(rows, marks, strict=True)]

    def texts_to_encode(self, document: Document, summaries: Sequence[Text]) -> Iterable[TextToEncode]:
        encoder_settings = (self.options["model"], self.is_half, self._folder)
        return [TextToEncode(*encoder_settings, self._request(text)) for text in (*self.texts(document), *summaries)]

    def encoded(self, text: Text) -> Encoded:
        """Tokens and vectors of a text."""
        request = self._request(text)
        return Encoded(self.encoder.tokens[request.text, request.long], self.encoder.get(request, self._folder))

    def is_long(self, text: Text) -> bool:
        return self.encoder.tokens[joined(text), self.options[LONG]].is_long

    def count_tokens(self, texts: Callable[[], Iterable[Text]]) -> Idf:
        """In how many texts each token stands; a corpus that was counted before isn't read by the model's tokenizer."""
        if self._folder is None:
            return _count(self.encoder, texts(), self.options[LONG])
        model = models.require(self.options["model"]).cached_fingerprint(self._folder)
        versions = [library_version("transformers"), library_version("tokenizers")]
        key = json.dumps(["tokens", model, *versions, self.options[LONG], _digest(texts())])
        noted = facts_cache.recall(self._folder, key)
        if noted is not None:
            return Idf(noted["texts"], dict(zip(noted["tokens"], noted["counts"], strict=True)))
        idf = _count(self.encoder, texts(), self.options[LONG])
        tokens, counts = list(idf.frequency), list(idf.frequency.values())
        facts_cache.note(self._folder, key, {"texts": idf.texts, "tokens": tokens, "counts": counts})
        return idf

    def count_references(self, documents: Iterable[Document]) -> Idf:
        """In how many of these documents' references each token stands."""
        return self.count_tokens(lambda: (text for document in documents for text in document.references))

    def _request(self, text: Text) -> VectorRequest:
        return VectorRequest(joined(text), self.layer, self.options[LONG])


@dataclass(frozen=True)
class Idf:
    """How rare tokens are in a corpus: log((N + 1) / (df + 1)), as bert-score and MoverScore weigh them."""

    texts: int
    frequency: Mapping[int, int]

    def weights(self, ids: Sequence[int]) -> npt.NDArray[np.float64]:
        top = self.texts + 1
        return np.array([log(top / (self.frequency.get(token_id, 0) + 1)) for token_id in ids])

    @cached_property
    def name(self) -> str:
        """Size and hash of the corpus, for signatures."""
        digest = sha256(repr(sorted(self.frequency.items())).encode())
        return f"{self.texts}-{digest.hexdigest()[:12]}"


def _count(encoder: Encoder, texts: Iterable[Text], long: str) -> Idf:
    """In how many texts each token stands."""
    number, frequency = 0, Counter[int]()
    for text in texts:
        number += 1
        frequency.update(set(encoder.tokens[joined(text), long].ids))
    return Idf(number, dict(frequency))


def _digest(texts: Iterable[Text]) -> str:
    """A hash of a corpus, whatever the order of its texts."""
    number, total = 0, 0
    for text in texts:
        number += 1
        total += int.from_bytes(sha256(joined(text).encode("utf-8", "surrogatepass")).digest(), "big")
    return f"{number}-{total % 2**256:x}"


def unit(vectors: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Vectors of length one; a vector of zeros stays one."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(norms == 0, 1, norms)


@lru_cache(maxsize=1)
def has_gpu() -> bool:
    """Whether torch finds a GPU; without a driver it isn't asked, because loading it takes seconds."""
    if not (Path("/proc/driver/nvidia").exists() or Path("/dev/kfd").exists()):
        return False
    import torch

    return bool(torch.cuda.is_available())
