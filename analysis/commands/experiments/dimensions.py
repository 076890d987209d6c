"""`dimensions`: metrics against several human dimensions, systems by every measure."""

from __future__ import annotations

import argparse
from typing import Any

from analysis.cli import CommandResult, UsageError
from analysis.cli.arguments import positive
from analysis.commands._metrics import (
    add_metrics,
    add_plot,
    add_scores,
    chosen_metrics,
    load_scores,
    split_names,
)
from analysis.correlate.coefficients import COEFFICIENTS
from analysis.correlate.score_cube import build_cube
from analysis.experiments.dimensions import metrics_by_dimension, metrics_by_metric, systems_by_measure

HELP = "Correlate metrics with several human dimensions; tables of systems by dimension and by metric."
TABLES = ("metrics", "systems", "scores", "agreement")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_scores(parser)
    parser.add_argument("--dimensions", required=True, metavar="A,B", help="the human dimensions in the table")
    add_metrics(parser)
    parser.add_argument(
        "--table",
        choices=TABLES,
        default="metrics",
        help="metrics × dimensions, systems × dimensions, systems × metrics (scores), or metrics × metrics",
    )
    parser.add_argument("--coefficient", choices=tuple(COEFFICIENTS), default="kendall", help="coefficient")
    parser.add_argument("--best", type=positive, help="how many of each column are marked (5; systems: 3)")
    parser.add_argument("--lowest", default="", metavar="A,B", help="measures where less is better")
    add_plot(parser)


def run(args: argparse.Namespace) -> CommandResult:
    cube = build_cube(load_scores(args))
    dimensions = split_names(args.dimensions)
    metrics = chosen_metrics(args) or [name for name in cube.metrics if name not in dimensions]
    if not metrics and args.table != "systems":
        raise UsageError("There is no metric beside the dimensions; add a table of scores.")
    lowest = split_names(args.lowest)
    for name in lowest:
        cube.index(name)
    rows: list[Any]
    if args.table == "metrics":
        rows = list(
            metrics_by_dimension(
                cube, dimensions=dimensions, metrics=metrics, coefficient=args.coefficient, best=args.best or 5
            )
        )
        shape = ("metric", "dimension")
    elif args.table == "agreement":
        rows, shape = list(metrics_by_metric(cube, metrics=metrics, coefficient=args.coefficient)), ("a", "b")
    else:
        measures = dimensions if args.table == "systems" else metrics
        best = args.best or (3 if args.table == "systems" else 5)
        rows = list(systems_by_measure(cube, measures=measures, best=best, lowest=lowest))
        shape = ("system", "measure")
    if args.plot:
        _draw(args, rows, shape)
    notes = [] if args.table == "agreement" else ["Best: among the highest of its column, ties included."]
    return CommandResult([dict(vars(row)) for row in rows], [], notes)


def _draw(args: argparse.Namespace, rows: list[Any], shape: tuple[str, str]) -> None:
    from analysis.plot import save
    from analysis.plot.metrics import frame_of, value_matrix

    frame = frame_of(rows)
    if args.table in ("systems", "scores"):
        low, high = (frame.groupby(shape[1])["value"].transform(name) for name in ("min", "max"))
        frame["value"] = 2 * (frame["value"] - low) / (high - low).where(high > low, 1) - 1
    titles = {
        "metrics": "Metrics by dimension",
        "agreement": "Agreement between metrics",
        "systems": "Systems by dimension, scaled within each",
        "scores": "Systems by metric, scaled within each",
    }
    mark_column = "best" if args.table != "agreement" else None
    subtitle = f"system level, {args.coefficient}" if args.table in ("metrics", "agreement") else "−1 worst, 1 best"
    save(value_matrix(frame, shape[0], shape[1], "value", titles[args.table], subtitle, mark_column), args.plot)
