"""`python -m analysis filter`: drop workers by named rules, with reasons."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from analysis.cli import CommandResult, UsageError, add_batches, of_people
from analysis.cli.arguments import amount, positive
from analysis.filters import RULES, TIES, FilterPreview, preview
from analysis.tables import read_table, write_table
from analysis.tables.batches import LATEST, choose_batches
from analysis.tables.provenance import provenance, write_provenance
from analysis.tables.where import keep_where, without_checks

HELP = "Drop workers by named rules; every dropped judgment keeps its reason, its evidence and the rule's settings."
COLUMNS = ["rule", "worker_id", "doc_id", "system", "n_rows", "reason"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    rule_forms = "; ".join(f"{kind.name}[{','.join(kind.defaults)}]" for kind in RULES.values())
    parser.add_argument("judgments", metavar="JUDGMENTS", help="judgments table")
    parser.add_argument(
        "--rule",
        action="append",
        required=True,
        metavar="NAME[SETTING=VALUE,…]",
        help=f"repeat to combine; each sees what the ones before it kept. Known: {rule_forms}",
    )
    parser.add_argument("--ties", choices=TIES, default="first", help="equally bad workers of majority-dissent")
    parser.add_argument("--out", metavar="FILE", help="write the kept judgments here")
    parser.add_argument("--dropped", metavar="FILE", help="write the dropped judgments here, with reasons")
    parser.add_argument(
        "--quota", type=positive, metavar="N", help="workers each summary needs (default: as many as now)"
    )
    parser.add_argument("--price", type=amount, default=0.0, help="what one more assignment costs")
    parser.add_argument("--level", default="nominal", help="level of the agreement before and after")
    add_batches(parser)


def run(args: argparse.Namespace) -> CommandResult:
    if args.out and args.dropped and Path(args.out).resolve() == Path(args.dropped).resolve():
        raise UsageError("--out and --dropped name the same file; give kept and dropped judgments one each.")
    judgments = keep_where(read_table(args.judgments, "judgments"), args.where, args.judgments)
    people, models_note = of_people(args, judgments)
    choice = choose_batches(people, args.batches or LATEST)
    effect = preview(
        choice.judgments,
        args.rule,
        seed=args.seed,
        ties=args.ties,
        quota=args.quota,
        price=args.price,
        level=args.level,
        include_checks=args.include_checks,
    )
    notes = [*_notes(effect), *([choice.sentence] if choice.sentence else []), *models_note]
    dropped = pd.concat([effect.result.dropped, choice.set_aside], ignore_index=True)
    for path, rows in ((args.out, effect.result.kept), (args.dropped, dropped)):
        if not path:
            continue
        if not args.include_checks:
            rows = without_checks(rows)
        write_table(rows, path, "judgments")
        settings = {**effect.result.settings, "where": args.where, "batches": choice.rule}
        record = provenance("filter", [args.judgments], settings, args.seed)
        write_provenance(path, record)
        notes.append(f"{len(rows)} judgments written to {path}.")
    return CommandResult([decision.row() for decision in effect.result.decisions], COLUMNS, notes, limit=40)


def _notes(effect: FilterPreview) -> list[str]:
    alpha_before, alpha_after = (
        "undefined" if value != value else f"{value:.6f}" for value in (effect.agreement_before, effect.agreement_after)
    )
    notes = [
        f"{len(effect.result.decisions)} decisions drop {effect.rows_dropped} judgments; "
        f"{effect.workers_dropped} workers are gone altogether.",
        f"Krippendorff's alpha, pooled: {alpha_before} before, {alpha_after} after.",
        *([effect.effect.sentence()] if effect.effect else []),
    ]
    if effect.tasks_below:
        notes.append(
            f"{effect.tasks_below} summaries fall below the quota; {effect.assignments_missing} more assignments "
            f"fill them up, for {effect.cost:.2f}."
        )
    return notes
