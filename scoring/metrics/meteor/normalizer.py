"""Words of an English text as release 1.5 of METEOR finds them with its option `-norm`.

The rules and their order are those of the release (checked against its program in tests/paper/test_meteor15.py); a
rule's pattern takes the characters beside a mark with it, so that two marks in a row are told apart only once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_LETTERS = "A-Za-zŠŽšžŸÀ-ÖØ-öø-žЀ-ӿԀ-ԧꙀ-ꙮ꙾-ꚗᴀ-ᵿ"
_SPACES = " \t\n\r\f"
_DOTS = "\ue000"
"""Stands for one of several dots in a row, while single dots are looked at."""
_OTHER_MARK = re.compile(rf"([^0-9{_LETTERS}\t\n\x0b\f\r .'`,\-‘’])")
_RULES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in [
        (r"([^0-9]),([^0-9])", r"\1 , \2"),
        (r"([0-9]),([^0-9])", r"\1 , \2"),
        (r"([^0-9]),([0-9])", r"\1 , \2"),
        (r"[`‘’]", "'"),
        (r"[“”]|''", ' " '),
        ("–", "-"),
        ("--", "-"),
        (rf"([0-9{_LETTERS}.])-([0-9{_LETTERS}])", r"\1 \2"),
        (rf"([^{_LETTERS}])'([^{_LETTERS}])", r"\1 ' \2"),
        (rf"([^0-9{_LETTERS}])'([{_LETTERS}])", r"\1 ' \2"),
        (rf"([{_LETTERS}])'([^{_LETTERS}])", r"\1 ' \2"),
        (rf"([{_LETTERS}])'([{_LETTERS}])", r"\1 '\2"),
        (r"([0-9])'(s)", r"\1 '\2"),
    ]
]
_LETTER = re.compile(f"[{_LETTERS}]")
_OTHER_SPACES = re.compile("[\u2000-\u200a\u202f\u205f\u3000\xa0 ]+")


def normalized_words(text: str, prefixes: Mapping[str, bool]) -> tuple[str, ...]:
    """Lower-cased words and marks; `prefixes` are abbreviations, True where they count only before a number."""
    line = _OTHER_MARK.sub(r" \1 ", f" {text} ")
    line = re.sub(r"\.\.+", lambda dots: f" {_DOTS * len(dots.group())} ", line)
    for pattern, replacement in _RULES:
        line = pattern.sub(replacement, line)
    words = _split(line)
    line = " ".join(_dot_apart(words, i, prefixes) for i in range(len(words)))
    return tuple(_split(_OTHER_SPACES.sub(" ", line.replace(_DOTS, ".")).lower()))


def _split(line: str) -> list[str]:
    return [word for word in re.split(f"[{_SPACES}]+", line) if word]


def _dot_apart(words: Sequence[str], at: int, prefixes: Mapping[str, bool]) -> str:
    """The word with the dot at its end apart, unless it is an abbreviation or the sentence goes on."""
    word, following = words[at], words[at + 1] if at + 1 < len(words) else ""
    stem = word[:-1]
    if not stem or not word.endswith("."):
        return word
    if "." in stem and _LETTER.search(stem):
        return word.replace(".", "")
    before_number = prefixes.get(stem)
    if before_number is False or re.match("[a-z]", following):
        return word
    if before_number and re.match("[0-9]", following):
        return word
    return f"{stem} ."
