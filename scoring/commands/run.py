"""`python -m scoring run`: score a corpus of summaries."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from scoring.cli import print_json, print_table, progress_bar
from scoring.run.engines import ENGINES
from scoring.run.files import score_files
from scoring.run.own_references import REFERENCE_SETS

HELP = "score summaries with any mix of metrics"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--summaries", type=Path, required=True, metavar="FILE", help="table of summaries")
    parser.add_argument("--documents", type=Path, required=True, metavar="FILE", help="table of documents")
    parser.add_argument(
        "--metrics", required=True, action="append", metavar="NAMES", help="rouge-1-r,rouge-2-p[stem,stop],…"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the scores table goes")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--engine", choices=ENGINES, default="local", help="where the work is done")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep scores here: reruns cost only what is new")
    parser.add_argument(
        "--references",
        choices=REFERENCE_SETS,
        default="all",
        help="compare with all references, or leave each out in turn and average (a jackknife)",
    )
    parser.add_argument(
        "--skip-missing", action="store_true", help="leave out metrics that cannot run here instead of refusing all"
    )
    parser.add_argument("--json", action="store_true", help="print a list of objects, one per metric")


def run(args: argparse.Namespace) -> None:
    with progress_bar("summaries") as progress:
        lines = score_files(
            args.summaries,
            args.documents,
            args.metrics,
            args.out,
            jobs=args.jobs,
            cache=args.cache,
            engine=args.engine,
            progress=progress,
            references=args.references,
            skip_missing=args.skip_missing,
        )
    rows = [asdict(line) for line in lines]
    if args.json:
        print_json(rows)
    else:
        print_table(rows, ["metric", "n", "undefined", "mean", "signature"])
