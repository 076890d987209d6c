"""Rows that name the same thing twice. Used through `analysis.tables`.

Finding duplicates exactly needs a hash table over a million keys, which takes longer than reading them. So a
cheap number per row comes first: equal keys always have equal numbers, so if all numbers differ, so do the keys.
Only when two numbers are equal are the keys themselves compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd

from analysis.lazy import has_arrow
from analysis.lazy import pyarrow as pa
from analysis.tables.checks import Problems, TableSpec, show

Numbers = np.ndarray[Any, np.dtype[np.uint64]]
Codes = np.ndarray[Any, np.dtype[np.int64]]

TOLD = 10
"""How many of the rows that stand twice are told one by one; the others are counted."""
_ODD = [np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)]
_MASKS = np.array([(1 << 8 * length) - 1 for length in range(8)] + [2**64 - 1], dtype=np.uint64)


def check_duplicates(
    frame: pd.DataFrame, spec: TableSpec, problems: Problems, column_codes: Mapping[str, Codes] | None = None
) -> None:
    """Two rows with the same key: both are named. `column_codes` are those that the reader already has."""
    key = [name for name in spec.key if name in frame.columns]
    if len(frame) < 2 or _all_differ(frame, key, column_codes or {}):
        return
    codes = pd.Series(key_codes(frame, key))
    repeated_rows = np.flatnonzero(codes.duplicated().to_numpy())
    if not len(repeated_rows):
        return
    first = pd.Series(np.arange(len(codes))).groupby(codes).first()
    for position in repeated_rows[:TOLD].tolist():
        values = ", ".join(show(frame[name].iloc[position]) for name in key)
        earlier = int(first.loc[codes.iloc[position]]) + 1 + problems.before
        repetition = f"{values} again, already in row {earlier}"
        problems.add(position + 1, ", ".join(key), repetition, "each of them once")
    problems.total += max(0, len(repeated_rows) - TOLD)


def key_codes(frame: pd.DataFrame, columns: Sequence[str]) -> Codes:
    """One number per row, equal exactly for rows that are equal in the columns."""
    codes = np.zeros(len(frame), dtype=np.int64)
    size = 1
    for name in columns:
        new, unique = pd.factorize(frame[name], use_na_sentinel=False)
        if size * max(len(unique), 1) >= 2**62:
            codes, distinct = pd.factorize(codes)
            size = len(distinct)
        codes = codes * len(unique) + new
        size *= max(len(unique), 1)
    return codes


def _all_differ(frame: pd.DataFrame, key: Sequence[str], column_codes: Mapping[str, Codes]) -> bool:
    """True only if no two rows can have the same key."""
    if not column_codes and _in_blocks(frame, key):
        return True

    total = _combined(column_codes, key)
    if total is None:
        total = np.zeros(len(frame), dtype=np.uint64)
        with ThreadPoolExecutor(2) as pool:  # numpy lets go of the interpreter in long loops
            columns = [frame[name] for name in key]
            codes = [column_codes.get(name) for name in key]
            for column in pool.map(_column_numbers, columns, codes):
                total *= _ODD[0]
                total += column
    if bool((total[1:] > total[:-1]).all()):
        return True
    total.sort()
    return not bool((total[1:] == total[:-1]).any())


def _in_blocks(frame: pd.DataFrame, key: Sequence[str]) -> bool:
    """Whether the rows stand assignment by assignment with ascending units, each assignment once: no row is twice.

    Files usually do, and then only the first row of each block needs a number.
    """
    if not has_arrow():
        return False
    import pyarrow.compute as pc

    block_columns = [name for name in key if name != "unit"]
    arrays = {name: array for name in key if (array := _plain(frame[name])) is not None}
    if "unit" not in key or len(frame) < 1000 or len(arrays) < len(key):
        return False
    starts = np.ones(len(frame), dtype=bool)
    starts[1:] = False
    for name in block_columns:
        starts[1:] |= pc.not_equal(arrays[name][1:], arrays[name][:-1]).to_numpy()
    heads = np.flatnonzero(starts)
    if len(heads) > len(frame) / 4:
        return False
    ascending = pc.greater(arrays["unit"][1:], arrays["unit"][:-1]).to_numpy()
    if not bool((starts[1:] | ascending).all()):
        return False
    return _all_differ(frame[block_columns].iloc[heads], block_columns, {})


def _plain(series: pd.Series) -> pa.ChunkedArray | None:
    """The strings of a column as Arrow holds them, if that is how they are held and none is missing."""
    if not isinstance(series.dtype, pd.StringDtype) or not has_arrow():
        return None
    array = pa.array(series.array)
    if isinstance(array, pa.Array):
        array = pa.chunked_array([array])
    return array if not array.null_count and pa.types.is_large_string(array.type) else None


def _combined(column_codes: Mapping[str, Codes], key: Sequence[str]) -> Numbers | None:
    """All codes in one number, where all are known and fit."""
    if any(name not in column_codes for name in key):
        return None
    key = sorted(key, key=lambda name: name == "unit")  # rows usually stand assignment by assignment, unit by unit
    sizes = [int(column_codes[name].max()) + 1 for name in key]
    if math.prod(sizes) >= 2**63:
        return None
    total = column_codes[key[0]].astype(np.uint64)
    for name, size in zip(key[1:], sizes[1:], strict=True):
        total *= np.uint64(size)
        total += column_codes[name].astype(np.uint64)
    return total


def _column_numbers(series: pd.Series, codes: Codes | None) -> Numbers:
    if codes is not None:
        return _mix(codes.astype(np.uint64))
    array = _plain(series)
    if array is None:
        codes, _ = pd.factorize(series, use_na_sentinel=False)
        return _mix(codes.astype(np.uint64))
    return np.concatenate([_string_numbers(chunk) for chunk in array.chunks])


def _string_numbers(chunk: pa.LargeStringArray) -> Numbers:
    """From each string's length, its first eight and its last eight bytes."""
    if not len(chunk) or chunk.buffers()[2] is None:
        return np.zeros(len(chunk), dtype=np.uint64)
    offsets = np.frombuffer(chunk.buffers()[1], dtype=np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
    data = np.frombuffer(chunk.buffers()[2], dtype=np.uint8)
    lengths = offsets[1:] - offsets[:-1]
    masks = _MASKS.take(lengths, mode="clip")
    numbers = _eight_bytes(data, offsets[:-1])
    numbers &= masks
    _mix(numbers)
    long = np.flatnonzero(lengths > 8)
    if len(long):  # only theirs: a string must get the same number whatever stands around it
        numbers[long] += _ODD[1] * _mix(_eight_bytes(data, offsets[1:][long] - 8))
    numbers += _ODD[2] * lengths.view(np.uint64)
    return numbers


def _eight_bytes(data: np.ndarray[Any, np.dtype[np.uint8]], starts: Codes) -> Numbers:
    """Eight bytes from each start as one number; what lies behind the last byte counts as zero."""
    n_inside = int(np.searchsorted(starts, len(data) - 8, side="right")) if len(data) >= 8 else 0
    numbers = np.empty(len(starts), dtype=np.uint64)
    if n_inside:
        windows: Numbers = np.ndarray((len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))
        numbers[:n_inside] = windows[starts[:n_inside]]
    for row in range(n_inside, len(starts)):
        numbers[row] = int.from_bytes(data[starts[row] :].tobytes(), "little")
    return numbers


def _mix(numbers: Numbers) -> Numbers:
    """Spread differences in any bits over all bits, in place."""
    numbers ^= numbers >> np.uint64(32)
    numbers *= _ODD[0]
    numbers ^= numbers >> np.uint64(29)
    return numbers
