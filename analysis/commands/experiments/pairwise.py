"""`pairwise`: can a metric tell which of two systems is better?"""

from __future__ import annotations

import argparse

from analysis.cli import CommandResult
from analysis.cli.arguments import resamples
from analysis.commands._metrics import add_plot, add_scores_and_human, chosen_metrics, load_scores
from analysis.experiments.pairwise import pairwise_f1

HELP = "Score the metrics' verdicts on pairs of systems against the human verdicts (weighted F1)."
COLUMNS = ["metric", "f1"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_scores_and_human(parser)
    parser.add_argument("--resamples", type=resamples, default=1000, help="bootstrap resamples per pair")
    parser.add_argument(
        "--sides", type=int, choices=(1, 2), default=2, help="level of a verdict: 2 (default), or 1 as in the paper"
    )
    add_plot(parser)


def run(args: argparse.Namespace) -> CommandResult:
    results = pairwise_f1(
        load_scores(args),
        human=args.human,
        metrics=chosen_metrics(args),
        resamples=args.resamples,
        seed=args.seed,
        sides=args.sides,
    )
    if args.plot:
        from analysis.plot import save
        from analysis.plot.metrics import f1_bars

        save(f1_bars(results, args.human), args.plot)
    notes = [
        f"{results[0].pairs} pairs, {args.resamples} resamples of documents, seed {args.seed}; verdicts at 95 %, "
        f"{'two-sided' if args.sides == 2 else 'one-sided as in the paper'}, "
        "resamples with equal means counted half for each side.",
        f"The row {args.human} is the ceiling: the human verdicts against themselves on other resamples.",
    ]
    return CommandResult([{name: getattr(result, name) for name in COLUMNS} for result in results], COLUMNS, notes)
