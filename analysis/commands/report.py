"""`report`: a study in one folder, ready to read and to print."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import pandas as pd

from analysis.cli import CommandResult, UsageError, add_batches, select
from analysis.cli.arguments import resamples
from analysis.commands._metrics import add_metrics, chosen_metrics, join_scores
from analysis.correlate.score_cube import human_measures
from analysis.report import build_report, judgments_behind, write_report
from analysis.report.write import write_figure
from analysis.tables import check_writable, find_table, read_table
from analysis.tables.batches import LATEST, BatchChoice, choose_batches
from analysis.tables.manifest import Exported
from analysis.tables.provenance import provenance

HELP = "Turn a study's tables into a report: a page with charts, figures, tables, methods and a verdict."
COLUMNS = ["file"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "scores",
        type=Path,
        nargs="+",
        metavar="SCORES",
        help="scores table, or several, or a folder of exported tables",
    )
    parser.add_argument("--human", metavar="MEASURE", help="the human measure (default: litepyramid_recall if there)")
    add_metrics(parser)
    parser.add_argument("--out", type=Path, default=Path("report"), help="folder to write (default: report)")
    parser.add_argument("--judgments", type=Path, help="the judgments table, for the agreement of the judges")
    parser.add_argument("--summaries", type=Path, help="the summaries table, to notice equal texts")
    parser.add_argument("--title", default="", help="title of the report")
    parser.add_argument("--ci", type=resamples, default=1000, help="bootstrap resamples (default: 1000)")
    parser.add_argument("--figure", metavar="NAME", help="write only this figure")
    add_batches(parser)


def run(args: argparse.Namespace) -> CommandResult:
    check_writable(args.out)
    exported = Exported.of(args.scores[0] if args.scores[0].is_dir() else None)
    scores, choice, summaries, files, table_files = _tables(args, exported)
    human = args.human or exported.human or _guess(scores)
    options = {"human": human, "metrics": args.metrics, "humans": args.humans, "where": list(args.where), "ci": args.ci}
    options |= {"batches": choice.rule} if choice else {}
    report = build_report(
        scores,
        human=human,
        metrics=chosen_metrics(args) or exported.metrics(scores),
        judgments=judgments_behind(choice.judgments, human) if choice else None,
        summaries=exported.without_references(summaries),
        title=args.title or exported.title,
        seed=args.seed,
        resamples=args.ci,
        where=args.where,
        source=tuple(map(str, files or args.scores)),
        judgments_source=str(table_files[0] if table_files else "judgments.csv"),
        filtered=" ".join(sentence for sentence in (exported.filtered, choice.sentence if choice else "") if sentence),
        command=_command(args, human),
        provenance=provenance("python -m analysis report", [*files, *table_files], options, args.seed),
    )
    only = report.figure(args.figure) if args.figure else None
    paths = write_figure(only, args.out) if only else write_report(report, args.out)
    notes = [] if args.figure else [report.verdict, *report.warnings]
    return CommandResult([{"file": str(path)} for path in paths], COLUMNS, notes)


def _command(args: argparse.Namespace, human: str) -> str:
    """The command that makes this report again."""
    options: list[tuple[str, object]] = [("--human", human)]
    options += [(f"--{name}", getattr(args, name)) for name in ("metrics", "humans", "judgments", "summaries", "title")]
    options += [("--where", condition) for condition in args.where]
    options += [("--batches", rule) for rule in args.batches or ()]
    options += [("--ci", args.ci), ("--seed", args.seed), ("--out", args.out)]
    arguments = [argument for name, value in options if value not in (None, "") for argument in (name, str(value))]
    return shlex.join(["python", "-m", "analysis", "report", *map(str, args.scores), *arguments])


def _tables(
    args: argparse.Namespace, exported: Exported
) -> tuple[pd.DataFrame, BatchChoice | None, pd.DataFrame | None, list[Path], list[Path]]:
    """Scores, judgments and summaries, from files or from one folder, and the files that were read."""
    folder = exported.folder
    files: list[Path] = args.scores
    if folder:
        scores_file = find_table(folder, "scores")
        files = [scores_file] if scores_file else []
    paths = {
        kind: getattr(args, kind) or (find_table(folder, kind) if folder else None)
        for kind in ("judgments", "summaries")
    }
    if not args.judgments:
        paths["judgments"] = exported.path("judgments") or paths["judgments"]
    frames = {kind: _read(args, path, kind) if path else None for kind, path in paths.items()}
    scores, judgments = join_scores(args, files, keep_marks=True) if files else None, frames["judgments"]
    choice = None if judgments is None else choose_batches(judgments, args.batches or LATEST)
    if measured := exported.path("human_scores"):
        scores, files = exported.together(join_scores(args, [measured]), scores), [measured, *files]
    elif choice is not None:
        scores = _with_human(scores, choice.judgments)
    if scores is None:
        raise UsageError(f"{folder} holds neither a scores nor a judgments table; export the study first.")
    return scores, choice, frames["summaries"], files, [path for path in paths.values() if path]


def _read(args: argparse.Namespace, path: Path, kind: str) -> pd.DataFrame:
    frame = read_table(path, kind)
    narrowed = argparse.Namespace(**vars(args))
    narrowed.where = [condition for condition in args.where if condition.split("=", 1)[0].strip("!") in frame.columns]
    return select(narrowed, frame, path.name)


def _with_human(scores: pd.DataFrame | None, judgments: pd.DataFrame) -> pd.DataFrame:
    """The scores with the human measures that the judgments give and the table lacks."""
    from analysis.aggregate import aggregate

    human_scores = aggregate(judgments)
    if scores is None:
        return human_scores
    new = human_scores[~human_scores["metric"].isin(set(scores["metric"]))]
    return pd.concat([scores, new], ignore_index=True) if len(new) else scores


def _guess(scores: pd.DataFrame) -> str:
    measures, humans = set(scores["metric"]), human_measures(scores)
    if "litepyramid_recall" in measures:
        return "litepyramid_recall"
    if len(humans) == 1:
        return humans[0]
    if humans:
        raise UsageError(f"Name the human measure to report on with --human; there are {', '.join(humans)}.")
    raise UsageError(f"Name the human measure with --human; measures there: {', '.join(sorted(measures))}.")
