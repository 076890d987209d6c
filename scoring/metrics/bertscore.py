"""BERTScore: every token matched to the most similar one of the other text."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from csv import DictReader
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from scoring.base import Readiness
from scoring.errors import NotReady
from scoring.models.encoder_family import LAYER, LONG, MODEL, PRECISION, Encoded, EncoderFamily, Idf, long_option, unit
from scoring.options import Option, Options
from scoring.registry import metric
from scoring.texts import Document, Text

_MEASURES = ("bertscore-p", "bertscore-r", "bertscore-f")


@dataclass(frozen=True)
class _WeightedVectors:
    """A text as it is matched: unit vectors, and weights that sum to one (none when it is empty)."""

    vectors: npt.NDArray[np.floating]
    weights: npt.NDArray[np.float64] | None


@metric(
    *_MEASURES,
    title="Similarity of contextual token vectors, each token matched to the closest one of the other text",
    citation="Zhang et al. 2020, BERTScore: Evaluating Text Generation with BERT",
    reference="bert_score.BERTScorer of the package bert-score",
    needs=("references", "encoder"),
    options=(
        MODEL,
        LAYER,
        Option("idf", "no", "weigh tokens by their rarity in the references", choices=("no", "yes"), bare="yes"),
        Option("rescale", "no", "map the baseline to 0", choices=("no", "yes"), bare="yes"),
        Option("baseline", "auto", "a file of baselines (LAYER,P,R,F); auto is the one that bert-score ships"),
        long_option("truncate"),
        PRECISION,
    ),
    hidden=(LONG,),
)
class BertScore(EncoderFamily):
    """The best reference counts, for each of P, R and F alone, as bert-score has it."""

    needs_corpus = True
    auto_layer = "5"
    libraries = ("torch", "transformers", "bert_score")

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._idf: Idf | None = None

    def fit_corpus(self, documents: Iterable[Document]) -> Self:
        """The same metric with the rarity of tokens in these documents' references."""
        if self.options["idf"] == "no":
            return self
        fitted = copy.copy(self)
        fitted._idf = self.count_references(documents)
        return fitted

    def other_layer(self) -> str:
        return _published_layer(self.options["model"])

    def ready(self) -> Readiness:
        try:
            state = super().ready()
            if state.ok and self.options["rescale"] == "yes":
                self._baseline()
        except NotReady as error:
            return Readiness(False, str(error))
        return state

    def versions(self) -> Mapping[str, str]:
        facts = dict(super().versions())
        if self.options["idf"] == "yes":
            facts["corpus"] = self._idf.name if self._idf else "none"
        if self.options["rescale"] == "yes":
            facts["baseline"] = sha256(self._baseline_file().read_bytes()).hexdigest()[:12]
        else:
            facts["baseline"] = "none"
        return facts

    def texts(self, document: Document) -> Sequence[Text]:
        return document.references

    def values(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        references = [self._weighted_vectors(self.encoded(text)) for text in document.references]
        places = [_MEASURES.index(column) for column in columns]
        rows = []
        for summary in summaries:
            summary_vectors = self._weighted_vectors(self.encoded(summary))
            best = np.max([_compare(summary_vectors, reference) for reference in references], axis=0)
            rows.append(self._rescaled(best)[places].tolist())
        return rows

    def _weighted_vectors(self, text: Encoded) -> _WeightedVectors:
        tokens = text.tokens
        if tokens.is_empty:
            return _WeightedVectors(text.vectors, None)
        weights = np.where(tokens.special, 0.0, 1.0) if self._idf is None else self._idf.weights(tokens.ids)
        total = weights.sum()
        return _WeightedVectors(unit(text.vectors), weights / total if total else np.full(len(weights), np.nan))

    def _rescaled(self, raw: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        if self.options["rescale"] == "no":
            return raw
        base = self._baseline()
        return (raw - base) / (1 - base)

    def _baseline(self) -> npt.NDArray[np.float64]:
        file = self._baseline_file()
        baseline = _read_baselines(file).get(self.layer)
        if baseline is None:
            raise NotReady(f"{file} has no baseline of layer {self.layer}; name another layer or file.")
        return np.array(baseline)

    def _baseline_file(self) -> Path:
        baseline, model = self.options["baseline"], self.options["model"]
        shipped = _package("bert_score") / "rescale_baseline" / "en" / f"{model}.tsv"
        file = shipped if baseline == "auto" else Path(baseline).expanduser()
        if not file.is_file():
            raise NotReady(
                f"There is no baseline of {model} to rescale with ({file.name} is not there); "
                "leave rescale out, or name a file with baseline=FILE (columns LAYER, P, R, F)."
            )
        return file


def _compare(summary: _WeightedVectors, reference: _WeightedVectors) -> tuple[float, float, float]:
    """Precision, recall and F of a summary; an empty text scores 0, as in bert-score."""
    if summary.weights is None or reference.weights is None:
        return 0.0, 0.0, 0.0
    similar = summary.vectors @ reference.vectors.T
    precision = float(similar.max(axis=1) @ summary.weights)
    recall = float(similar.max(axis=0) @ reference.weights)
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise NotReady("The baselines and layers of bert-score are missing; pip install bert-score brings them.")
    return Path(spec.submodule_search_locations[0])


@lru_cache(maxsize=8)
def _read_baselines(file: Path) -> dict[str, tuple[float, float, float]]:
    with file.open(newline="", encoding="utf-8") as lines:
        try:
            return {row["LAYER"]: (float(row["P"]), float(row["R"]), float(row["F"])) for row in DictReader(lines)}
        except (KeyError, TypeError, ValueError) as error:
            raise NotReady(f"{file} is no file of baselines; it needs the columns LAYER, P, R and F.") from error


@lru_cache(maxsize=32)
def _published_layer(model: str) -> str:
    """The layer that bert-score's authors chose for a model."""
    _package("bert_score")
    from bert_score.utils import model2layers

    layer = model2layers.get(model)
    if layer is None:
        raise NotReady(f"No layer is known to be the best of {model}; name one: bertscore-f[model={model},layer=…].")
    return str(layer)
