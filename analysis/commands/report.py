"""`report`: a study in one folder, ready to read and to print."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import pandas as pd

from analysis.cli import CommandResult, UsageError, select
from analysis.commands._metrics import add_metrics, chosen_metrics, positive
from analysis.provenance import provenance
from analysis.report import build_report, write_report
from analysis.report.write import write_figure
from analysis.tables import find_table, read_table

HELP = "Turn a study's tables into a report: a page with charts, figures, tables, methods and a verdict."
COLUMNS = ["file"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scores", type=Path, metavar="SCORES", help="a scores table, or a folder of exported tables")
    parser.add_argument("--human", metavar="MEASURE", help="the human measure (default: litepyramid_recall if there)")
    add_metrics(parser)
    parser.add_argument("--out", type=Path, default=Path("report"), help="folder to write (default: report)")
    parser.add_argument("--judgments", type=Path, help="the judgments table, for the agreement of the judges")
    parser.add_argument("--summaries", type=Path, help="the summaries table, to notice equal texts")
    parser.add_argument("--title", default="", help="title of the report")
    parser.add_argument("--ci", type=positive, default=1000, help="bootstrap resamples (default: 1000)")
    parser.add_argument("--figure", metavar="NAME", help="write only this figure")


def run(args: argparse.Namespace) -> CommandResult:
    scores, judgments, summaries, used = _tables(args)
    human = args.human or _guess(scores)
    options = {"human": human, "metrics": args.metrics, "where": list(args.where), "ci": args.ci}
    report = build_report(
        scores,
        human=human,
        metrics=chosen_metrics(args),
        judgments=judgments,
        summaries=summaries,
        title=args.title,
        seed=args.seed,
        resamples=args.ci,
        where=args.where,
        source=_place(used, "scores", args.scores),
        judgments_source=_place(used, "judgments", Path("judgments.csv")),
        command=_command(args, human),
        provenance=provenance("python -m analysis report", used.values(), options, args.seed),
    )
    only = report.figure(args.figure) if args.figure else None
    paths = write_figure(only, args.out) if only else write_report(report, args.out)
    notes = [] if args.figure else [report.verdict, *report.warnings]
    return CommandResult([{"file": str(path)} for path in paths], COLUMNS, notes)


def _command(args: argparse.Namespace, human: str) -> str:
    """The command that makes this report again."""
    options: list[tuple[str, object]] = [("--human", human)]
    options += [(f"--{name}", getattr(args, name)) for name in ("metrics", "judgments", "summaries", "title")]
    options += [("--where", condition) for condition in args.where]
    options += [("--ci", args.ci), ("--seed", args.seed), ("--out", args.out)]
    given = [part for name, value in options if value not in (None, "") for part in (name, str(value))]
    return shlex.join(["python", "-m", "analysis", "report", str(args.scores), *given])


def _place(used: dict[str, Path], kind: str, otherwise: Path) -> str:
    return str(used.get(kind, otherwise))


def _tables(
    args: argparse.Namespace,
) -> tuple[pd.DataFrame, pd.DataFrame | None, pd.DataFrame | None, dict[str, Path]]:
    """Scores, judgments and summaries, from files or from one folder, and the files that were read."""
    paths: dict[str, Path | None] = {"scores": args.scores, "judgments": args.judgments, "summaries": args.summaries}
    if args.scores.is_dir():
        for kind in paths:
            paths[kind] = (
                getattr(args, kind) if kind != "scores" and getattr(args, kind) else find_table(args.scores, kind)
            )
    frames = {kind: _read(args, path, kind) if path else None for kind, path in paths.items()}
    scores, judgments = frames["scores"], frames["judgments"]
    if judgments is not None:
        scores = _with_human(scores, judgments)
    if scores is None:
        raise UsageError(f"{args.scores} holds neither a scores nor a judgments table; export the study first.")
    return scores, judgments, frames["summaries"], {kind: path for kind, path in paths.items() if path}


def _read(args: argparse.Namespace, path: Path, kind: str) -> pd.DataFrame:
    frame = read_table(path, kind)
    known = argparse.Namespace(**vars(args))
    known.where = [part for part in args.where if part.split("=", 1)[0].strip("!") in frame.columns]
    return select(known, frame, path.name)


def _with_human(scores: pd.DataFrame | None, judgments: pd.DataFrame) -> pd.DataFrame:
    """The scores with the human measures that the judgments give and the table lacks."""
    from analysis.aggregate import aggregate

    made = aggregate(judgments)
    if scores is None:
        return made
    new = made[~made["metric"].isin(set(scores["metric"]))]
    return pd.concat([scores, new], ignore_index=True) if len(new) else scores


def _guess(scores: pd.DataFrame) -> str:
    known = set(scores["metric"])
    if "litepyramid_recall" in known:
        return "litepyramid_recall"
    raise UsageError(f"Name the human measure with --human; measures there: {', '.join(sorted(known))}.")
