"""Questions about a document: a sentence with one of its names masked, and the name that was there (SummaQA).

Names are found by a spaCy pipeline that the user names, or, when asked for, by a rule that needs nothing.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from analysis.sentence import Sentence
from scoring.base import Readiness, Requirement, library_version
from scoring.texts import Text, joined, sentences

CAPITALS = "capitals"
"""The rule: runs of capitalised words behind the first word of a sentence, and numbers."""
MASK = "MASKED"
_SMALL_PIPELINE = 12_000_000
_WORD = re.compile(r"[^\W_][\w'’.,-]*[\w]|\w")
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NO_MARKS = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True)
class Question:
    """A sentence with a gap, and what belongs there."""

    text: str
    answer: str


class Recogniser(Protocol):
    """Finds the names of a text: per sentence, start and end of each."""

    def find(self, text: Text) -> list[tuple[str, list[tuple[int, int]]]]: ...


class Capitals:
    """Names by their capitals; numbers too. No model, no types, and English or the like only."""

    def find(self, text: Text) -> list[tuple[str, list[tuple[int, int]]]]:
        return [(sentence, self._spans(sentence)) for sentence in sentences(text)]

    def _spans(self, sentence: str) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        for number, word in enumerate(_WORD.finditer(sentence)):
            first = word.group()[0]
            if not (first.isdigit() or (first.isupper() and number > 0)):
                continue
            joins = spans and not first.isdigit() and sentence[spans[-1][1] : word.start()] == " "
            if joins and sentence[spans[-1][0]].isupper():
                spans[-1] = (spans[-1][0], word.end())
            else:
                spans.append((word.start(), word.end()))
        return spans


class Pipeline:
    """A spaCy pipeline with an entity recogniser."""

    def __init__(self, name: str) -> None:
        self._nlp: Any = import_module("spacy").load(name)

    def find(self, text: Text) -> list[tuple[str, list[tuple[int, int]]]]:
        if not isinstance(text, str):
            return [(sentence, self._spans(self._nlp(sentence))) for sentence in text]
        parsed = self._nlp(joined(text))
        if not parsed.has_annotation("SENT_START"):
            return self.find(sentences(text))
        return [(sentence.text, self._spans(sentence)) for sentence in parsed.sents]

    def _spans(self, parsed: Any) -> list[tuple[int, int]]:
        start = getattr(parsed, "start_char", 0)
        return [(entity.start_char - start, entity.end_char - start) for entity in parsed.ents]


@lru_cache(maxsize=4)
def recogniser(name: str) -> Recogniser:
    """The recogniser of that name."""
    return Capitals() if name == CAPITALS else Pipeline(name)


def questions(text: Text, name: str) -> list[Question]:
    """One question per name that the document mentions, in order."""
    sentence_spans = recogniser(name).find(text)
    return [
        Question(sentence[:start] + MASK + sentence[end:], sentence[start:end])
        for sentence, spans in sentence_spans
        for start, end in spans
    ]


def readiness(name: str) -> Readiness:
    """Whether the recogniser is here."""
    if name == CAPITALS:
        return Readiness(True)
    rule = f"entities={CAPITALS}"
    if find_spec("spacy") is None:
        missing = Sentence(
            "SpaCy, which finds the names, is not installed; %(command)s brings it, or take the rule instead with "
            "%(option)s.",
            {"command": "pip install spacy", "option": rule},
        )
        return Readiness(False, missing)
    if not requirement(name).is_here:
        missing = Sentence(
            "The spaCy pipeline %(name)s is not here; %(command)s brings it, name another, or take the rule instead "
            "with %(option)s.",
            {"name": name, "command": requirement(name).brings, "option": rule},
        )
        return Readiness(False, missing)
    return Readiness(True)


def requirement(name: str) -> Requirement:
    """The recogniser as something that a metric needs."""
    command = "pip install spacy && " if find_spec("spacy") is None else ""
    folder = Path(name).expanduser()
    is_here = not command and (folder.is_dir() or (name.isidentifier() and find_spec(name) is not None))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0
    size = size or (_SMALL_PIPELINE if name == "en_core_web_sm" else 0)
    return Requirement(f"entity recogniser {name}", is_here, size, f"{command}python -m spacy download {name}")


def version(name: str) -> str:
    """For signatures."""
    if name == CAPITALS:
        return CAPITALS
    if not readiness(name).ok:
        return f"{name}-missing"
    nlp = recogniser(name)._nlp if isinstance(recogniser(name), Pipeline) else None  # type: ignore[attr-defined]
    return f"{nlp.meta.get('name', name)}-{nlp.meta.get('version', '')}-spacy-{library_version('spacy')}" if nlp else ""


def overlap(answer: str, truth: str) -> float:
    """F1 of the words of two answers, as SQuAD counts it: case, marks and articles don't matter."""
    answer_words, truth_words = _bare(answer), _bare(truth)
    if not answer_words or not truth_words:
        return float(answer_words == truth_words)
    shared = sum((Counter(answer_words) & Counter(truth_words)).values())
    return 2 * shared / (len(answer_words) + len(truth_words))


def _bare(text: str) -> Sequence[str]:
    return _ARTICLE.sub(" ", text.lower().translate(_NO_MARKS)).split()
