"""Whether claims follow from a text, by a model of natural language inference.

With the SCUs of a reference as claims and a summary as the text this is the idea of Lite2Pyramid (Zhang & Bansal 2021):
the probability of entailment stands for a person's Present.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring import models
from scoring.base import Readiness
from scoring.models.head_family import PAIRS, LoadedModel, head_readiness, load_model
from scoring.models.torch_runner import one_thread_each

ENTAILS = "entail"
"""How the name of the label begins, whatever follows."""


@dataclass(frozen=True)
class Entailment:
    """Of one claim."""

    probability: float
    is_cut: bool
    """The text is longer than the model reads at once: its end was left out."""


def readiness(name: str) -> Readiness:
    """Whether the model is here, has the head and a label for entailment."""
    ready = head_readiness(name, PAIRS)
    if not ready.ok:
        return ready
    labels = _labels(load_model(name, PAIRS))
    if _place(labels) is None:
        return Readiness(False, f"The model {name} has the labels {', '.join(labels)}, and none is called entailment.")
    return ready


def fingerprint(name: str) -> str:
    """Which files the model is made of."""
    return models.require(name).fingerprint


def entailed(name: str, text: str, claims: Sequence[str]) -> list[Entailment]:
    """The probability that each claim follows from the text, one pair at a time: no pair feels its neighbours."""
    model = load_model(name, PAIRS)
    place = _place(_labels(model))
    assert place is not None  # `readiness` has said so
    return [_entailment(model, text, claim, place) for claim in claims]


def _entailment(model: LoadedModel, text: str, claim: str, place: int) -> Entailment:
    torch = model.torch
    whole = len(model.tokenizer(text, claim, truncation=False)["input_ids"])
    read = model.tokenizer(text, claim, truncation="only_first", max_length=model.limit)
    names = [name for name in model.tokenizer.model_input_names if name in read]
    with one_thread_each(torch), torch.inference_mode():
        output = model.model(**{name: torch.tensor([read[name]], device=model.device) for name in names})
        shares = torch.softmax(output.logits[0].double().cpu(), -1)
    return Entailment(float(shares[place]), whole > model.limit)


def _labels(model: LoadedModel) -> list[str]:
    labels = model.model.config.id2label
    return [str(labels[number]) for number in sorted(labels)]


def _place(labels: Sequence[str]) -> int | None:
    return next((number for number, label in enumerate(labels) if label.lower().startswith(ENTAILS)), None)
