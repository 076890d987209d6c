"""`python -m scoring train-s3`: train S3 on a study's human scores."""

from __future__ import annotations

import argparse

from scoring.commands.fit import add_training_arguments, train_files

HELP = "train S3 on human scores: pyramid (s3-pyr) or responsiveness (s3-resp)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--as", dest="kind", choices=("s3-pyr", "s3-resp"), default="s3-pyr", help="which of the two (default s3-pyr)"
    )
    add_training_arguments(parser)


def run(args: argparse.Namespace) -> None:
    from scoring.metrics.s3 import FEATURES

    train_files(args, list(FEATURES), args.kind, args.kind)
