"""Small facts in the cache folder that are costly to find again: a model's hash, how often tokens occur in a corpus.

One file per fact, written whole or not at all, so any number of processes may read and write at once.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import uuid4

FORMAT = 1
LIMIT = 200
"""Facts that are kept; the oldest go first."""


def recall(folder: Path | None, key: str) -> Any:
    """What was noted under this key, or None."""
    if folder is None:
        return None
    try:
        fact = json.loads(_file(folder, key).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return fact.get("value") if isinstance(fact, dict) and fact.get("key") == key else None


def note(folder: Path | None, key: str, value: object) -> None:
    """Keep a fact. A folder that cannot be written to only costs time later."""
    if folder is None:
        return
    file = _file(folder, key)
    draft = file.with_name(f"{uuid4().hex}.draft")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps({"key": key, "value": value}), "utf-8")
        os.replace(draft, file)
        _drop_oldest(file.parent)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _file(folder: Path, key: str) -> Path:
    return (
        folder / f"notes-{FORMAT}" / f"{blake2b(key.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}.json"
    )


def _drop_oldest(folder: Path) -> None:
    files = list(folder.glob("*.json"))
    if len(files) > LIMIT:
        # Another process may take the same file away first.
        with suppress(OSError):
            for file in sorted(files, key=lambda path: path.stat().st_mtime)[:-LIMIT]:
                file.unlink(missing_ok=True)
