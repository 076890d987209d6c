"""Claim: of the simulated studies at most 5 % say "shown" or "refuted" falsely, in every cell of the grid.

Prints three tables as Markdown, as they stand in docs/statistics/coverage.md: how often each interval that the product
prints covers what it speaks of, and what the verdict says of studies whose truth is known, without and with groups of
systems. An interval outside 93–97 % needs a remark, and the sentence that is shown warns; one without fails the
benchmark.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from analysis.compare.stand_in import THRESHOLD
from benchmarks import Measurement
from benchmarks.analysis._coverage import Row, rows
from benchmarks.analysis._verdict_grid import Cell, GroupCell, grid, group_grid

STUDIES = 1000
LEAST, MOST = 0.93, 0.97
SLACK = 0.015
"""Two standard errors of a share simulated with so many studies."""
LIMIT = 5.0


def run() -> Measurement:
    table = list(_printed(rows(STUDIES)))
    cells, group_cells = grid(STUDIES), group_grid(STUDIES // 2)
    print("\n".join([*_verdict_lines(cells), *_group_lines(group_cells)]), flush=True)
    unexplained = [row for row in table if not row.remark and not LEAST - SLACK <= row.coverage <= MOST + SLACK]
    if unexplained:
        names = "; ".join(f"{row.interval} ({row.setting}): {row.coverage:.1%}" for row in unexplained)
        sys.exit(f"These intervals don't cover what they claim, and nothing says why: {names}.")
    worst = max(100 * cell.false for cell in (*cells, *group_cells))
    number = f"{len(cells)} kinds of studies, {STUDIES} each, and {len(group_cells)} with groups, {STUDIES // 2} each"
    note = f"largest share of false verdicts among {number}; peer is the limit"
    return Measurement(ours=worst, peer=LIMIT, claim=1, unit="%", note=note)


def _printed(table: Iterable[Row]) -> Iterator[Row]:
    print("| interval | speaks of | study | covers | |\n|---|---|---|---|---|", flush=True)
    for row in table:
        print(f"| {row.interval} | {row.estimand} | {row.setting} | {row.coverage:.1%} | {row.remark} |", flush=True)
        yield row


def _verdict_lines(cells: list[Cell]) -> list[str]:
    lines = ["", "| true r | systems | metrics | documents | shown | refuted | too little data | false |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for cell in cells:
        kind = f"| {cell.r} | {cell.systems} | {cell.metrics} | {cell.documents}"
        shares = " | ".join(f"{share:.1%}" for share in (cell.shown, cell.refuted, cell.open, cell.false))
        lines.append(f"{kind} | {shares} |")
    lines.append(f"\n`false` is a metric shown below a true r of {THRESHOLD}, or refuted above it.")
    return lines


def _group_lines(cells: list[GroupCell]) -> list[str]:
    lines = ["", "| true r in each group | systems | apart | metrics | documents | shown | refuted | false |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for cell in cells:
        r, sizes = ", ".join(map(str, cell.r)), " + ".join(map(str, cell.sizes))
        kind = f"| {r} | {sizes} | {cell.apart:g} | {cell.metrics} | {cell.documents}"
        shares = " | ".join(f"{share:.1%}" for share in (cell.shown, cell.refuted, cell.false))
        lines.append(f"{kind} | {shares} |")
    return lines
