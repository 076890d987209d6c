"""`python -m analysis errors`: what people marked as errors, as rates and scores, and whether they mark alike."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from analysis.aggregate import aggregate
from analysis.cli import CommandResult, UsageError, add_batches, load_judgments, progress
from analysis.cli.arguments import draws, too_few
from analysis.errors import PROTOCOL, Marks, place_agreement, rates, read_marks, read_weights, with_weights
from analysis.errors.gamma import gamma
from analysis.errors.marks import error_rows
from analysis.errors.rates import BY
from analysis.tables import write_atomically, write_table
from analysis.tables.provenance import provenance, write_provenance

HELP = "Marked errors: how many per 100 words, penalties and scores by system, and agreement on the places."
COUNTS = ("n_errors", "n_minor", "n_major", "n_annotations")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "judgments", metavar="JUDGMENTS", help="judgments table with the columns spans, words, characters"
    )
    parser.add_argument("--by", default="system", metavar="COLUMNS", help="system (default), category, system,category")
    parser.add_argument("--weights", metavar="POINTS", help="points by severity (default: minor=1,major=5)")
    parser.add_argument("--agreement", action="store_true", help="print how far people mark the same places instead")
    parser.add_argument("--gamma", action="store_true", help="with --agreement: Mathet's gamma too")
    parser.add_argument("--ci", type=draws, default=1000, metavar="N", help="resamples of documents behind intervals")
    parser.add_argument("--spans", type=Path, metavar="FILE", help="write one row per marked error (CSV)")
    parser.add_argument("--out", metavar="FILE", help="write mqm and esa of every summary as a scores table")
    add_batches(parser)


def run(args: argparse.Namespace) -> CommandResult:
    if args.gamma and not args.agreement:
        raise UsageError("--gamma goes with --agreement.")
    choice = load_judgments(args, args.judgments)
    judgments, weights = error_rows(choice.judgments), read_weights(args.weights or "")
    marks = read_marks(judgments, str(args.judgments))
    notes = [choice.sentence] if choice.sentence else []
    if args.spans:
        write_atomically(args.spans, marks.errors.to_csv(index=False).encode())
        notes.append(f"Written to {args.spans}.")
    if args.out:
        notes.append(_write_scores(args, judgments, weights))
    if args.agreement:
        return _agreement(args, marks, notes)
    by = [name.strip() for name in args.by.split(",") if name.strip()]
    results = rates(marks, by=by, weights=weights, ci=args.ci, seed=args.seed)
    columns = [*[name for name in BY if name in by], *COUNTS, "per_100_words", "low", "high"]
    scores = ("mqm",) if "category" in by else ("mqm", "esa")
    columns += [name for score in scores for name in (score, f"{score}_low", f"{score}_high")]
    return CommandResult([asdict(result) for result in results], columns, [_method(args, weights), *notes])


def _write_scores(args: argparse.Namespace, judgments: pd.DataFrame, weights: dict[str, float]) -> str:
    weighted = with_weights(judgments, weights) if args.weights else judgments
    write_table(aggregate(weighted.assign(protocol=PROTOCOL)), args.out, "scores")
    options = {name: getattr(args, name) for name in ("where", "include_checks")} | {"weights": weights}
    write_provenance(args.out, provenance("errors", [args.judgments], options, args.seed))
    return f"Written to {args.out}."


def _agreement(args: argparse.Namespace, marks: Marks, notes: list[str]) -> CommandResult:
    results = place_agreement(marks, ci=args.ci, seed=args.seed)
    if args.gamma:
        watch = lambda items, total: progress(items, total, "summaries")  # noqa: E731
        results.append(gamma(marks, ci=args.ci, seed=args.seed, watch=watch))
    n_unplaced = len(marks.errors) - marks.n_placed
    method = f"Alpha with every character as a unit, nominal; intervals from {args.ci} resamples of documents."
    unplaced = f"{n_unplaced} errors have no place, such as omissions, and are not among them." if n_unplaced else ""
    sentences = [method + too_few(args.ci), *filter(None, [unplaced]), *notes]
    return CommandResult([asdict(result) for result in results], [], sentences)


def _method(args: argparse.Namespace, weights: dict[str, float]) -> str:
    points = ", ".join(f"{name} {weight:g}" for name, weight in weights.items())
    return (
        f"Errors per 100 words over all who looked; mqm is 100 less the points per 100 words ({points}). 95 % "
        f"intervals from {args.ci} resamples of documents, seed {args.seed}.{too_few(args.ci)}"
    )
