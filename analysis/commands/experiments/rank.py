"""`rank`: systems by a metric, with paired tests between them."""

from __future__ import annotations

import argparse

from analysis.cli import CommandResult
from analysis.cli.arguments import resamples
from analysis.commands._metrics import add_plot, add_scores, load_scores
from analysis.compare.adjust import CORRECTIONS
from analysis.experiments.ranking import TESTS, Ranking, rank_systems

HELP = "Rank systems by one metric and test every pair of them."
COLUMNS = ["better", "worse", "difference", "p", "p_adjusted", "n"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_scores(parser)
    parser.add_argument("--metric", required=True, help="the metric to rank by")
    parser.add_argument("--score", choices=("mean", "median"), default="mean", help="a system's score")
    parser.add_argument("--test", choices=TESTS, default="auto", help="default: by what the scores look like")
    parser.add_argument("--correction", choices=CORRECTIONS, default="holm", help="for many comparisons")
    parser.add_argument("--resamples", type=resamples, default=1000, help="draws of the randomisation test")
    add_plot(parser)


def run(args: argparse.Namespace) -> CommandResult:
    ranking = rank_systems(
        load_scores(args),
        args.metric,
        score=args.score,
        test=args.test,
        correction=args.correction,
        resamples=args.resamples,
        seed=args.seed,
    )
    if args.plot:
        _draw(args, ranking)
    order = ", ".join(f"{name} {_short(value)}" for name, value in zip(ranking.systems, ranking.values, strict=True))
    notes = [
        f"By {args.score} {args.metric}: {order}.",
        f"Test: {ranking.test}, one-sided ({ranking.why}); p adjusted: {args.correction}; seed {args.seed}.",
    ]
    return CommandResult([{name: getattr(test, name) for name in COLUMNS} for test in ranking.tests], COLUMNS, notes)


def _short(value: float) -> str:
    return f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e7 else f"{value:.4g}"


def _draw(args: argparse.Namespace, ranking: Ranking) -> None:
    from analysis.plot import save
    from analysis.plot.metrics import system_matrix

    save(system_matrix(ranking, args.metric), args.plot)
