"""Requesters' patterns (AnswerFormatRegex), matched in time linear in the answer: RE2 never goes back to try again."""

from functools import lru_cache
from typing import Any

import re2

from annotation.marketplace.errors import BadXML

LONGEST_PATTERN = 1000
LONGEST_ANSWER = 10_000
"""Characters of an answer that a pattern is held against; linear in a megabyte is still long."""
MOST_MEMORY = 1 << 20


def check_pattern(pattern: str, label: str) -> None:
    """Raises BadXML for a pattern that can't be matched in linear time."""
    if len(pattern) > LONGEST_PATTERN:
        raise BadXML(f"{label}: an AnswerFormatRegex has {len(pattern):,} characters; at most {LONGEST_PATTERN:,}.")
    try:
        _compiled(pattern)
    except re2.error as error:
        problem = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        raise BadXML(
            f"{label}: the AnswerFormatRegex {pattern[:80]!r} can't be used here ({problem}). Patterns are RE2's: "
            "without backreferences and without looking ahead or behind."
        ) from None


def fits(pattern: str, answer: str) -> bool:
    """Whether the pattern occurs in the answer. A stored pattern that can't be used refuses nobody."""
    try:
        return _compiled(pattern).search(answer.encode(errors="replace").decode()) is not None
    except re2.error:
        return True


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MOST_MEMORY
    return re2.compile(pattern, options)
