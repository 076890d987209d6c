"""`python -m analysis agreement`: how far the workers agree."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from analysis.agreement import CLUSTERS, UNDEFINED, AgreementResult, agreement
from analysis.agreement.coefficients import KERNELS, LEVELS
from analysis.agreement.raters import RATER_COEFFICIENTS
from analysis.cli import CommandResult, add_batches, load_judgments, progress
from analysis.cli.arguments import draws, too_few

HELP = "How far the workers agree: Krippendorff's alpha and its kin, pooled or per item, with intervals."
FIELDS = ("coefficient", "level", "value", "n_units", "n_undefined", "low", "high")
EXTRA = ("per", "undefined", "cluster", "resamples", "seed", "n_judgments", "n_workers")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("judgments", metavar="JUDGMENTS", help="judgments table")
    parser.add_argument("--coefficient", choices=[*KERNELS, *RATER_COEFFICIENTS], default="alpha")
    parser.add_argument("--level", choices=LEVELS, default="nominal", help="what differences between values mean")
    parser.add_argument("--per", metavar="COLUMNS", help="average over items, e.g. doc_id,system; pooled otherwise")
    parser.add_argument("--undefined", choices=UNDEFINED, default="drop", help="items whose answers are all equal")
    parser.add_argument("--by", metavar="COLUMN", help="one line for each value of a column, e.g. system or unit")
    parser.add_argument("--ci", type=draws, default=0, metavar="N", help="95 %% interval from N bootstrap resamples")
    parser.add_argument("--cluster", metavar="COLUMN", help=f"what to resample: {' | '.join(CLUSTERS)}")
    add_batches(parser)


def run(args: argparse.Namespace) -> CommandResult:
    choice = load_judgments(args, args.judgments)
    per = [name.strip() for name in args.per.split(",")] if args.per else None
    results = agreement(
        choice.judgments,
        coefficient=args.coefficient,
        level=args.level,
        per=per,
        undefined=args.undefined,
        by=args.by,
        ci=args.ci,
        cluster=args.cluster,
        seed=args.seed,
        include_checks=args.include_checks,
        watch=lambda items, total: progress(items, total, "resamples"),
    )
    columns = [*(["group"] if args.by else []), *FIELDS]
    notes = [_method(results[0], args.by), *([choice.sentence] if choice.sentence else [])]
    notes += [note for result in results for note in result.notes]
    return CommandResult([_row(result, bool(args.by)) for result in results], columns, notes)


def _row(result: AgreementResult, is_grouped: bool) -> dict[str, object]:
    facts = asdict(result)
    row = {"group": facts["group"]} if is_grouped else {}
    row |= {name: facts[name] for name in (*FIELDS, *EXTRA)}
    row["per"] = list(result.per)
    return row


def _method(result: AgreementResult, by: str | None) -> str:
    if by == "worker_id":
        note = "Each worker against the others who judged the same units."
    elif result.per:
        policy = "counted as 1" if result.undefined == "one" else "left out"
        note = f"Mean over items ({', '.join(result.per)}); items whose answers are all equal are {policy}."
    else:
        note = "Pooled over all units."
    if result.resamples:
        note += f" 95 % intervals from {result.resamples} resamples of {result.cluster or 'unit'}, seed {result.seed}."
        note += too_few(result.resamples)
    return note
