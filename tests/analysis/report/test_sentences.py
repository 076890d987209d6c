"""docs/statistics/verdicts.md defends every sentence of the verdict, of the warnings, and of what a filter did."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
RULES = {
    "analysis/report/verdict.py": (),
    "analysis/report/prose.py": ("methods", "_data", "_judges", "_estimates", "_compared", "_made_with"),
    "analysis/filters/selection.py": (),
}
"""Where the sentences stand, and which functions say what was done and not what follows."""
SHORTEST = 12
"""Pieces such as "3 systems" are no sentence."""


def templates(path: str) -> Iterator[str]:
    for function in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if getattr(function, "name", "") in RULES[path]:
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Sentence":
                yield ast.literal_eval(node.args[0])


def longest_words(template: str) -> str:
    return max(re.split(r"%\(\w+\)s", template.replace("%%", "%")), key=len).strip(" .:,(")


@pytest.mark.parametrize("path", RULES)
def test_every_sentence_is_defended(path: str) -> None:
    page = (ROOT / "docs/statistics/verdicts.md").read_text(encoding="utf-8")
    sentences = {words for template in templates(path) if len(words := longest_words(template)) >= SHORTEST}
    assert len(sentences) > 5
    assert [words for words in sorted(sentences) if words not in page] == []
