"""Texts as a model's tokens: their numbers, where they stand in the text, and which of them are special."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.models.windows import OVERLAP, windows

READINGS = {"truncate": "truncate", "windows": f"windows-{OVERLAP}"}
"""The ways of reading a text that is longer than the model, as signatures and keys of caches name them."""

_UNLIMITED = 100_000
"""Tokenizers that know no limit report one with thirty digits."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """A text taken apart for a model."""

    text: str
    """As it was read: without space at its ends."""
    ids: tuple[int, ...]
    spans: npt.NDArray[np.int64]
    """Start and end of each token in the text; nothing for special ones."""
    special: npt.NDArray[np.bool_]
    """[CLS], [SEP] and their kin."""
    inner: npt.NDArray[np.bool_]
    """Tokens that go on with the word of the token before them."""
    is_long: bool
    """Whether the text has more tokens than the model reads at once."""

    @property
    def is_empty(self) -> bool:
        return bool(self.special.all())

    def in_list(self, words: Collection[str]) -> npt.NDArray[np.bool_]:
        """Which tokens are one of these words; a later piece of a word is none."""
        return np.array([surface in words for surface in self.surfaces], dtype=bool) & ~self.inner

    @cached_property
    def surfaces(self) -> tuple[str, ...]:
        """The piece of text of each token, in lower case."""
        return tuple(self.text[start:end].strip().lower() for start, end in self.spans.tolist())


@dataclass(frozen=True)
class Chunk:
    """Tokens that go through the model at once, and which of them are kept."""

    ids: tuple[int, ...]
    keep: slice


class Tokenizer:
    """The tokenizer in a model's folder."""

    def __init__(self, folder: Path) -> None:
        with quiet():
            from transformers import AutoTokenizer

            self._read: Any = AutoTokenizer.from_pretrained(str(folder), local_files_only=True, use_fast=True)
        self.limit = self._limit(folder)
        # What stands around any text: found by looking, because models differ.
        sample = self._read("a", return_special_tokens_mask=True)
        marks = sample["special_tokens_mask"]
        first, last = marks.index(0), len(marks) - marks[::-1].index(0)
        self._before, self._after = tuple(sample["input_ids"][:first]), tuple(sample["input_ids"][last:])

    def read(self, text: str, long: str) -> Tokens:
        """The tokens of a text; `truncate` leaves out what goes beyond the model."""
        clean = text.strip()
        encoding = self._read(
            clean,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            truncation=False,
            verbose=False,
        )
        ids = encoding["input_ids"]
        positions = np.arange(len(ids))
        is_long = len(ids) > self.limit
        if is_long and long == "truncate":
            tail = len(self._after)
            positions = np.concatenate([positions[: self.limit - tail], positions[len(ids) - tail :]])
        words = np.array([-1 if word is None else word for word in encoding.word_ids()], dtype=np.int64)[positions]
        return Tokens(
            clean,
            tuple(ids[i] for i in positions.tolist()),
            np.array(encoding["offset_mapping"], dtype=np.int64).reshape(-1, 2)[positions],
            np.array(encoding["special_tokens_mask"], dtype=bool)[positions],
            np.concatenate([[False], (words[1:] == words[:-1]) & (words[1:] >= 0)]),
            is_long,
        )

    def cut(self, ids: tuple[int, ...]) -> list[Chunk]:
        """The whole text where it fits, else overlapping windows with the special tokens around each."""
        if len(ids) <= self.limit:
            return [Chunk(ids, slice(None))]
        head, tail = len(self._before), len(self._after)
        content = ids[head : len(ids) - tail]
        chunks = []
        text_windows = windows(len(content), self.limit - head - tail)
        for window in text_windows:
            start = head + window.keep_start - window.start if window is not text_windows[0] else 0
            end = head + window.keep_end - window.start + (tail if window is text_windows[-1] else 0)
            chunks.append(Chunk((*self._before, *content[window.start : window.end], *self._after), slice(start, end)))
        return chunks

    def _limit(self, folder: Path) -> int:
        """Tokens that the model reads at once, special ones included."""
        settings = json.loads((folder / "config.json").read_text("utf-8"))
        positions = int(settings.get("max_position_embeddings") or settings.get("n_positions") or _UNLIMITED)
        if "roberta" in str(settings.get("model_type", "")):
            # These models begin to count behind the number of the padding token.
            positions -= int(settings.get("pad_token_id", 1)) + 1
        return min(int(min(self._read.model_max_length, _UNLIMITED)), positions if positions > 0 else _UNLIMITED)


@contextmanager
def quiet() -> Iterator[None]:
    """Load from disk only, without progress bars and notes in between our own output."""
    before = os.environ.get("HF_HUB_OFFLINE")
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        from transformers.utils import logging as notes

        logging: Any = notes
        level = logging.get_verbosity()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        yield
        logging.set_verbosity(level)
        logging.enable_progress_bar()
    finally:
        if before is None:
            del os.environ["HF_HUB_OFFLINE"]
        else:
            os.environ["HF_HUB_OFFLINE"] = before
