"""`variants`: every variant of a metric against people, optimal ones marked."""

from __future__ import annotations

import argparse

from analysis.cli import CommandResult, UsageError
from analysis.commands._metrics import add_metrics, add_plot, add_scores, chosen_metrics, load_scores
from analysis.compare.adjust import CORRECTIONS
from analysis.correlate.coefficients import COEFFICIENTS
from analysis.experiments.variants import compare_combinations, compare_variants, option_shares

HELP = "Compare all variants of metrics (options, mean or median): correlation, optimal marks, shares of options."
TABLES = ("variants", "options", "combinations")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_scores(parser)
    parser.add_argument("--human", metavar="MEASURE", help="the human measure")
    add_metrics(parser)
    parser.add_argument("--table", choices=TABLES, default="variants", help="what to print")
    parser.add_argument("--coverage", metavar="MEASURE", help="human coverage, for combinations")
    parser.add_argument("--quality", metavar="MEASURE", help="human linguistic quality, for combinations")
    parser.add_argument("--coefficient", choices=tuple(COEFFICIENTS), default="pearson", help="coefficient")
    parser.add_argument("--correction", choices=CORRECTIONS, default="none", help="as in the paper: none")
    add_plot(parser)


def run(args: argparse.Namespace) -> CommandResult:
    scores = load_scores(args)
    if args.table == "combinations":
        if not (args.coverage and args.quality):
            raise UsageError("Combinations of human scores need --coverage and --quality.")
        combinations = compare_combinations(
            scores,
            coverage=args.coverage,
            quality=args.quality,
            metrics=chosen_metrics(args),
            correction=args.correction,
        )
        return CommandResult([dict(vars(row)) for row in combinations], [], [_note(args)])
    if not args.human:
        raise UsageError("Name the human measure with --human.")
    results, comparison = compare_variants(
        scores,
        human=args.human,
        metrics=chosen_metrics(args),
        coefficient=args.coefficient,
        correction=args.correction,
    )
    if args.plot:
        from analysis.plot import save
        from analysis.plot.metrics import significance_matrix

        save(significance_matrix(comparison), args.plot)
    if args.table == "options":
        return CommandResult([dict(vars(row)) for row in option_shares(results)], [], [_note(args)])
    rows = [{**vars(r.variant), "value": r.value, "optimal": r.optimal} for r in results]
    return CommandResult(rows, [], [_note(args)])


def _note(args: argparse.Namespace) -> str:
    return (
        f"Optimal: no other variant is significantly better by Williams' test at 5 % (correction: {args.correction})."
    )
