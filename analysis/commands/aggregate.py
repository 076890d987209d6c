"""`python -m analysis aggregate`: human scores from judgments."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from analysis.aggregate import SCHEMES, TIES, aggregate, combine, unlinkable_note
from analysis.cli import CommandResult, UsageError, add_batches, load, load_judgments
from analysis.commands._judges import add_sides, sides
from analysis.judges.prediction_powered import PoweredSystems, powered_measures
from analysis.tables import read_table, write_table
from analysis.tables.batches import LATEST, choose_batches
from analysis.tables.provenance import provenance, write_provenance

POWERED = "prediction-powered"
METHOD = (
    "Means over documents by PPI++ (Angelopoulos et al. 2023), 95 % intervals clustered by documents, beside people "
    "alone; valid whatever the models say, if chance decided which documents people judged. Systems that share a "
    "letter can't be told apart at 0.05 (Holm)."
)
HELP = "One human score per summary: LitePyramid recall, means of dimensions, or a model of the workers."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("judgments", metavar="JUDGMENTS", type=Path, nargs="+", help="judgments tables, read together")
    parser.add_argument("--out", metavar="FILE", help="write the scores table here")
    parser.add_argument("--scheme", choices=(*SCHEMES, POWERED), help="default: majority for yes/no, mean for ratings")
    parser.add_argument("--ties", choices=TIES, default="not-present", help="an SCU on which the votes are even")
    parser.add_argument("--scus", metavar="FILE", help="SCU table whose weights give pyramid_score beside the recall")
    parser.add_argument("--trim", type=float, default=0.2, help="share cut off at each end by trimmed-mean")
    parser.add_argument("--combine", metavar="COVERAGE,QUALITY", help="add a measure that combines two others")
    parser.add_argument("--how", choices=("arithmetic", "geometric", "harmonic"), default="arithmetic")
    parser.add_argument("--quality-range", default="1,5", metavar="LOW,HIGH", help="scale of the quality ratings")
    parser.add_argument("--pairs", action="store_true", help=f"with {POWERED}: print every pair of systems")
    add_sides(parser)
    add_batches(parser)


def run(args: argparse.Namespace) -> CommandResult:
    if args.scheme == POWERED:
        return _powered(args)
    if args.models or args.people or args.pairs:
        raise UsageError(f"--models, --people and --pairs go with --scheme {POWERED}.")
    choice = load_judgments(args, args.judgments)
    scus = read_table(args.scus, "scus") if args.scus else None
    scores = aggregate(
        choice.judgments,
        scheme=args.scheme,
        ties=args.ties,
        scus=scus,
        trim=args.trim,
        include_checks=args.include_checks,
    )
    if args.combine:
        scores = _combined(scores, args)
    notes = [_summary(scores, args.ties), *([choice.sentence] if choice.sentence else [])]
    if note := unlinkable_note(choice.judgments, args.scheme):
        notes.append(note)
    if args.out:
        write_table(scores, args.out, "scores")
        notes.append(_note_origin(args, choice.rule))
    rows = [{str(name): value for name, value in row.items()} for row in scores.to_dict("records")]
    return CommandResult(rows, [str(name) for name in scores.columns], notes, limit=20)


def _note_origin(args: argparse.Namespace, batches: str) -> str:
    inputs = [*map(str, args.judgments), *([args.scus] if args.scus else [])]
    options = {name: getattr(args, name) for name in ("scheme", "ties", "trim", "where", "include_checks")}
    write_provenance(args.out, provenance("aggregate", inputs, options | {"batches": batches}, args.seed))
    return f"Written to {args.out}."


def _powered(args: argparse.Namespace) -> CommandResult:
    """Systems by people with models' help, by PPI++."""
    name = " and ".join(path.name for path in args.judgments)
    choice = choose_batches(load(args, args.judgments, "judgments"), args.batches or LATEST)
    models, people = sides(choice.judgments, args, name)
    results = powered_measures(people, models, args.ties)
    rows = [
        {"metric": measure, **asdict(row)}
        for measure, result in results.items()
        for row in (result.pairs if args.pairs else result.systems)
    ]
    notes = [METHOD, *([choice.sentence] if choice.sentence else [])]
    if args.out:
        write_table(_as_scores(results), args.out, "scores")
        notes.append(_note_origin(args, choice.rule))
    return CommandResult(rows, [], notes)


def _as_scores(results: dict[str, PoweredSystems]) -> pd.DataFrame:
    """Scores of whole systems, under a name of their own."""
    rows = [
        ("*", row.system, f"{measure}_prediction_powered", row.value, row.low, row.high, "human", POWERED)
        for measure, result in results.items()
        for row in result.systems
    ]
    return pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value", "low", "high", "role", "scheme"])


def _summary(scores: pd.DataFrame, ties: str) -> str:
    schemes = ", ".join(
        f"{metric} by {scheme}" for metric, scheme in scores.groupby("metric")["scheme"].first().items()
    )
    summaries = scores.groupby(["doc_id", "system"]).ngroups
    even = f"; an SCU with even votes is {ties}" if "litepyramid_recall" in set(scores["metric"]) else ""
    return f"{len(scores)} scores of {summaries} summaries: {schemes}{even}."


def _combined(scores: pd.DataFrame, args: argparse.Namespace) -> pd.DataFrame:
    """The scores with one more measure: the mean of coverage and quality, as asked."""
    names = args.combine.split(",")
    metrics = sorted(scores["metric"].unique())
    if len(names) != 2 or not set(names) <= set(metrics):
        raise UsageError(f"--combine needs two measures out of {', '.join(metrics)}, with a comma between them.")
    try:
        low, high = (float(edge) for edge in args.quality_range.split(","))
    except ValueError as error:
        raise UsageError("--quality-range needs two numbers with a comma between them, such as 1,5.") from error
    if not -math.inf < low < high < math.inf:
        raise UsageError(f"--quality-range goes from low to high, such as 1,5, and not {args.quality_range}.")
    key = ["doc_id", "system"]
    coverage, quality = (scores[scores["metric"] == name] for name in names)
    combined = coverage.merge(quality[[*key, "value"]], on=key, suffixes=("", "_quality"))
    value = combine(combined["value"].tolist(), combined["value_quality"].tolist(), args.how, (low, high))
    combined = combined.assign(value=value, metric=f"{names[0]}+{names[1]}", low=float("nan"), high=float("nan"))
    added: pd.DataFrame = combined.drop(columns="value_quality").assign(scheme=args.how)
    return pd.concat([scores, added], ignore_index=True)
