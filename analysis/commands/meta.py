"""`meta`: how well metrics follow people over several studies."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from analysis.cli import CommandResult, UsageError
from analysis.commands._metrics import add_metrics, chosen_metrics, join_scores
from analysis.models.meta import meta_correlate

HELP = "Pool the system-level correlations of several studies, one scores table each (random effects)."
COLUMNS = ["metric", "value", "low", "high", "expected_low", "expected_high", "i_squared", "studies", "systems"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("studies", type=Path, nargs="+", metavar="SCORES", help="a scores table per study")
    parser.add_argument(
        "--human",
        required=True,
        metavar="MEASURE",
        help="the human measure; several, in the tables' order, with commas",
    )
    add_metrics(parser)


def run(args: argparse.Namespace) -> CommandResult:
    humans = args.human.split(",")
    if len(args.studies) < 2:
        raise UsageError("One study has nothing to be pooled with; name at least two scores tables.")
    if len(humans) not in (1, len(args.studies)):
        raise UsageError(
            f"--human names {len(humans)} measures for {len(args.studies)} studies; name one, or one each."
        )
    names = [str(path) for path in args.studies]
    measures = dict(zip(names, humans * len(names) if len(humans) == 1 else humans, strict=True))
    studies = {name: join_scores(args, [Path(name)]) for name in names}
    results = meta_correlate(studies, human=measures, metrics=chosen_metrics(args))
    results.sort(key=lambda result: -result.value)
    notes = [
        "Pearson's r of system means on Fisher's scale, random effects (DerSimonian and Laird), 95 % intervals by "
        "Hartung and Knapp; expected: where the true correlation of a further study lies.",
    ]
    rows = [asdict(result) for result in results]
    return CommandResult([{column: row[column] for column in COLUMNS} for row in rows], COLUMNS, notes)
