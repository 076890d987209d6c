"""A text as sentences and words with their places: what is selected, shaded and counted on the SCU page."""

import re
from dataclasses import dataclass
from functools import lru_cache

# A text is a string, or a list of sentences: given sentence splits are kept (JSON holds both).
Text = str | list[str]

# Writing without spaces is taken sign by sign; elsewhere a word keeps its inner marks: don't, 6–1, 210,000, 11.40.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W_]+(?:[-–'’.,:/&][^\W_]+)*")


def plain(text: Text) -> str:
    """A text as one string."""
    return text if isinstance(text, str) else " ".join(text)


def glimpse(text: Text, length: int) -> str:
    """The beginning of a text in whole words, enough to know it again."""
    start = plain(text)
    return start if len(start) <= length else start[:length].rsplit(" ", 1)[0] + " …"


def natural_key(name: str) -> str:
    """Sorts names as people count: 0, 1, 2, 10. A number has its length before it; equal keys keep the names' order."""

    def counted(match: re.Match[str]) -> str:
        number = match.group().lstrip("0") or "0"
        return f"{len(number):02d}{number}"

    return f"{re.sub('[0-9]+', counted, name)} {name}"


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = word_set(
    """
    a about above after again against all along also although am among an and another any are around as at away
    back be became because been before being below between both but by can could did do does doing done down
    during each either else even ever every for from further get gets getting go goes going got had has have
    having he her here hers herself him himself his how however i if in into is it its itself just may me might
    mine more most much must my myself neither no nor not now of off on once one only onto or other others our
    ours ourselves out over own per quite rather really said same say says shall she should since so some such
    than that the their theirs them themselves then there these they this those though through thus to too
    toward towards under until up upon us very was we were what when where whether which while who whom whose
    why will with within without would yet you your yours yourself
    """
)


@dataclass(frozen=True)
class Word:
    """A word at its place in the plain text; `gap` is what stands between it and the word before."""

    text: str
    start: int
    end: int
    gap: str

    @property
    def is_content(self) -> bool:
        return is_content(self.text)


@dataclass(frozen=True)
class Sentence:
    start: int
    words: list[Word]
    tail: str  # what follows the last word: usually the full stop


def is_content(word: str) -> bool:
    """Whether a word says something by itself; the list of function words is English."""
    return word.casefold().replace("’", "'") not in FUNCTION_WORDS


def find_words(text: str) -> list[str]:
    return _WORD.findall(text)


def sentences(text: Text) -> list[Sentence]:
    """The sentences of a text: as given, or found by pysbd where the text is one string."""
    return [_sentence(sentence, start) for sentence, start in _place_sentences(text)]


def _place_sentences(text: Text) -> list[tuple[str, int]]:
    string, place, placed_sentences = plain(text), 0, []
    for sentence in text if isinstance(text, list) else split_sentences(text):
        start = string.index(sentence, place)
        placed_sentences.append((sentence, start))
        place = start + len(sentence)
    return placed_sentences


def _sentence(text: str, start: int) -> Sentence:
    words, place = [], 0
    for match in _WORD.finditer(text):
        gap = text[place : match.start()]
        words.append(Word(match.group(), start + match.start(), start + match.end(), gap))
        place = match.end()
    return Sentence(start, words, text[place:])


@lru_cache(maxsize=1)
def _segmenter():  # type: ignore[no-untyped-def]  # pysbd has no types
    import pysbd

    return pysbd.Segmenter(language="en", clean=False)


def split_sentences(text: str) -> list[str]:
    """A string's sentences, each found again in it; the whole string where the splitter altered something."""
    found_sentences = [segment.strip() for segment in _segmenter().segment(text) if segment.strip()]
    place = 0
    for sentence in found_sentences:
        start = text.find(sentence, place)
        if start < 0 or text[place:start].strip():
            return [text]
        place = start + len(sentence)
    return found_sentences if not text[place:].strip() else [text]
