"""`ranges`: do metrics agree with each other, and where on the scale?"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from analysis import cli
from analysis.cli import CommandResult
from analysis.cli.arguments import positive
from analysis.commands._metrics import add_metrics, add_plot, add_scores, chosen_metrics, load_scores
from analysis.experiments.ranges import TOP_RULES, RangeTau, range_correlations
from analysis.tables import read_table

HELP = "Correlate metrics with each other on the whole, the average and the top range of scores."
COLUMNS = ["a", "b", "range", "tau"]
FIGURES = ("whole", "average", "top", "disagreement", "consistency", "scatter", "distributions")
DISAGREEMENT_RULES = ("threshold", "mean")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_scores(parser)
    parser.add_argument("--human", metavar="MEASURE", help="summaries with this measure are the average range")
    add_metrics(parser)
    parser.add_argument("--top", choices=TOP_RULES, help="rule for the top (default: baseline if given, else union)")
    parser.add_argument("--k", type=positive, default=50, help="best summaries per metric for topk and union")
    parser.add_argument("--baseline", metavar="SYSTEM", help="the system that the top must better")
    parser.add_argument("--summaries", type=Path, help="a summaries table: equal texts count once per topic")
    parser.add_argument("--figure", choices=FIGURES, default="whole", help="what --plot draws")
    parser.add_argument(
        "--rule",
        choices=DISAGREEMENT_RULES,
        default="threshold",
        help="disagreement among pairs that both reach a score (threshold), or of about that mean score",
    )
    add_plot(parser)


def run(args: argparse.Namespace) -> CommandResult:
    scores = load_scores(args)
    rule = args.top or ("baseline" if args.baseline else "union")
    results = range_correlations(
        scores,
        metrics=chosen_metrics(args),
        human=args.human,
        top=rule,
        k=args.k,
        baseline=args.baseline,
        texts=read_table(args.summaries, "summaries") if args.summaries else None,
        progress=lambda pairs, total: cli.progress(pairs, total, "pairs"),
    )
    if args.plot:
        _draw(args, scores, results)
    size = {result.range: result.summaries for result in results}
    topics = max(result.topics for result in results)
    notes = [
        f"Kendall's tau-b per topic, mean over {topics} topics; summaries per topic: "
        + ", ".join(f"{name} {count:.1f}" for name, count in size.items())
        + "."
    ]
    notes.append(_rule_sentence(rule, args))
    undefined = sum(result.undefined for result in results)
    if undefined:
        notes.append(f"{undefined} topic values were undefined (constant scores or one summary) and left out.")
    if not args.human:
        notes.append("No average range: name the human measure with --human, and the judged summaries are it.")
    return CommandResult([{name: getattr(result, name) for name in COLUMNS} for result in results], COLUMNS, notes)


def _rule_sentence(rule: str, args: argparse.Namespace) -> str:
    return {
        "baseline": f"Top: better than {args.baseline} for at least one metric.",
        "topk": f"Top: the {args.k} best of each of the two metrics, summaries among both counted twice.",
        "union": f"Top: the {args.k} best of each of the two metrics, without duplicates.",
    }[rule]


def _draw(args: argparse.Namespace, scores: pd.DataFrame, results: list[RangeTau]) -> None:
    from analysis.experiments.curves import consistency, disagreement
    from analysis.plot import ranges as charts
    from analysis.plot import save

    metrics = chosen_metrics(args) or list(dict.fromkeys(metric for pair in results for metric in (pair.a, pair.b)))
    figures: dict[str, Callable[[], Any]] = {
        "disagreement": lambda: charts.disagreement_lines(
            disagreement(scores, metrics=metrics, seed=args.seed, rule=args.rule), args.rule
        ),
        "consistency": lambda: charts.consistency_points(consistency(scores, metrics=metrics, seed=args.seed)),
        "scatter": lambda: charts.scatter_matrix(scores, metrics, args.seed),
        "distributions": lambda: charts.distributions(scores, metrics, args.seed),
    }
    draw = figures.get(args.figure)
    save(draw() if draw else charts.range_matrix(results, args.figure), args.plot)
