"""`python -m analysis sample`: choose documents to judge."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from analysis.cli import CommandResult, load
from analysis.cli.arguments import positive
from analysis.planning.sample import sample_documents
from analysis.tables import write_atomically
from analysis.tables.provenance import provenance, write_provenance

HELP = "Choose documents to judge so that easy, hard, clear and contested ones are all there (REALSumm, Algorithm 1)."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scores", metavar="SCORES", nargs="+", type=Path, help="scores of automatic metrics")
    parser.add_argument("--metrics", metavar="NAME,NAME,…", help="metrics to sort by, in order; all otherwise")
    parser.add_argument("--bins", type=positive, default=5, help="bins by mean score (5)")
    parser.add_argument("--slices", type=positive, default=4, help="slices of a bin by deviation (4)")
    parser.add_argument("--out", metavar="FILE", help="write the doc_ids here, one per line")


def run(args: argparse.Namespace) -> CommandResult:
    metrics = args.metrics.split(",") if args.metrics else None
    scores = load(args, args.scores, "scores")
    sample = sample_documents(scores, metrics, bins=args.bins, slices=args.slices, seed=args.seed)
    redrawn = sum(document.redrawn for document in sample.documents)
    notes = [
        f"{len(sample.documents)} distinct documents, seed {sample.seed}; {redrawn} draws were repeated because the "
        f"document had been chosen before, {sample.short} cells had no other left."
    ]
    if args.out:
        lines = "".join(f"{document.doc_id}\n" for document in sample.documents)
        write_atomically(Path(args.out), lines.encode())
        options = {"metrics": metrics, "bins": args.bins, "slices": args.slices, "where": args.where}
        write_provenance(args.out, provenance("sample", args.scores, options, args.seed))
    return CommandResult([asdict(document) for document in sample.documents], [], notes)
