"""The stemmer of ROUGE-1.5.5: Porter's of 1980 with its step 4 changed, behind the exception lists of WordNet 2.0.

In step 4, `-ment` and then `-ent` or `-ion` are tried after the rest of the list and on what the rest has left, so
that tournament gives tournam and professional gives profess. Words of up to three letters stay as they are.
"""

from __future__ import annotations

import re

_C = "[^aeiou][^aeiouy]*"
_V = "[aeiouy][aeiou]*"
_M_ABOVE_0 = re.compile(f"(?:{_C})?{_V}{_C}").match
_M_IS_1 = re.compile(f"(?:{_C})?{_V}{_C}(?:{_V})?$").match
_M_ABOVE_1 = re.compile(f"(?:{_C})?{_V}{_C}{_V}{_C}").match
_HAS_VOWEL = re.compile(f"(?:{_C})?[aeiouy]").match
_SHORT_SYLLABLE = re.compile(f"{_C}[aeiouy][^aeiouwxy]$").match
_DOUBLED = re.compile(r"([^aeiouylsz])\1$").search

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate",
    "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al",
    "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = frozenset(["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ou", "ism", "ate", "iti", "ous",
           "ive", "ize"])  # fmt: skip
_LENGTHS_2 = (7, 6, 5, 4, 3)
_LENGTHS_3 = (5, 4, 3)
_LENGTHS_4 = (5, 4, 3, 2)


def porter(word: str) -> str:
    """The stem of a lower-case word."""
    if len(word) < 3:
        return word
    # A first y is a consonant; in upper case no pattern takes it for a vowel.
    starts_with_y = word[0] == "y"
    if starts_with_y:
        word = "Y" + word[1:]
    word = _step_1(word)
    word = _replace(word, _STEP_2, _LENGTHS_2)
    word = _replace(word, _STEP_3, _LENGTHS_3)
    word = _step_5(_step_4(word))
    return "y" + word[1:] if starts_with_y else word


def _step_1(word: str) -> str:
    """Plurals, past forms and a final y."""
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss") and len(word) > 1:
        word = word[:-1]
    if word.endswith("eed"):
        if _M_ABOVE_0(word[:-3]):
            word = word[:-1]
    elif word.endswith(("ed", "ing")):
        stem = word[: -2 if word.endswith("ed") else -3]
        if _HAS_VOWEL(stem):
            word = _mend(stem)
    if word.endswith("y") and _HAS_VOWEL(word[:-1]):
        word = word[:-1] + "i"
    return word


def _mend(stem: str) -> str:
    """What follows when -ed or -ing is gone: hoping, hop(p)ing, inflat(ed)."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _DOUBLED(stem):
        return stem[:-1]
    return stem + "e" if _SHORT_SYLLABLE(stem) else stem


def _replace(word: str, table: dict[str, str], lengths: tuple[int, ...]) -> str:
    """Change the longest ending that the table has, if enough stands before it."""
    for length in lengths:
        ending = word[-length:]
        if ending in table:
            stem = word[: len(word) - len(ending)]
            return stem + table[ending] if _M_ABOVE_0(stem) else word
    return word


def _step_4(word: str) -> str:
    for length in _LENGTHS_4:
        ending = word[-length:]
        if ending in _STEP_4:
            stem = word[: len(word) - len(ending)]
            word = stem if _M_ABOVE_1(stem) else word
            break
    if word.endswith("ment") and _M_ABOVE_1(word[:-4]):
        word = word[:-4]
    if word.endswith("ent"):
        return word[:-3] if _M_ABOVE_1(word[:-3]) else word
    if word.endswith(("sion", "tion")) and _M_ABOVE_1(word[:-3]):
        return word[:-3]
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        if _M_ABOVE_1(stem) or (_M_IS_1(stem) and not _SHORT_SYLLABLE(stem)):
            word = stem
    if word.endswith("ll") and _M_ABOVE_1(word):
        word = word[:-1]
    return word
