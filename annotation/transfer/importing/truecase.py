"""Texts as workers see them: true-cased, and with a symbol where a system had no word. The original stays beside it.

Both follow REALSumm (facts in docs/protocols/litepyramid.md). True-casing uses the model that ships in the package
`truecase`; its own tokeniser needs data that must be fetched, so texts are cut here and every space stays in place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from analysis.lazy import how_to_bring
from analysis.lazy import pandas as pd
from annotation.common.errors import Refused
from annotation.common.text import Text, split_sentences

UNKNOWN_SYMBOL = "□"
UNKNOWN_TOKENS = ("<unk>", "[UNK]", "UNK", "@UNKNOWN@")

# Words, contractions as the model knows them (wo n't, it 's), and single signs.
_TOKEN = re.compile(r"\w+(?=n['’]t\b)|n['’]t\b|['’]\w+|\w+(?:[-.]\w+)*\.?(?<=\w\.\w\.)|\w+(?:[-.]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class Showing:
    """How texts are changed for workers; the default changes nothing."""

    truecase: bool = False
    unknown_tokens: tuple[str, ...] = ()
    unknown_symbol: str = UNKNOWN_SYMBOL

    @classmethod
    def from_options(cls, truecase: bool, symbol: str | None, tokens: Sequence[str] | None) -> Showing:
        """From the command line: a symbol or a token alone brings the other by default."""
        unknown_tokens = tuple(tokens or (UNKNOWN_TOKENS if symbol is not None else ()))
        return cls(truecase, unknown_tokens, UNKNOWN_SYMBOL if symbol is None else symbol)

    @property
    def changes(self) -> bool:
        return self.truecase or bool(self.unknown_tokens)

    def name(self) -> str:
        """For fingerprints: the same folder shown otherwise is another study."""
        return f"truecase={self.truecase} unknown={'|'.join(self.unknown_tokens)}->{self.unknown_symbol}"


NO_CHANGES = Showing()


def shown_text(text: Text, showing: Showing) -> Text | None:
    """The text as workers see it; None where it is the same as the original."""
    sentences = list(text) if isinstance(text, list) else [text]
    changed_sentences = [_shown(sentence, showing, is_whole_text=isinstance(text, str)) for sentence in sentences]
    if changed_sentences == sentences:
        return None
    return changed_sentences if isinstance(text, list) else changed_sentences[0]


def _shown(text: str, showing: Showing, *, is_whole_text: bool) -> str:
    # Symbols first: a token such as UNK must not be taken for a name.
    text = replace_unknown(text, showing.unknown_tokens, showing.unknown_symbol)
    if not showing.truecase:
        return text
    return _by_sentence(text, truecase_sentence) if is_whole_text else truecase_sentence(text)


def replace_unknown(text: str, tokens: Sequence[str], symbol: str = UNKNOWN_SYMBOL) -> str:
    """Every token that stands alone becomes the symbol, in whatever case; inside a word it stays."""
    if not tokens:
        return text
    names = "|".join(_alone(token) for token in sorted(tokens, key=len, reverse=True))
    return re.sub(names, lambda _: symbol, text, flags=re.IGNORECASE)


def _alone(token: str) -> str:
    """A pattern for the token that doesn't cut a longer word; brackets stand for themselves."""
    lookbehind = r"(?<!\w)" if token[:1].isalnum() else ""
    lookahead = r"(?!\w)" if token[-1:].isalnum() else ""
    return lookbehind + re.escape(token) + lookahead


def _by_sentence(text: str, change: Callable[[str], str]) -> str:
    pieces, place = [], 0
    for sentence in split_sentences(text):
        start = text.index(sentence, place)
        pieces += [text[place:start], change(sentence)]
        place = start + len(sentence)
    return "".join(pieces) + text[place:]


def truecase_sentence(sentence: str) -> str:
    """Capitals where English has them. A sentence that has capitals already knows better and is left as it is."""
    if any(map(str.isupper, sentence)):
        return sentence
    tokens = list(_TOKEN.finditer(sentence))
    if not tokens:
        return sentence
    cased = _model().get_true_case_from_tokens([token.group() for token in tokens], "lower")
    pieces, place = [], 0
    for token, word in zip(tokens, cased, strict=True):
        pieces += [sentence[place : token.start()], _fitting(token.group(), word)]
        place = token.end()
    return _capital("".join(pieces) + sentence[place:])


def _fitting(token: str, word: str) -> str:
    """The model's casing. A word it doesn't know is most likely a name; what has digits ("3rd") stays as it was."""
    if any(map(str.isdigit, token)):
        return token
    if token in _model().word_casing_lookup:
        return word
    return token.capitalize() if token.isalpha() else token


def _capital(sentence: str) -> str:
    """The first letter is a capital, also behind an opening quote or bracket."""
    return re.sub(r"^(\W*)(\w)", lambda match: match.group(1) + match.group(2).upper(), sentence, count=1)


@lru_cache(maxsize=1)
def _model() -> Any:
    """Loaded once, from the package's own file (about 650 MB of memory while it is used)."""
    try:
        import truecase  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        command = how_to_bring("models")
        raise Refused(f"Capitals need the library truecase, which {command} brings. Nothing was imported.") from None
    return truecase.get_truecaser()


def add_shown(summaries: pd.DataFrame, showing: Showing) -> tuple[pd.DataFrame, int]:
    """The table with `shown_to_workers` filled in, and how many texts differ. What the file itself says is kept."""
    file_cells = summaries["shown_to_workers"].tolist() if "shown_to_workers" in summaries else [None] * len(summaries)
    cells = [
        cell if isinstance(cell, str | list) and cell else shown_text(text, showing)
        for text, cell in zip(summaries["summary"], file_cells, strict=True)
    ]
    n_changed = sum(new is not None and new is not old for new, old in zip(cells, file_cells, strict=True))
    return summaries.assign(shown_to_workers=pd.Series(cells, index=summaries.index, dtype=object)), n_changed
