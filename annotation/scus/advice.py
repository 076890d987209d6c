"""Gentle advice on SCUs, never a refusal: too many entities, too long, said before, a pronoun without its noun.

The rules look at the surface of English and know no grammar: they are meant to make a person look again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common.text import find_words, is_content, word_set

MOST_ENTITIES = 3  # REALSumm (Bhandari et al. 2020): short units, at most 2–3 entities each
MOST_WORDS = 20
ALIKE = 0.75  # shared content words, as a part of all content words of the two

_PRONOUNS = word_set("he she it they him her them his hers its their theirs himself herself itself themselves")
_DETERMINERS = word_set("a an the this that these those some many most several every each no all both")
_LINKS = word_set("of the de la van von der den")
_MONTHS = word_set("january february march april may june july august september october november december")


@dataclass(frozen=True)
class Advice:
    """What to look at again in an SCU; `code` is for programs."""

    code: str
    sentence: str


def unit_advice(units: Sequence[str], reference: str = "") -> list[list[Advice]]:
    """Advice on each unit of a list, in the same order; the reference helps to tell names from first words."""
    names = _names_in(reference)
    return [
        [*_entities(text, names), *_length(text), *_repeats(units, place), *_pronouns(text)]
        for place, text in enumerate(units)
    ]


def _entities(text: str, names: frozenset[str]) -> list[Advice]:
    names_and_numbers = entities(text, names)
    if len(names_and_numbers) <= MOST_ENTITIES:
        return []
    listing = ", ".join(names_and_numbers)
    return [
        Advice(
            "entities",
            _("%(n)d names and numbers (%(shown)s): can it be split into smaller facts?")
            % {"n": len(names_and_numbers), "shown": listing},
        )
    ]


def _length(text: str) -> list[Advice]:
    n = len(find_words(text))
    if n <= MOST_WORDS:
        return []
    return [
        Advice(
            "words",
            ngettext(
                "%(n)d word: a single short fact is easier to judge.",
                "%(n)d words: a single short fact is easier to judge.",
                n,
            )
            % {"n": n},
        )
    ]


def _repeats(units: Sequence[str], place: int) -> list[Advice]:
    """The later of two like units is told about the earlier one."""
    for number, text in enumerate(units[:place], start=1):
        if alike(units[place], text):
            return [Advice("repeat", _("Nearly the same as SCU %(n)d.") % {"n": number})]
    return []


def _pronouns(text: str) -> list[Advice]:
    pronoun = lone_pronoun(text)
    if not pronoun:
        return []
    return [Advice("pronoun", _("“%(word)s” has no noun here: name who or what it is.") % {"word": pronoun})]


def similarity(first: str, second: str) -> float:
    """Shared content words as a part of all of them (Jaccard); different numbers make different facts."""
    a, b = _stems(first), _stems(second)
    if _digits(a) != _digits(b) or not a | b:
        return 0.0
    return len(a & b) / len(a | b)


def alike(first: str, second: str) -> bool:
    return similarity(first, second) >= ALIKE


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word.casefold()) for word in find_words(text) if is_content(word))


def _stem(word: str) -> str:
    word = word.replace("’", "'").removesuffix("'s")
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def _digits(stems: frozenset[str]) -> frozenset[str]:
    return frozenset(stem for stem in stems if any(map(str.isdigit, stem)))


def entities(text: str, names: frozenset[str] = frozenset()) -> list[str]:
    """Names (runs of capitalised words) and numbers. The first word counts when the text shows it is a name."""
    words, runs, run = find_words(text), [], list[str]()
    for place, word in enumerate(words):
        following = words[place + 1 : place + 3]
        if _is_number(word) or _is_name(word, place, following, names):
            if run and _is_number(word) != _is_number(run[-1]) and not _makes_date(run[-1], word):
                runs.append(run)
                run = []
            run.append(word)
        elif run and word in _LINKS and following and following[0][0].isupper() and not _is_number(run[-1]):
            run.append(word)
        else:
            runs.append(run)
            run = []
    return [" ".join(name) for name in [*runs, run] if name]


def _is_number(word: str) -> bool:
    return word[0].isdigit()


def _is_name(word: str, place: int, following: list[str], names: frozenset[str]) -> bool:
    if not word[0].isupper():
        return False
    if place > 0:
        return word != "I"
    is_in_reference = word.casefold() in names
    return is_content(word) and (is_in_reference or (bool(following) and following[0][0].isupper()))


def _makes_date(first: str, second: str) -> bool:
    return first.casefold() in _MONTHS or second.casefold() in _MONTHS


def _names_in(reference: str) -> frozenset[str]:
    """Words that stand capitalised inside a sentence of the reference: names, also where they come first."""
    words = reference.split()
    inner = [word for before, word in pairwise(words) if not before.endswith((".", "!", "?", "”", '"'))]
    return frozenset(name.casefold() for word in inner for name in find_words(word) if name[0].isupper())


def lone_pronoun(text: str) -> str:
    """The first third-person pronoun with nothing before it that it could stand for; empty when there is none."""
    words = find_words(text)
    for place, word in enumerate(words):
        if word.casefold() in _PRONOUNS and not _has_noun(words[:place]):
            return word
    return ""


def _has_noun(words: list[str]) -> bool:
    """A name, or a determiner or number with a word behind it: "the ferry", "45 children"; or any plain subject."""
    return any(
        is_content(word) and (place == 0 or word[0].isupper() or _introduces(words[place - 1]))
        for place, word in enumerate(words)
    )


def _introduces(word: str) -> bool:
    return word.casefold() in _DETERMINERS or _is_number(word) or is_content(word)
