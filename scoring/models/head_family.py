"""Models that fill masks or answer questions, as the user names them. Loaded from this machine only, and only whole.

A model without the head that a metric needs would be given random weights by the library that loads it, and its
scores would be noise; such a model is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from scoring import models
from scoring.base import Readiness, Requirement
from scoring.models.family import LONG, ModelFamily
from scoring.models.tokenizer import quiet
from scoring.models.torch_runner import one_thread_each

__all__ = ["ANSWERS", "LONG", "MASKED", "PAIRS", "Head", "HeadFamily", "LoadedModel", "head_readiness", "load_model"]


@dataclass(frozen=True)
class Head:
    """What a model must be able to do."""

    auto: str
    """The class of transformers that loads it."""
    endings: tuple[str, ...]
    """How the names of architectures with this head end."""
    name: str
    """What such a model is called."""
    does: str
    """For the sentence that refuses."""


MASKED = Head(
    "AutoModelForMaskedLM",
    ("ForMaskedLM", "BertForPreTraining"),
    "masked language model",
    "fills masked words",
)
ANSWERS = Head(
    "AutoModelForQuestionAnswering", ("ForQuestionAnswering",), "question answering model", "answers questions"
)
PAIRS = Head(
    "AutoModelForSequenceClassification",
    ("ForSequenceClassification",),
    "sequence classification model",
    "tells whether one text follows from another",
)


class LoadedModel:
    """A model with its tokenizer."""

    def __init__(self, folder: Path, head: Head) -> None:
        import torch
        import transformers

        self.torch: Any = torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        with quiet():
            auto: Any = getattr(transformers, head.auto)
            self.model: Any = auto.from_pretrained(str(folder), local_files_only=True).eval().to(self.device)
            self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, use_fast=True
            )
        places = int(getattr(self.model.config, "max_position_embeddings", 512))
        # RoBERTa's positions begin behind its padding token.
        places -= (self.model.config.pad_token_id or 0) + 1 if "roberta" in self.model.config.model_type else 0
        self.limit = min(places, int(min(self.tokenizer.model_max_length, 100_000)))
        """Tokens that it reads at once."""

    def logits(self, rows: Sequence[Sequence[int]], model: Any = None) -> Any:
        """What a masked language model expects at each place of sequences of one length."""
        with one_thread_each(self.torch), self.torch.inference_mode():
            ids = self.torch.tensor([list(row) for row in rows], device=self.device)
            return (model or self.model)(input_ids=ids).logits.float().cpu()


@lru_cache(maxsize=2)
def _load(folder: Path, head: Head) -> LoadedModel:
    return LoadedModel(folder, head)


def load_model(name: str, head: Head) -> LoadedModel:
    """The model of that name, loaded once; NotReady says what is missing."""
    return _load(models.require(name).folder, head)


def head_readiness(name: str, head: Head) -> Readiness:
    """Whether the model is here, and has the head."""
    model = models.find(name)
    if model is None:
        return Readiness(False, models.how_to_get(name))
    kinds = json.loads((model.folder / "config.json").read_text("utf-8")).get("architectures") or ["no known kind"]
    if not any(kind.endswith(head.endings) for kind in kinds):
        return Readiness(
            False,
            f"The model {name} is {', '.join(kinds)} and has no head that {head.does}; "
            f"name one of a kind that ends in {' or '.join(head.endings)} with model=….",
        )
    return Readiness(True)


class HeadFamily(ModelFamily):
    """A metric that asks a model with a head."""

    head: Head

    def requires(self) -> Sequence[Requirement]:
        return (models.requirement(self.options["model"], self.head.name),)

    def ready(self) -> Readiness:
        return head_readiness(self.options["model"], self.head)

    @property
    def loaded(self) -> LoadedModel:
        return load_model(self.options["model"], self.head)

    def versions(self) -> Mapping[str, str]:
        model = models.find(self.options["model"])
        fingerprint = model.fingerprint if model else "missing"
        return {"model": f"{self.options['model']}#{fingerprint}", **super().versions()}

    def long_texts(self, summaries: str) -> str:
        return f"for {summaries} a text is longer than {self.options['model']} reads at once; such texts were cut off."
