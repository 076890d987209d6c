"""Texts and documents as the metrics see them, with what all metrics share: sentences and words, found once."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

Text = str | tuple[str, ...]
"""A text: one string, or its sentences where the split is given."""

_WORD_CHARACTER = re.compile(r"\w")
TOKEN = re.compile(r"\w+|[^\w\s]")
_ROUGE_BYTES = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 32 for code in range(256))
"""ASCII letters in lower case and digits stay, every other byte becomes a space."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Memo(dict[Key, Value], Generic[Key, Value]):
    """Remembers what a function returned, and forgets everything when it has grown too large.

    A dict with `__missing__` is looked up without a Python-level call, so `map(memo.__getitem__, words)` is fast;
    forgetting keeps memory flat however long a corpus is.
    """

    def __init__(self, compute: Callable[[Key], Value], limit: int) -> None:
        super().__init__()
        self._compute = compute
        self._limit = limit

    def __missing__(self, key: Key) -> Value:
        if len(self) >= self._limit:
            self.clear()
        value = self[key] = self._compute(key)
        return value


@dataclass(frozen=True, slots=True)
class Document:
    """What one document offers to the metrics."""

    doc_id: str
    references: tuple[Text, ...] = ()
    source: Text | None = None


def as_text(value: object) -> Text:
    """A string stays one; any other sequence is a list of sentences."""
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        return tuple(map(str, value))
    raise TypeError(f"A text is a string or a list of sentences, not {type(value).__name__}.")


def as_references(value: object) -> tuple[Text, ...]:
    """One string is one reference; a list holds one text per reference."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable):
        return tuple(map(as_text, value))
    raise TypeError(f"References are texts, not {type(value).__name__}.")


def joined(text: Text) -> str:
    """The whole text as one string."""
    return text if isinstance(text, str) else " ".join(text)


def in_lines(text: Text) -> str:
    """The whole text as one string, sentences on lines of their own."""
    return text if isinstance(text, str) else "\n".join(text)


def is_empty(text: Text) -> bool:
    """Whether a text has not a single letter or digit."""
    if isinstance(text, str):
        return _WORD_CHARACTER.search(text) is None
    return not any(map(_WORD_CHARACTER.search, text))


def sentences(text: Text, split: str = "auto") -> tuple[str, ...]:
    """Sentences of a text: given splits win; a string is split by pysbd (`auto`), at line ends, or not at all."""
    if not isinstance(text, str):
        return text
    if split == "none":
        return (text,)
    if split == "lines":
        return tuple(text.splitlines())
    return _PYSBD[text]


def rouge_words(sentence: str) -> tuple[str, ...]:
    """Words as ROUGE-1.5.5 sees them: runs of ASCII letters and digits; everything else separates."""
    return _ROUGE_WORDS[sentence]


def word_tokens(text: Text) -> tuple[str, ...]:
    """Words and punctuation marks of any script, lower-cased."""
    return _TOKENS[joined(text)]


def _find_rouge_words(sentence: str) -> tuple[str, ...]:
    # Bytes, as the Perl program reads them: no other script's letter can lower-case into ASCII (the Kelvin sign would).
    return tuple(sentence.encode("utf-8", "surrogatepass").translate(_ROUGE_BYTES).decode("ascii").split())


@lru_cache(maxsize=1)
def _segmenter() -> Callable[[str], list[str]]:
    import pysbd

    segment: Callable[[str], list[str]] = pysbd.Segmenter(language="en", clean=False).segment
    return segment


def _split_by_pysbd(text: str) -> tuple[str, ...]:
    stripped = (sentence.strip() for sentence in _segmenter()(text))
    return tuple(sentence for sentence in stripped if sentence)


_TOKENS: Memo[str, tuple[str, ...]] = Memo(
    lambda text: tuple(token.lower() for token in TOKEN.findall(text)), limit=2_000
)
_ROUGE_WORDS: Memo[str, tuple[str, ...]] = Memo(_find_rouge_words, limit=20_000)
_PYSBD: Memo[str, tuple[str, ...]] = Memo(_split_by_pysbd, limit=5_000)
