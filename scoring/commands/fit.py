"""`python -m scoring fit`: learn a metric from a study's human scores."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from scoring.cli import print_json, print_table, progress_bar
from scoring.errors import ScoringError

MOST_RESAMPLES = 1_000_000
HELP = "learn a metric: a regression over metrics, trained on human scores"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metrics", action="append", default=[], metavar="NAMES", help="ingredients; default: all others in the scores"
    )
    parser.add_argument("--name", help="the model's name (default: that of its file)")
    add_training_arguments(parser)


def add_training_arguments(parser: argparse.ArgumentParser) -> None:
    """What `fit` and `train-s3` share."""
    parser.add_argument(
        "--scores", type=Path, nargs="+", required=True, metavar="FILE", help="scores with the human measure"
    )
    parser.add_argument("--human", required=True, metavar="NAME", help="the human measure to foretell")
    parser.add_argument("--summaries", type=Path, metavar="FILE", help="to compute metrics that the scores lack")
    parser.add_argument("--documents", type=Path, metavar="FILE", help="to compute metrics that the scores lack")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the model goes (JSON)")
    parser.add_argument("--folds", type=int, default=10, metavar="N", help="folds of documents (default 10)")
    parser.add_argument("--ci", type=int, default=1000, metavar="N", help="resamples for intervals (default 1000)")
    parser.add_argument("--coefficient", choices=("pearson", "spearman", "kendall"), default="pearson")
    parser.add_argument("--seed", type=int, default=0, help="0 or more (default 0)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep computed scores here")
    parser.add_argument("--json", action="store_true", help="print a list of objects, one per metric and level")


def run(args: argparse.Namespace) -> None:
    train_files(args, args.metrics, args.name or args.out.name.partition(".")[0], "learned")


def train_files(args: argparse.Namespace, metrics: list[str], name: str, kind: str) -> None:
    """Train, write the model, print what it is worth."""
    from scoring.learned.examples import collect
    from scoring.learned.model_file import write_model
    from scoring.learned.train import Settings, train

    if (args.summaries is None) != (args.documents is None):
        raise ScoringError("Give both --summaries and --documents, or neither.")
    if args.folds < 2 or not 0 <= args.ci <= MOST_RESAMPLES or args.seed < 0:
        raise ScoringError(f"Folds are 2 or more, resamples 0 to {MOST_RESAMPLES:,}, and a seed is 0 or more.")
    texts = None if args.summaries is None else (args.summaries, args.documents)
    with progress_bar("summaries") as progress:
        examples = collect(args.scores, args.human, metrics, texts, jobs=args.jobs, cache=args.cache, progress=progress)
    settings = Settings(args.human, args.folds, args.seed, args.ci, args.coefficient)
    trained = train(examples, settings, name, kind)
    write_model(trained.model, args.out)
    rows = [asdict(row) | {"verdict": trained.verdict} for row in trained.rows]
    if args.json:
        print_json(rows)
        return
    table_rows = [{key: float("nan") if value is None else value for key, value in row.items()} for row in rows]
    print_table(table_rows, ["metric", "level", "coefficient", "value", "low", "high", "difference", "is_best"])
    folds = trained.model.cross_validation["folds"]
    print(f"{trained.verdict} All from predictions for documents that were held out, in {folds} folds.")
    if examples.dropped:
        print(f"{examples.dropped} judged summaries lack a metric and were left out.")
    print(f"The model is {args.out}: --metrics '{kind}[model={args.out}]' scores with it.")
