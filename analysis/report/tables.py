"""Tables as LaTeX and HTML."""

from __future__ import annotations

import html
import math
from collections.abc import Callable

import pandas as pd

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def latex_text(text: str) -> str:
    """Text with LaTeX's own signs escaped."""
    return "".join(_LATEX.get(letter, letter) for letter in text)


def cell_text(value: object, digits: int = 3) -> str:
    """A value for people: three decimals, an en dash for undefined."""
    if isinstance(value, float):
        if math.isnan(value):
            return "–"
        if value != 0 and abs(value) < 10**-digits:
            return f"{value:.1e}"
        return f"{value:.{digits}f}"
    return str(value)


def _numeric(table: pd.DataFrame, column: str) -> bool:
    return bool(pd.api.types.is_numeric_dtype(table[column]) and not pd.api.types.is_bool_dtype(table[column]))


def latex_table(table: pd.DataFrame, caption: str, label: str) -> str:
    """A table in booktabs style."""
    names = [str(name) for name in table.columns]
    columns = "".join("r" if _numeric(table, name) else "l" for name in names)
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(latex_text(name) for name in names) + r" \\",
        r"\midrule",
    ]
    lines += [" & ".join(_latex_cell(value) for value in row) + r" \\" for row in _rows(table)]
    lines += [
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{latex_text(caption)}}}",
        rf"\label{{tab:{label}}}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _latex_cell(value: object) -> str:
    text = cell_text(value)
    if text == "–":
        return "--"
    if isinstance(value, float) and text.startswith("-"):
        return f"${text}$"
    return latex_text(text)


def _rows(table: pd.DataFrame) -> list[tuple[object, ...]]:
    return list(table.itertuples(index=False, name=None))


def html_table(table: pd.DataFrame, escape: Callable[[str], str] = html.escape) -> str:
    """A table for the page, numbers to the right."""
    names = [str(name) for name in table.columns]
    side = ["num" if _numeric(table, name) else "txt" for name in names]
    head = "".join(f'<th scope="col" class="{s}">{escape(n)}</th>' for n, s in zip(names, side, strict=True))
    body = []
    for row in _rows(table):
        cells = "".join(f'<td class="{s}">{escape(cell_text(v))}</td>' for v, s in zip(row, side, strict=True))
        body.append(f"<tr>{cells}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
