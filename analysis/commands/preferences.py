"""`python -m analysis preferences`: strengths of systems from answers that prefer one of two summaries."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from analysis.cli import AnalysisError, CommandResult, TableError, UsageError, add_batches, load, load_judgments
from analysis.cli.arguments import count, share
from analysis.preferences import (
    Strengths,
    comparisons,
    consistency,
    human_scores,
    metric_accuracy,
    preferences_of,
    remarks,
    strengths,
)
from analysis.tables import read_table, write_table
from analysis.tables.provenance import provenance, write_provenance

HELP = "Strengths of systems from preferences (Bradley-Terry with ties), and how far the answers can be trusted."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("preferences", metavar="PREFERENCES", help="preferences table, or judgments of pairs")
    parser.add_argument("--unit", metavar="DIMENSION", help="the dimension that was asked for, where there are several")
    parser.add_argument("--pairs", action="store_true", help="print every pair instead of every system")
    parser.add_argument("--alpha", type=share, default=0.05, help="level of significance")
    parser.add_argument("--ci", type=count, default=1000, metavar="N", help="resamples behind alpha's interval")
    parser.add_argument("--scores", type=Path, metavar="SCORES", help="print how often each metric prefers the same")
    parser.add_argument("--out", metavar="FILE", help="write strengths and win rates as a scores table")
    add_batches(parser)


def run(args: argparse.Namespace) -> CommandResult:
    table, set_aside = _preferences(args)
    preferences = _of_one_unit(table, args.unit)
    compared = comparisons(preferences)
    if args.scores:
        return _of_metrics(args, preferences)
    try:
        result, reason = strengths(compared, alpha=args.alpha), []
    except AnalysisError as error:
        if args.pairs or not args.out:
            raise
        result, reason = None, [f"{error} Only win rates are written."]
    notes = [*set_aside, *reason, *remarks(consistency(preferences, ci=args.ci, seed=args.seed))]
    if args.out:
        write_table(human_scores(compared, result), args.out, "scores")
        options = {name: getattr(args, name) for name in ("unit", "where", "include_checks")}
        write_provenance(args.out, provenance("preferences", [args.preferences], options, args.seed))
        notes.append(f"Written to {args.out}.")
    if result is None:
        return CommandResult([], [], notes)
    rows = [asdict(row) for row in (result.pairs if args.pairs else result.systems)]
    return CommandResult(rows, [], [_method(result), *notes])


def _preferences(args: argparse.Namespace) -> tuple[pd.DataFrame, list[str]]:
    """The table as it is, or from judgments of pairs; and what the batch rule set aside of these."""
    try:
        return load(args, args.preferences, "preferences"), []
    except TableError as error:
        try:
            choice = load_judgments(args, args.preferences)
        except TableError:
            raise error from None
    preferences = preferences_of(choice.judgments)
    if preferences.empty:
        raise UsageError(f"{args.preferences} has no judgments of pairs (protocol preference).")
    return preferences, [str(choice.sentence)] if choice.sentence else []


def _of_one_unit(preferences: pd.DataFrame, unit: str | None) -> pd.DataFrame:
    units = sorted(preferences["unit"].unique()) if "unit" in preferences.columns else []
    if unit is not None and unit not in units:
        raise UsageError(f"There is no dimension {unit!r}; there are {', '.join(units) or 'none'}.")
    if unit is None and len(units) > 1:
        raise UsageError(f"Choose the dimension with --unit: {', '.join(units)}.")
    return preferences[preferences["unit"] == unit].reset_index(drop=True) if unit is not None else preferences


def _of_metrics(args: argparse.Namespace, preferences: pd.DataFrame) -> CommandResult:
    results = metric_accuracy(preferences, read_table(args.scores, "scores"))
    if not results:
        raise UsageError(f"{args.scores.name} has no scores of the summaries that were compared.")
    note = (
        "Pairs of summaries that more people decided one way than the other; equal scores count half, 95 % intervals "
        "by documents."
    )
    return CommandResult([asdict(result) for result in results], [], [note])


def _method(result: Strengths) -> str:
    ties = f"Davidson's ties, ν = {result.tie_parameter:.3f}" if result.tie_parameter else "no ties"
    return (
        f"Log strengths by Bradley and Terry's model ({ties}), intervals of {100 * (1 - result.alpha):g} % by "
        f"{result.n_documents} documents. Systems that share a letter can't be told apart at {result.alpha:g} (Holm)."
    )
