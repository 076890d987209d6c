"""`python -m analysis power`: what a study needs before it starts."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict
from typing import Any

import pandas as pd

from analysis.cli import CommandResult, UsageError, add_batches, load, load_judgments
from analysis.cli.arguments import amount, chart_file, positive
from analysis.commands._judges import add_sides, sides
from analysis.planning import CROWDS, Variances, metric_power, pilot_variances, plan, with_fee
from analysis.planning.protocols import compare_protocols, seconds_per_assignment
from analysis.planning.savings import documents_with_model, judge_quality
from analysis.tables.batches import LATEST, choose_batches

HELP = "How many documents, workers and check items tell two systems (or two metrics) apart, and what that costs."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("judgments", metavar="PILOT", nargs="?", help="judgments of a pilot; its scatter is used")
    parser.add_argument("--difference", type=float, default=0.05, help="difference of two systems to be seen (0.05)")
    parser.add_argument("--sd-document", type=amount, help="assumed standard deviation between documents")
    parser.add_argument("--sd-worker", type=amount, help="assumed standard deviation between workers")
    parser.add_argument("--workers", default="1,2,3,4,5", metavar="K,K,…", help="workers per summary to consider")
    parser.add_argument("--systems", type=positive, default=2, help="systems to be judged, for the cost (2)")
    parser.add_argument("--price", type=amount, default=0.0, help="pay per assignment")
    parser.add_argument("--crowd", choices=CROWDS, default="mturk", help="whose fee comes on top of the price")
    parser.add_argument("--fee", type=amount, help="the market's share on top, instead of the crowd's usual one")
    parser.add_argument("--power", type=float, default=0.8, help="wanted probability to see it (0.8)")
    parser.add_argument("--alpha", type=float, default=0.05, help="level of significance (0.05)")
    parser.add_argument("--metrics", metavar="R12,R13,R23", help="two metrics instead: their correlations")
    parser.add_argument(
        "--chart", type=chart_file, metavar="FILE", help="write the power curves as .svg, .pdf or .json"
    )
    parser.add_argument("--protocols", action="store_true", help="what each protocol of the judgments buys instead")
    parser.add_argument("--prices", metavar="P=X,…", help="with --protocols: pay per assignment, such as likert=0.6")
    parser.add_argument("--wage", type=amount, help="with --protocols: pay per hour, for those without a price")
    add_sides(parser)
    parser.add_argument(
        "--model-documents", type=positive, metavar="N", help="documents that a model judges (default: any number)"
    )
    add_batches(parser)


def run(args: argparse.Namespace) -> CommandResult:
    if (args.people or args.model_documents) and not args.models:
        raise UsageError("--people and --model-documents go with --models, such as --models role=model.")
    if (args.prices or args.wage is not None) and not args.protocols:
        raise UsageError("--prices and --wage go with --protocols.")
    if args.protocols:
        return _protocols(args)
    return _metrics(args) if args.metrics else _systems(args)


def _numbers(text: str, option: str) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError as error:
        raise UsageError(f"{option} needs numbers with commas between them, not {text!r}.") from error


def _protocols(args: argparse.Namespace) -> CommandResult:
    """What a dollar buys by each protocol that was collected."""
    if not args.judgments:
        raise UsageError("Give the judgments of a study that was judged by two protocols or more.")
    with_checks = argparse.Namespace(**{**vars(args), "include_checks": True})  # they are paid for as well
    choice = load_judgments(with_checks, args.judgments)
    prices = _prices(args, choice.judgments)
    purchases = compare_protocols(choice.judgments, prices, alpha=args.alpha, seed=args.seed)
    best, *others = purchases
    notes = [
        "Widths are of intervals by documents, in standard deviations of the systems' values; at equal cost they "
        "shrink as 1/√cost. Told apart: pairs of systems, by Holm.",
        f"For the same money {best.protocol} ({best.measure}) gives the narrowest intervals: "
        f"{best.width_at_equal_cost:.2f} against {others[0].width_at_equal_cost:.2f} by {others[0].protocol} "
        f"({others[0].measure}).",
    ]
    notes += [str(choice.sentence)] if choice.sentence else []
    return CommandResult([asdict(purchase) for purchase in purchases], [], notes)


def _prices(args: argparse.Namespace, judgments: pd.DataFrame) -> dict[str, float]:
    """What an assignment cost, with the market's fee: as given, the price for all, or by the hour."""
    if "protocol" not in judgments.columns:
        return {}
    prices = _given_prices(args.prices)
    for name, rows in judgments.groupby("protocol"):
        if args.wage is not None:
            prices.setdefault(str(name), args.wage * seconds_per_assignment(rows) / 3600)
        elif args.price:
            prices.setdefault(str(name), args.price)
    if unpriced := sorted(name for name, price in prices.items() if not price > 0):
        raise UsageError(f"{', '.join(unpriced)} has no seconds recorded; give --prices {unpriced[0]}=….")
    workers = int(judgments.groupby(["protocol", "doc_id", "system", "unit"])["worker_id"].nunique().median())
    return {name: with_fee(price, workers, args.crowd, args.fee) for name, price in prices.items()}


def _given_prices(text: str | None) -> dict[str, float]:
    pairs = [entry.partition("=") for entry in (text or "").split(",") if entry.strip()]
    try:
        return {name.strip(): amount(price) for name, _, price in pairs}
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"--prices needs a price for each protocol, such as likert=0.6: {error}") from None


def _systems(args: argparse.Namespace) -> CommandResult:
    variances = _variances(args)
    workers = [int(number) for number in _numbers(args.workers, "--workers")]
    plans = plan(
        args.difference,
        variances,
        workers=workers,
        systems=args.systems,
        power=args.power,
        alpha=args.alpha,
        price=args.price,
        fee=args.fee,
        crowd=args.crowd,
    )
    if args.chart:
        from analysis.planning.chart import power_curve, system_power_chart
        from analysis.plot import save

        max_documents = max((row.documents or 0) for row in plans)
        curve = power_curve(args.difference, variances, workers, max_documents, args.alpha)
        save(system_power_chart(curve, args.power, args.difference), args.chart)
    notes = [
        f"To see a difference of {args.difference:g} with power {args.power:g} at {args.alpha:g}; standard deviation "
        f"{math.sqrt(variances.document):.4f} between documents, {math.sqrt(variances.worker):.4f} between workers "
        f"({variances.source})."
    ]
    rows = [asdict(row) for row in plans]
    if args.models:
        notes.append(_with_model(args, rows, variances))
    return CommandResult(rows, [], notes)


def _with_model(args: argparse.Namespace, rows: list[dict[str, Any]], variances: Variances) -> str:
    """What a judge of the pilot's quality would save: two more columns, and a sentence."""
    if not args.judgments:
        raise UsageError("What a model saves is seen in a pilot that people and model judged; give its judgments.")
    models, people = sides(load(args, args.judgments, "judgments"), args, args.judgments)
    quality = judge_quality(people, models, seed=args.seed)
    for row in rows:
        needed = row["documents"]
        row["documents_with_model"] = needed and documents_with_model(
            needed, quality, variances, row["workers"], args.model_documents
        )
        row["assignments_saved"] = needed and (needed - row["documents_with_model"]) * args.systems * row["workers"]
    facts = (
        f"Its scores follow people's with r = {quality.correlation:.3f} [{quality.low:.3f}, {quality.high:.3f}] within "
        f"documents and systems ({quality.n_documents} documents)"
    )
    if not any(row["assignments_saved"] for row in rows):
        return f"{facts}: as far as can be told, this judge saves none of the human judgments."
    return f"{facts}: with aggregate --scheme prediction-powered it saves the assignments above."


def _variances(args: argparse.Namespace) -> Variances:
    if args.sd_document is not None and args.sd_worker is not None:
        return Variances(args.sd_document**2, args.sd_worker**2)
    if not args.judgments:
        raise UsageError("Give a pilot's judgments, or --sd-document and --sd-worker.")
    variances = pilot_variances(_pilot(args))
    document = variances.document if args.sd_document is None else args.sd_document**2
    worker = variances.worker if args.sd_worker is None else args.sd_worker**2
    return Variances(document, worker, variances.source)


def _pilot(args: argparse.Namespace) -> pd.DataFrame:
    """The people's judgments of the pilot."""
    if not args.models:
        return load_judgments(args, args.judgments).judgments
    _, people = sides(load(args, args.judgments, "judgments"), args, args.judgments)
    return choose_batches(people, args.batches or LATEST).judgments


def _metrics(args: argparse.Namespace) -> CommandResult:
    correlations = _numbers(args.metrics, "--metrics")
    if len(correlations) != 3:
        raise UsageError("--metrics needs three correlations: human and metric 2, human and metric 3, 2 and 3.")
    points = metric_power(correlations[0], correlations[1], correlations[2], alpha=args.alpha, seed=args.seed)
    if args.chart:
        from analysis.planning.chart import metric_power_chart
        from analysis.plot import save

        save(metric_power_chart(points, args.power), args.chart)
    enough = next((point.systems for point in points if point.power >= args.power), None)
    answer = f"{enough} systems are enough" if enough else f"{points[-1].systems} systems are not enough"
    notes = [f"{answer} for power {args.power:g}; Williams' test, one-sided at {args.alpha:g}, seed {args.seed}."]
    return CommandResult([asdict(point) for point in points], [], notes)
