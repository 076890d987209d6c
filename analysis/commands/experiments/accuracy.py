"""`accuracy`: how often a metric orders pairs as people do, with ties and with doubt."""

from __future__ import annotations

import argparse

from analysis.cli import CommandResult, UsageError
from analysis.cli.arguments import positive
from analysis.commands._metrics import add_scores_and_human, chosen_metrics, load_scores
from analysis.experiments.accuracy import pair_accuracy

HELP = "Soft pairwise accuracy of systems, and accuracy on pairs of summaries with held-out ties (acc*eq)."
COLUMNS = ["metric", "soft", "accuracy", "plain", "epsilon", "pairs"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_scores_and_human(parser)
    parser.add_argument("--folds", type=positive, default=5, help="folds of documents for the threshold of ties")
    parser.add_argument("--permutations", type=positive, default=1000, help="swaps behind each p value")


def run(args: argparse.Namespace) -> CommandResult:
    results = pair_accuracy(
        load_scores(args),
        human=args.human,
        metrics=chosen_metrics(args),
        folds=args.folds,
        permutations=args.permutations,
        seed=args.seed,
    )
    if not results:
        raise UsageError(f"There is no metric beside {args.human} with scores of single summaries; add a table.")
    results.sort(key=lambda result: -result.soft if result.soft == result.soft else 9)
    notes = [
        "soft: 1 minus the mean distance of the metric's and people's p values over pairs of systems, "
        f"{args.permutations} swaps of documents, seed {args.seed}.",
        "accuracy: pairs of summaries of one document, ties right where people tie; scores closer than epsilon are "
        f"tied, fitted on other documents ({results[0].folds} folds). plain: only equal scores are tied.",
    ]
    return CommandResult([{name: getattr(result, name) for name in COLUMNS} for result in results], COLUMNS, notes)
