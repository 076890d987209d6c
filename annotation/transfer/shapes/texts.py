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
    joined = " ".join(f"<t> {sentence} </t>" for sentence in text)
    return joined if text and untagged(joined) == text else text


def untagged(text: Any) -> Any:
    if not isinstance(text, str) or not text.startswith("<t> "):
        return text
    found = TAGGED.findall(text)
    return found if " ".join(f"<t> {sentence} </t>" for sentence in found) == text.rstrip() else text


def lines(text: Any) -> str:
    """One sentence per line; a list of one sentence keeps the line's end, so that it isn't taken for a plain text."""
    return text if isinstance(text, str) else "\n".join(text) + ("\n" if len(text) == 1 else "")


def unlined(text: str) -> Any:
    parts = text.split("\n")
    if len(parts) == 2 and not parts[1]:
        return parts[:1]
    return parts if len(parts) > 1 else text


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
                raise wrong(path, number, None, "a line that is no JSON object", "one JSON object per line")
            yield number, value


def wrong(path: Path, row: int | None, column: str | None, found: str, expected: str) -> TableError:
    return TableError([Problem(path.name, row, column, found, expected)])
