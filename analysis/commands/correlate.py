"""`correlate`: how well metrics follow a human measure."""

from __future__ import annotations

import argparse

from analysis.cli import CommandResult
from analysis.coefficients import COEFFICIENTS
from analysis.commands._metrics import (
    add_level_and_coefficient,
    add_scores_and_human,
    chosen_metrics,
    count,
    load_scores,
)
from analysis.correlate import INTERVALS, UNDEFINED, correlate
from analysis.cube import build_cube
from analysis.resample import SCHEMES

HELP = "Correlate metrics with a human measure, at system, summary or global level."
COLUMNS = ["metric", "level", "coefficient", "value", "n_used", "n_undefined", "low", "high"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_scores_and_human(parser)
    add_level_and_coefficient(parser, tuple(COEFFICIENTS))
    parser.add_argument("--ci", type=count, default=0, help="bootstrap resamples of an interval")
    parser.add_argument("--resample", choices=SCHEMES, default="systems", help="what the bootstrap redraws")
    parser.add_argument("--interval", choices=INTERVALS, default="bootstrap", help="kind of interval")
    parser.add_argument(
        "--undefined", choices=UNDEFINED, default="drop", help="documents with an undefined correlation"
    )
    parser.add_argument("--score", choices=("mean", "median"), default="mean", help="a system's score")


def run(args: argparse.Namespace) -> CommandResult:
    cube = build_cube(load_scores(args))
    results = correlate(
        cube,
        human=args.human,
        metrics=chosen_metrics(args),
        level=args.level,
        coefficient=args.coefficient,
        ci=args.ci,
        resample=args.resample,
        seed=args.seed,
        undefined=args.undefined,
        score=args.score,
        interval=args.interval,
    )
    results.sort(key=lambda result: -result.value if result.value == result.value else 9)
    notes = [result.note for result in results if result.note]
    if args.interval == "fisher":
        notes.append("Intervals: 95 %, Fisher's z with the standard errors of Bonett and Wright (2000).")
    elif args.ci:
        kind = "plain percentile" if args.interval == "percentile" else "expanded percentile (Hesterberg 2015)"
        drawn = f"{args.ci} bootstrap resamples of {args.resample}, seed {args.seed}"
        notes.append(f"Intervals: 95 %, {kind}, {drawn}.")
    rows = [{column: getattr(result, column) for column in COLUMNS} for result in results]
    return CommandResult(rows, COLUMNS, notes)
