"""`correlate`: how well metrics follow a human measure."""

from __future__ import annotations

import argparse
from dataclasses import asdict

import pandas as pd

from analysis.cli import CommandResult, UsageError
from analysis.cli.arguments import draws, too_few
from analysis.commands._metrics import (
    add_level_and_coefficient,
    add_plot,
    add_scores_and_human,
    chosen_metrics,
    load_scores,
)
from analysis.correlate import ESTIMANDS, INTERVALS, UNDEFINED, CorrelationResult, correlate, interval_caution
from analysis.correlate.coefficients import COEFFICIENTS
from analysis.correlate.intervals import is_skewed
from analysis.correlate.resample import SCHEMES
from analysis.correlate.score_cube import ScoreCube, build_cube

HELP = "Correlate metrics with a human measure, at system, summary or global level."
FIGURES = ("bars", "levels", "scatter")
COLUMNS = ["metric", "level", "coefficient", "value", "n_used", "n_undefined", "low", "high"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_scores_and_human(parser)
    add_level_and_coefficient(parser, tuple(COEFFICIENTS))
    parser.add_argument(
        "--ci", type=draws, default=0, help="give intervals, with so many resamples where they are drawn"
    )
    parser.add_argument(
        "--resample",
        choices=SCHEMES,
        default="systems",
        help="what else the interval speaks of: other systems, these on all documents, or both",
    )
    parser.add_argument(
        "--interval", choices=INTERVALS, default="auto", help="kind of interval (auto: the one that covers best)"
    )
    parser.add_argument(
        "--undefined", choices=UNDEFINED, default="drop", help="documents with an undefined correlation"
    )
    parser.add_argument("--score", choices=("mean", "median"), default="mean", help="a system's score")
    parser.add_argument("--given", metavar="MEASURE", help="partial correlation given this measure, such as length")
    parser.add_argument(
        "--figure",
        choices=FIGURES,
        default="bars",
        help="what --plot draws; scatter: the best metric, system by system",
    )
    add_plot(parser)


def run(args: argparse.Namespace) -> CommandResult:
    scores = load_scores(args)
    cube = build_cube(scores)
    if args.given:
        return _given(args, cube)
    results = _correlate(args, cube, args.level)
    if not results:
        raise UsageError(f"There is no metric beside {args.human} to correlate with it; add a table of scores.")
    results.sort(key=lambda result: -result.value if result.value == result.value else 9)
    if args.plot:
        _draw(args, scores, cube, results)
    notes = [result.note for result in results if result.note]
    if results[0].interval:
        notes.append(_about_intervals(args, results[0], cube))
    rows = [{column: getattr(result, column) for column in COLUMNS} for result in results]
    return CommandResult(rows, COLUMNS, notes)


def _given(args: argparse.Namespace, cube: ScoreCube) -> CommandResult:
    from analysis.models.partial import partial_correlate

    if args.plot or args.ci:
        raise UsageError("--given prints partial correlations with Fisher's interval; leave --plot and --ci out.")
    results = partial_correlate(
        cube, human=args.human, given=args.given, metrics=chosen_metrics(args), level=args.level, name=args.coefficient
    )
    results.sort(key=lambda result: -result.value if result.value == result.value else 9)
    note = f"value: the correlation with {args.human} given {args.given}; with_given: the metric's with {args.given}."
    return CommandResult([asdict(result) for result in results], [], [note])


def _about_intervals(args: argparse.Namespace, result: CorrelationResult, cube: ScoreCube) -> str:
    """How the intervals were made, and what they speak of."""
    kinds = {
        "exact": "from the distribution of r for normal scores",
        "fisher": "Fisher's z with the standard errors of Bonett and Wright (2000)",
        "true-means": "from draws of the systems' true means, given their scores and the documents' noise",
        "bootstrap": "expanded percentile (Hesterberg 2015)",
        "percentile": "plain percentile",
    }
    note = f"Intervals: 95 %, {kinds[result.interval]}"
    if result.resamples:
        is_drawn = result.interval == "true-means"
        what = f"{args.ci} draws" if is_drawn else f"{args.ci} bootstrap resamples of {args.resample}"
        note += f", {what}, seed {args.seed}"
    note += f". They speak of {ESTIMANDS[args.resample]}.{too_few(args.ci) if result.resamples else ''}"
    cautions = [interval_caution(result, len(cube.systems))]
    if args.level == "system" and args.coefficient == "pearson" and is_skewed(cube.system_scores(args.human)):
        cautions.append(f"The systems' scores by {args.human} are not normal: such intervals may cover 80 %, not 95.")
    return " ".join([note, *filter(None, cautions)])


def _correlate(args: argparse.Namespace, cube: ScoreCube, level: str) -> list[CorrelationResult]:
    return correlate(
        cube,
        human=args.human,
        metrics=chosen_metrics(args),
        level=level,
        coefficient=args.coefficient,
        ci=args.ci,
        resample=args.resample,
        seed=args.seed,
        undefined=args.undefined,
        score=args.score,
        interval=args.interval,
    )


def _draw(args: argparse.Namespace, scores: pd.DataFrame, cube: ScoreCube, results: list[CorrelationResult]) -> None:
    from analysis.plot import save, system_scatter
    from analysis.plot.metrics import correlation_bars, level_difference

    if args.figure == "scatter":
        best = results[0].metric
        chart = system_scatter(scores, args.human, best, args.coefficient, args.ci or 1000, args.seed)
    elif args.figure == "levels":
        levels = {level: _correlate(args, cube, level) for level in ("system", "summary")}
        chart = level_difference(levels["system"], levels["summary"], args.human)
    else:
        chart = correlation_bars(results, args.human)
    save(chart, args.plot)
