"""`python -m analysis systems`: which systems the judgments can tell apart."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from analysis.cli import CommandResult, add_batches, load_judgments, progress
from analysis.cli.arguments import resamples, share
from analysis.compare.systems import CORRECTIONS, RESAMPLE, TESTS, compare_systems

HELP = "Which systems the judgments can tell apart, by a test that knows documents and workers."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("judgments", metavar="JUDGMENTS", help="judgments table")
    parser.add_argument("--unit", metavar="DIMENSION", help="the rated dimension to compare by")
    parser.add_argument("--pairs", action="store_true", help="print every pair instead of every system")
    parser.add_argument("--test", choices=TESTS, default="bootstrap")
    parser.add_argument("--resample", choices=RESAMPLE, default="both", help="what belongs together")
    parser.add_argument("--resamples", type=resamples, metavar="N", help="default: 1000, more for many pairs")
    parser.add_argument("--correction", choices=CORRECTIONS, default="holm", help="for many pairs")
    parser.add_argument("--alpha", type=share, default=0.05, help="level of significance")
    add_batches(parser)


def run(args: argparse.Namespace) -> CommandResult:
    choice = load_judgments(args, args.judgments)
    result = compare_systems(
        choice.judgments,
        unit=args.unit,
        test=args.test,
        resample=args.resample,
        resamples=args.resamples,
        correction=args.correction,
        alpha=args.alpha,
        seed=args.seed,
        watch=lambda items, total: progress(items, total, "blocks of resamples"),
    )
    rows = [asdict(item) for item in (result.pairs if args.pairs else result.systems)]
    method = (
        f"By {result.measure}; {result.test} over {result.resample}, {result.resamples} resamples, seed {result.seed}, "
        f"{result.correction} correction. Systems that share a letter can't be told apart at {result.alpha:g}."
    )
    return CommandResult(rows, [], [method, *([choice.sentence] if choice.sentence else []), *result.warnings])
