"""Files of sorted lines, searched in place."""

from __future__ import annotations

import mmap
from pathlib import Path


def map_file(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def line_of(key: bytes, lines: mmap.mmap, separator: bytes) -> bytes | None:
    """The line whose first field is the key; lines are sorted by the bytes of their first field."""
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high) // 2
        start = lines.rfind(b"\n", 0, middle) + 1
        end = lines.find(b"\n", start)
        end = len(lines) if end < 0 else end
        line = lines[start:end]
        first = line.partition(separator)[0]
        if first == key:
            return line
        if first < key:
            low = end + 1
        else:
            high = start
    return None
