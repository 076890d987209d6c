"""Sentences in shapes that know strings only: tags as REALSumm has them, or one sentence per line."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.tables import Problem, TableError

TAGGED = re.compile(r"<t> (.*?) </t>(?: |$)", re.DOTALL)


def tagged(text: Any) -> Any:
    """`<t> One. </t> <t> Two. </t>`; a list of sentences that would not come back exactly stays a list."""
    if isinstance(text, str):
        return text
    tagged_text = " ".join(f"<t> {sentence} </t>" for sentence in text)
    return tagged_text if text and untagged(tagged_text) == text else text


def untagged(text: Any) -> Any:
    if not isinstance(text, str) or not text.startswith("<t> "):
        return text
    sentences = TAGGED.findall(text)
    return sentences if " ".join(f"<t> {sentence} </t>" for sentence in sentences) == text.rstrip() else text


def lines(text: Any) -> str:
    """One sentence per line; a list of one sentence keeps the line's end, so that it isn't taken for a plain text."""
    return text if isinstance(text, str) else "\n".join(text) + ("\n" if len(text) == 1 else "")


def unlined(text: str) -> Any:
    sentences = text.split("\n")
    if len(sentences) == 2 and not sentences[1]:
        return sentences[:1]
    return sentences if len(sentences) > 1 else text


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON-lines file with their line numbers; TableError names the line that is none."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            if not isinstance(value, dict):
                raise problem(path, number, None, "a line that is no JSON object", "one JSON object per line")
            yield number, value


def problem(path: Path, row: int | None, column: str | None, found: str, expected: str) -> TableError:
    return TableError([Problem(path.name, row, column, found, expected)])
