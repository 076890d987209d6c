"""`python -m analysis judges`: language models as judges, examined against people."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from analysis.agreement.coefficients import LEVELS
from analysis.cli import CommandResult, UsageError, load
from analysis.cli.arguments import draws
from analysis.commands._judges import add_sides, sides
from analysis.judges import EPSILONS, SCORES, Exam, examine
from analysis.tables import read_table

HELP = "Language models as judges: whether one may stand beside people, or replace one of them."
COLUMNS = ("judge", "group", "omega", "rho", "n_items", "n_people", "alpha_people", "alpha_with", "repeatability")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("judgments", metavar="JUDGMENTS", type=Path, nargs="+", help="judgments tables, read together")
    add_sides(parser)
    parser.add_argument("--score", choices=SCORES, help="closeness to the others (default: accuracy for yes and no)")
    parser.add_argument("--level", choices=LEVELS, help="of alpha (default: nominal for yes and no, else interval)")
    parser.add_argument("--epsilon", type=float, choices=EPSILONS, default=0.2, help="what a judge's low cost is worth")
    parser.add_argument("--by", metavar="COLUMN", help="one line for each value of a column, e.g. unit")
    parser.add_argument("--summaries", type=Path, metavar="FILE", help="summaries table: tells a bias for length")
    parser.add_argument("--kin", action="append", default=[], metavar="JUDGE=SYSTEM", help="a judge's own system")
    parser.add_argument("--ci", type=draws, default=1000, metavar="N", help="resamples of documents behind intervals")


def run(args: argparse.Namespace) -> CommandResult:
    name = " and ".join(path.name for path in args.judgments)
    wants_checks, args.include_checks = args.include_checks, True  # a judge's failed checks are part of the exam
    judgments = load(args, args.judgments, "judgments")
    args.include_checks = wants_checks
    models, people = sides(judgments, args, name)
    exams = examine(
        people,
        models,
        by=args.by,
        level=args.level,
        score=args.score,
        epsilon=args.epsilon,
        lengths=_lengths(args.summaries),
        kin=_kin(args.kin, set(models["worker_id"])),
        resamples=args.ci,
        seed=args.seed,
    )
    rows = [_row(exam) for exam in exams]
    columns = [column for column in COLUMNS if column != "group" or args.by]
    return CommandResult(rows, columns, [_method(args), *(note for exam in exams for note in _notes(exam))])


def _lengths(path: Path | None) -> dict[tuple[str, str], float] | None:
    if path is None:
        return None
    summaries = read_table(path, "summaries")
    keys = zip(summaries["doc_id"], summaries["system"], strict=True)
    return {key: float(len(text.split())) for key, text in zip(keys, summaries["summary"], strict=True)}


def _kin(pairs: list[str], judges: set[str]) -> dict[str, str]:
    kin = {}
    for pair in pairs:
        judge, equals, system = pair.partition("=")
        if not equals or judge not in judges:
            raise UsageError(f"--kin {pair} names no judge; write --kin JUDGE=SYSTEM, of {', '.join(sorted(judges))}.")
        kin[judge] = system
    return kin


def _row(exam: Exam) -> dict[str, object]:
    return {
        "judge": exam.judge,
        "group": exam.group,
        "omega": exam.test.omega,
        "rho": exam.test.rho,
        "rho_low": exam.test.rho_low,
        "rho_high": exam.test.rho_high,
        "epsilon": exam.test.epsilon,
        "n_items": exam.n_items,
        "n_human_items": exam.n_human_items,
        "n_people": exam.n_people,
        "alpha_people": exam.people.value,
        "alpha_people_low": exam.people.low,
        "alpha_people_high": exam.people.high,
        "alpha_with": exam.together.value,
        "alpha_with_low": exam.together.low,
        "alpha_with_high": exam.together.high,
        "repeatability": exam.repeatability,
        "people": [
            {**asdict(rival), "alpha": agreement.value, "alpha_low": agreement.low, "alpha_high": agreement.high}
            for rival in exam.test.rivals
            for agreement in [exam.with_each[rival.person]]
        ],
        "biases": [asdict(bias) for bias in exam.biases],
        "checks": exam.n_checks,
        "checks_failed": exam.n_failed,
        "verdict": str(exam.verdict),
    }


def _method(args: argparse.Namespace) -> str:
    return (
        f"ω: share of people that the judge wins over (alternative annotator test, ε {args.epsilon:g}, Benjamini and "
        "Yekutieli at 0.05); ρ: how often it is at least as close to the others as the person left out. Intervals from "
        f"{args.ci} resamples of documents, seed {args.seed}."
    )


def _notes(exam: Exam) -> list[str]:
    name = exam.judge if exam.group is None else f"{exam.judge}, {exam.group}"
    notes = [f"{name}: {exam.verdict}"]
    if exam.n_items < exam.n_human_items:
        notes.append(f"{name}: examined on {exam.n_items} of the {exam.n_human_items} items that people judged.")
    if exam.n_failed:
        notes.append(f"{name}: failed {exam.n_failed} of {exam.n_checks} check items.")
    notes += [
        f"{name}: goes {'up' if bias.value > 0 else 'down'} with {bias.name} ({bias.kind} {bias.value:+.3f} "
        f"[{bias.low:+.3f}, {bias.high:+.3f}])."
        for bias in exam.biases
        if bias.is_clear
    ]
    return notes
