"""The columns of a table, each in its type. Used through `analysis.tables`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from analysis.lazy import has_arrow
from analysis.lazy import numpy as np
from analysis.lazy import pandas as pd
from analysis.lazy import pyarrow as pa
from analysis.tables.checks import Column, Problems, TableSpec, is_missing, show

EXPECTED = {
    "id": "text that is not empty, or a whole number",
    "text": "a text or a list of sentences",
    "texts": "a list of texts",
    "label": "text",
    "number": "a finite number",
    "score": "a finite number or nothing",
    "integer": "a whole number or nothing",
    "flag": "0, 1, true or false",
}


def check_values(frame: pd.DataFrame, spec: TableSpec, problems: Problems) -> dict[str, pd.Series]:
    """Every known column in its type; what does not fit is added to the problems."""
    checked = {}
    for column in spec.columns:
        if column.name in frame.columns:
            checked[column.name] = _CHECKS[column.type](frame[column.name], column, problems)
    return checked


def _each(series: pd.Series, column: Column, problems: Problems, convert: Callable[[Any], Any]) -> list[Any]:
    """Convert value by value: the slow way, for columns whose storage does not already have the type."""
    result = []
    for row, value in enumerate(series.astype(object).tolist(), start=1):
        try:
            result.append(convert(value))
        except (ValueError, OverflowError):
            problems.add(row, column.name, show(value), EXPECTED[column.type])
            result.append(None)
    return result


def _is_text(series: pd.Series) -> bool:
    return isinstance(series.dtype, pd.StringDtype)


def _is_integer(series: pd.Series) -> bool:
    return pd.api.types.is_integer_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype)


def _texts(values: list[Any], series: pd.Series) -> pd.Series:
    return pd.Series(values, index=series.index, dtype="str")


def _check_id(series: pd.Series, column: Column, problems: Problems) -> pd.Series:
    if _is_text(series):
        for row in _empty(series):
            problems.add(row + 1, column.name, "nothing", EXPECTED["id"])
        return series
    if _is_integer(series) and not series.hasnans:
        return series.astype("str")
    return _texts(_each(series, column, problems, _one_id), series)


def _empty(series: pd.Series) -> list[int]:
    """Positions of missing and empty strings."""
    if has_arrow() and not _has_empty(series):
        return []
    return np.flatnonzero((series.fillna("") == "").to_numpy(dtype=bool)).tolist()


def _has_empty(series: pd.Series) -> bool:
    import pyarrow.compute as pc

    array = pa.array(series.array)
    return bool(array.null_count or (len(array) and pc.min(pc.binary_length(array)).as_py() == 0))


def _one_id(value: Any) -> str:
    if isinstance(value, str) and value:
        return _encodable(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(int(value))
    raise ValueError


def _encodable(text: str) -> str:
    """Half a surrogate pair and NUL can't be stored in files or databases."""
    text.encode("utf-8")
    if "\x00" in text:
        raise ValueError
    return text


def _check_label(series: pd.Series, column: Column, problems: Problems) -> pd.Series:
    if _is_text(series):
        return series.fillna("") if series.hasnans else series
    return _texts(_each(series, column, problems, _one_label), series)


def _one_label(value: Any) -> str:
    if is_missing(value) or value == "":
        return ""
    if isinstance(value, pd.Timestamp) or hasattr(value, "isoformat"):
        return str(value.isoformat())
    return _one_id(value)


def _check_text(series: pd.Series, column: Column, problems: Problems) -> pd.Series:
    if _is_text(series):
        for row in np.flatnonzero(series.isna().to_numpy()).tolist():
            problems.add(row + 1, column.name, "nothing", EXPECTED["text"])
        return series
    values = _each(series, column, problems, one_text)
    plain = all(isinstance(value, str) for value in values)
    return pd.Series(values, index=series.index, dtype="str" if plain else object)


def one_text(value: Any) -> str | list[str]:
    """A text: a string, or a list of sentences."""
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, np.ndarray | tuple):
        value = list(value)
    if isinstance(value, list) and all(isinstance(sentence, str) for sentence in value):
        return [_encodable(sentence) for sentence in value]
    raise ValueError


def _check_texts(series: pd.Series, column: Column, problems: Problems) -> pd.Series:
    return pd.Series(_each(series, column, problems, _one_list), index=series.index, dtype=object)


def _one_list(value: Any) -> list[str | list[str]]:
    if isinstance(value, np.ndarray | tuple):
        value = list(value)
    if not isinstance(value, list):
        raise ValueError
    return [one_text(text) for text in value]


def _check_number(series: pd.Series, column: Column, problems: Problems) -> pd.Series:
    if not pd.api.types.is_numeric_dtype(series.dtype):
        convert = _one_score if column.type == "score" else _one_number
        values = _each(series, column, problems, convert)
        numbers = np.array([math.nan if value is None else value for value in values], dtype=np.float64)
        return pd.Series(numbers, index=series.index)
    numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
    is_wrong = np.isinf(numbers) if column.type == "score" else ~np.isfinite(numbers)
    for row in np.flatnonzero(is_wrong).tolist():
        problems.add(row + 1, column.name, show(series.iloc[row]), EXPECTED[column.type])
    return pd.Series(numbers, index=series.index)


def _one_number(value: Any) -> float:
    number = _one_score(value)
    if math.isnan(number):
        raise ValueError
    return number


def _one_score(value: Any) -> float:
    if is_missing(value):
        return math.nan
    if isinstance(value, str):
        value = value.strip() or "nan"
        if "_" in value:  # Python reads 1_000 as a number; no table means that
            raise ValueError
    elif not isinstance(value, bool | int | float | np.number | np.bool_):
        raise ValueError
    number = float(value)
    if math.isinf(number):
        raise ValueError
    return number


def _check_integer(series: pd.Series, column: Column, problems: Problems) -> pd.Series:
    if _is_integer(series):
        return series.astype("Int64")
    values = _each(series, column, problems, _one_integer)
    return pd.Series(pd.array(values, dtype="Int64"), index=series.index)


def _one_integer(value: Any) -> int | None:
    number = _one_score(value)
    if math.isnan(number):
        return None
    if not number.is_integer() or abs(number) >= 2**53:
        raise ValueError
    return int(number)


def _check_flag(series: pd.Series, column: Column, problems: Problems) -> pd.Series:
    if pd.api.types.is_bool_dtype(series.dtype) and not series.hasnans:
        return series.astype(bool)
    if pd.api.types.is_numeric_dtype(series.dtype) and series.isin([0, 1]).all():
        return series.astype(bool)
    codes, unique = pd.factorize(series, use_na_sentinel=False)
    flag_of = [_one_flag(value) for value in list(unique)]
    for position in np.flatnonzero(np.isin(codes, [i for i, flag in enumerate(flag_of) if flag is None])).tolist():
        problems.add(position + 1, column.name, show(series.iloc[position]), EXPECTED["flag"])
    flags = np.array([bool(flag) for flag in flag_of], dtype=bool)
    return pd.Series(flags[codes] if len(codes) else np.zeros(0, dtype=bool), index=series.index)


def _one_flag(value: Any) -> bool | None:
    if is_missing(value):
        return False
    word = str(value).strip().lower()
    if word in {"1", "1.0", "true"}:
        return True
    return False if word in {"", "0", "0.0", "false"} else None


_CHECKS: dict[str, Callable[[pd.Series, Column, Problems], pd.Series]] = {
    "id": _check_id,
    "text": _check_text,
    "texts": _check_texts,
    "label": _check_label,
    "number": _check_number,
    "score": _check_number,
    "integer": _check_integer,
    "flag": _check_flag,
}
