"""`compare`: which differences between metrics are more than chance."""

from __future__ import annotations

import argparse

from analysis import cli
from analysis.cli import CommandResult
from analysis.cli.arguments import positive, resamples
from analysis.commands._metrics import (
    add_level_and_coefficient,
    add_plot,
    add_scores_and_human,
    chosen_metrics,
    load_scores,
)
from analysis.compare import TESTS, Comparison, compare
from analysis.compare.adjust import CORRECTIONS
from analysis.compare.williams import ALTERNATIVES
from analysis.correlate.coefficients import COEFFICIENTS
from analysis.correlate.resample import SCHEMES

HELP = "Test, for every pair of metrics, whether one follows the human measure better than the other."
PAIRS = ["better", "worse", "difference", "statistic", "p", "p_adjusted"]
STANDINGS = ["metric", "value", "optimal", "cluster", "beaten_by"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_scores_and_human(parser)
    add_level_and_coefficient(parser, tuple(COEFFICIENTS))
    parser.add_argument("--test", choices=TESTS, default="perm-systems", help="the test (default: perm-systems)")
    parser.add_argument("--alternative", choices=ALTERNATIVES, default="greater", help="what is tested")
    parser.add_argument("--correction", choices=CORRECTIONS, default="holm", help="for many comparisons")
    parser.add_argument("--resamples", type=resamples, help="swaps or bootstrap resamples (default: enough)")
    parser.add_argument("--resample", choices=SCHEMES, default="systems", help="what the bootstrap redraws")
    parser.add_argument("--score", choices=("mean", "median"), default="mean", help="a system's score")
    parser.add_argument("--flip", action="store_true", help="turn metrics that correlate negatively")
    parser.add_argument(
        "--optimal", action="store_true", help="print the metrics with their clusters, those unbeaten marked"
    )
    parser.add_argument("--jobs", type=positive, default=1, help="processes (default: 1)")
    add_plot(parser)


def run(args: argparse.Namespace) -> CommandResult:
    result = compare(
        load_scores(args),
        human=args.human,
        metrics=chosen_metrics(args),
        test=args.test,
        level=args.level,
        coefficient=args.coefficient,
        alternative=args.alternative,
        correction=args.correction,
        resamples=args.resamples,
        resample=args.resample,
        seed=args.seed,
        score=args.score,
        flip=args.flip,
        jobs=args.jobs,
        progress=lambda pairs, total: cli.progress(pairs, total, "pairs"),
    )
    if args.plot:
        from analysis.plot import save
        from analysis.plot.metrics import significance_matrix

        save(significance_matrix(result), args.plot)
    if args.optimal:
        rows = [{column: getattr(item, column) for column in STANDINGS} for item in result.standings]
        rows = [{**row, "beaten_by": list(item.beaten_by)} for row, item in zip(rows, result.standings, strict=True)]
        return CommandResult(rows, STANDINGS, sentences(result))
    pairs = [{column: getattr(pair, column) for column in PAIRS} for pair in result.pairs]
    return CommandResult(pairs, PAIRS, sentences(result))


def sentences(result: Comparison) -> list[str]:
    """How the comparison was made, and what may be concluded."""
    method = f"{result.test}, {result.alternative}, {result.level} level, {result.coefficient}"
    method += f"; p adjusted: {result.correction}"
    if result.resamples:
        count = f"all {result.resamples} swaps" if result.exact else f"{result.resamples} draws, seed {result.seed}"
        method += f"; {count}"
    notes = [f"{method}.", result.population]
    if result.too_coarse():
        notes.append(result.too_coarse())
    best = [item.metric for item in result.standings if item.optimal]
    if best:
        notes.append(f"Not significantly beaten by any other at {result.alpha:g}: {', '.join(best)}.")
    negative = [item.metric for item in result.standings if item.value < 0]
    if negative and not result.flipped:
        notes.append(
            f"{', '.join(negative)}: negative correlation; where lower is better, turn the metric with --flip."
        )
    if result.flipped:
        notes.append(f"Turned as a whole because of a negative correlation: {', '.join(result.flipped)}.")
    if any(pair.p != pair.p for pair in result.pairs):
        notes.append("Where p is undefined the two metrics order the systems alike, one is constant, or n is below 4.")
    return notes
