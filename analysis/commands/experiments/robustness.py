"""`robustness`: how much a metric depends on one of its options."""

from __future__ import annotations

import argparse

from analysis.cli import CommandResult
from analysis.commands._metrics import add_plot, add_scores_and_human, load_scores, split_names
from analysis.correlate.coefficients import COEFFICIENTS
from analysis.correlate.resample import LEVELS
from analysis.experiments.robustness import by_option

HELP = "Correlations of a metric's variants by the setting of one option, such as the number of references."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_scores_and_human(parser)
    parser.add_argument("--option", required=True, help="the option in the metrics' brackets, such as k or references")
    parser.add_argument("--level", choices=LEVELS, default="summary", help="level of correlation")
    parser.add_argument("--coefficients", default="pearson,spearman", metavar="A,B", help=", ".join(COEFFICIENTS))
    add_plot(parser)


def run(args: argparse.Namespace) -> CommandResult:
    points = by_option(
        load_scores(args),
        human=args.human,
        option=args.option,
        level=args.level,
        coefficients=split_names(args.coefficients),
    )
    if args.plot:
        from analysis.plot import save
        from analysis.plot.metrics import option_lines

        save(option_lines(points, args.human), args.plot)
    note = f"{args.level} level; where several variants share a setting, their correlations are averaged."
    return CommandResult([dict(vars(point)) for point in points], [], [note])
