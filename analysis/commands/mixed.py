"""`python -m analysis mixed`: systems by a model with documents and workers as random effects."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from analysis.cli import CommandResult, load, of_people
from analysis.compare.adjust import CORRECTIONS
from analysis.models.mixed import MODELS, mixed_model

HELP = "Compare systems by a mixed-effects model, linear or ordinal, with effect sizes."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("judgments", metavar="JUDGMENTS", help="judgments table")
    parser.add_argument("--unit", metavar="DIMENSION", help="the rated dimension to model")
    parser.add_argument("--model", choices=MODELS, default="linear", help="linear, or a cumulative logit of the steps")
    parser.add_argument("--pairs", action="store_true", help="print every pair instead of every system")
    parser.add_argument("--correction", choices=CORRECTIONS, default="holm", help="for many pairs")


def run(args: argparse.Namespace) -> CommandResult:
    people, models_note = of_people(args, load(args, args.judgments, "judgments"))
    model = mixed_model(people, kind=args.model, unit=args.unit, correction=args.correction)
    rows = [asdict(item) for item in (model.pairs if args.pairs else model.systems)]
    deviations = ", ".join(f"{factor} {deviation:.3f}" for factor, deviation in model.deviations.items())
    scale = "means" if model.kind == "linear" else "log odds of a higher rating, against the mean of the systems"
    notes = [
        f"By {model.measure}; {model.kind} model of {model.n} judgments, values are {scale}; 95 % intervals, "
        f"{model.correction} correction. Standard deviations: {deviations}.",
        *model.notes,
        *models_note,
    ]
    return CommandResult(rows, [], notes)
