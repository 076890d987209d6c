"""Words of a document masked one in so many, and what a masked language model fills in (BLANC)."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.models.head_family import LoadedModel

NORMAL, LEAD = 4, 2
"""The least length of a token that is masked: of a whole word, and of the first piece of a longer one. Later pieces
of a word never are."""
SHORTEST_CUT = 100
"""A sentence that doesn't fit beside the summary is cut down to so many tokens; then the summary is cut."""
SHARE = 0.15
"""Of a summary's tokens, those that are masked at a time when a model is tuned on it."""
CHUNK, STRIDE = 64, 32
KEPT, REPLACED = 0.1, 0.1
_IGNORED = -100


@dataclass(frozen=True)
class Sentence:
    """A sentence of the document with its gaps: each of `masks` are the places that are masked together."""

    tokens: tuple[str, ...]
    masks: tuple[tuple[int, ...], ...]
    room: int
    """Tokens that the model reads at once, without the special ones."""

    def fitted(self, help_tokens: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
        """What of the help and of the sentence goes into the model."""
        excess = len(help_tokens) + len(self.tokens) - self.room
        cut = min(max(excess, 0), max(len(self.tokens) - SHORTEST_CUT, 0))
        kept_tokens = self.tokens[: min(len(self.tokens) - cut, self.room)]
        return list(help_tokens[: max(self.room - len(kept_tokens), 0)]), kept_tokens

    def is_cut(self, help_tokens: Sequence[str]) -> bool:
        return len(help_tokens) + len(self.tokens) > self.room


@dataclass(frozen=True)
class Tuning:
    """How a model is tuned on a summary."""

    epochs: int
    rate: float
    seed: int


def read_sentences(model: LoadedModel, texts: Iterable[str], gap: int) -> list[Sentence]:
    """The sentences in which something can be masked."""
    sentences = []
    room = model.limit - 2
    for text in texts:
        tokens = tuple(model.tokenizer.tokenize(text))
        able = maskable(tokens)
        step = min(gap, len(tokens)) or 1
        masks = (tuple(place for place in able if place % step == first) for first in range(step))
        sentence = Sentence(tokens, tuple(places for places in masks if places), room)
        if sentence.masks:
            sentences.append(sentence)
    return sentences


def maskable(tokens: Sequence[str]) -> list[int]:
    """Places of tokens that are long enough to be worth guessing."""
    places = []
    for place, token in enumerate(tokens):
        follows = tokens[place + 1] if place + 1 < len(tokens) else ""
        least_length = LEAD if follows.startswith("##") else NORMAL
        if not token.startswith("##") and len(token) >= least_length:
            places.append(place)
    return places


def accuracy(
    model: LoadedModel, sentences: Sequence[Sentence], help_tokens: Sequence[str], tuned: Any = None
) -> list[bool]:
    """For every masked word of the document, whether the model (or another in its place) fills in the right one."""
    is_correct: list[bool] = []
    tokenizer = model.tokenizer
    for sentence in sentences:
        before, kept_tokens = sentence.fitted(help_tokens)
        ids = tokenizer.convert_tokens_to_ids([*before, *kept_tokens])
        masks = [[place for place in places if place < len(kept_tokens)] for places in sentence.masks]
        rows, offset = [], 1 + len(before)
        for places in masks:
            row = [tokenizer.cls_token_id, *ids, tokenizer.sep_token_id]
            for place in places:
                row[offset + place] = tokenizer.mask_token_id
            rows.append(row)
        guesses = model.logits(rows, tuned).argmax(dim=-1)
        for number, places in enumerate(masks):
            guessed_ids = guesses[number].tolist()
            is_correct += [guessed_ids[offset + place] == ids[offset - 1 + place] for place in places]
    return is_correct


def tune(model: LoadedModel, tokens: Sequence[str], settings: Tuning) -> Any:
    """A copy of the model that has learned the summary's own words; None when there is nothing to mask in it."""
    torch, tokenizer = model.torch, model.tokenizer
    chunks = [tokens[start : start + CHUNK] for start in range(0, max(len(tokens) - STRIDE, 1), STRIDE)]
    chunks = [chunk[: model.limit - 2] for chunk in chunks if maskable(chunk)]
    if not chunks:
        return None
    rng = random.Random(settings.seed)
    draws = [(chunk, places) for _ in range(settings.epochs) for chunk in chunks for places in _draw(chunk, rng)]
    steps = [_masked(model, chunk, places, rng) for chunk, places in draws]
    tuned = copy.deepcopy(model.model).train()
    optimiser = torch.optim.AdamW(tuned.parameters(), lr=settings.rate, weight_decay=0.0)
    with model.steady(), torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        for number, (row, labels) in enumerate(steps):
            for param_group in optimiser.param_groups:
                param_group["lr"] = settings.rate * (1 - number / len(steps))
            ids = torch.tensor([[tokenizer.cls_token_id, *row, tokenizer.sep_token_id]], device=model.device)
            label_ids = torch.tensor([[_IGNORED, *labels, _IGNORED]], device=model.device)
            tuned(input_ids=ids, labels=label_ids).loss.backward()
            optimiser.step()
            optimiser.zero_grad()
    return tuned.eval()


def _draw(tokens: Sequence[str], rng: random.Random) -> list[list[int]]:
    """All places that can be masked, in random order, a share of the tokens at a time."""
    places = maskable(tokens)
    rng.shuffle(places)
    size = max(int(len(tokens) * SHARE), 1)
    return [places[start : start + size] for start in range(0, len(places), size)]


def _masked(
    model: LoadedModel, tokens: Sequence[str], places: Sequence[int], rng: random.Random
) -> tuple[list[int], list[int]]:
    """Input and labels; as in BERT's own training, one place in ten keeps its word and one gets a random one."""
    ids = model.tokenizer.convert_tokens_to_ids(list(tokens))
    labels = [_IGNORED] * len(ids)
    for place in places:
        labels[place] = ids[place]
        chance = rng.random()
        if chance < KEPT:
            continue
        is_random = chance < KEPT + REPLACED
        ids[place] = rng.randrange(len(model.tokenizer)) if is_random else model.tokenizer.mask_token_id
    return ids, labels
