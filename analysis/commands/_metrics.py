"""Arguments that the commands of the meta-evaluation share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis.cli import UsageError, select
from analysis.cli.arguments import chart_file
from analysis.correlate.resample import LEVELS
from analysis.correlate.score_cube import HUMAN, MissingMeasure, fill_groups, without_references
from analysis.tables import TableError, read_table
from analysis.tables.manifest import Exported
from analysis.tables.wide import looks_wide, read_wide


def add_scores(parser: argparse.ArgumentParser) -> None:
    """SCORES: one table, or several that belong together, such as human scores and metric scores."""
    parser.add_argument("scores", type=Path, nargs="+", metavar="SCORES", help="scores table, or several")
    parser.add_argument("--wide", action="store_true", help="the tables have a column per measure")
    parser.add_argument(
        "--with-references", action="store_true", help="keep summaries that are a reference of their own document"
    )


def load_scores(args: argparse.Namespace) -> pd.DataFrame:
    """The scores of all given files as one table, with the common options applied."""
    return join_scores(args, args.scores)


def join_scores(args: argparse.Namespace, paths: Sequence[Path], *, keep_marks: bool = False) -> pd.DataFrame:
    """The scores of some files; `keep_marks` leaves references among the systems to whoever reads `is_reference`."""
    frames = _one_of_each([_read_scores(path, getattr(args, "wide", False)) for path in paths], paths)
    scores = frames[0] if len(frames) == 1 else fill_groups(pd.concat(frames, ignore_index=True))
    if "is_reference" in scores.columns and not keep_marks:
        if getattr(args, "with_references", False):
            scores = scores.drop(columns="is_reference")
        scores, note = without_references(scores)
        if note:
            print(f"{note} Keep them with --with-references.", file=sys.stderr)
    return select(args, _declared(scores, getattr(args, "humans", None)), " and ".join(path.name for path in paths))


def _declared(scores: pd.DataFrame, humans: str | None) -> pd.DataFrame:
    """The scores with the measures of --humans marked as people's, as a column `role` would."""
    if not humans:
        return scores
    names, measures = split_names(humans), set(scores["metric"])
    for name in names:
        if name not in measures:
            raise MissingMeasure(f"The scores hold no measure {name!r}. Measures there: {', '.join(sorted(measures))}.")
    role = scores["role"].fillna("") if "role" in scores.columns else pd.Series("", index=scores.index)
    return scores.assign(role=role.where(~scores["metric"].isin(names), HUMAN))


def _read_scores(path: Path, wide: bool) -> pd.DataFrame:
    """A scores table; one with a column per measure is read with --wide, and without it the error says so."""
    if wide:
        return read_wide(path)
    try:
        return read_table(path, "scores")
    except TableError as error:
        if path.is_file() and not any(problem.row for problem in error.problems) and looks_wide(path):
            raise UsageError(f"{error} It has a column per measure: read it with --wide.") from error
        raise


def _one_of_each(frames: list[pd.DataFrame], paths: Sequence[Path]) -> list[pd.DataFrame]:
    """In an export, human scores that were worked out stand for imported measures of the same name."""
    if len(paths) < 2:
        return frames
    for place, path in enumerate(paths):
        if Exported.of(path.parent).human_scores == path.name:
            human_metrics = frames[place]["metric"].unique()
            frames = [
                frame if i == place or paths[i].parent != path.parent else frame[~frame["metric"].isin(human_metrics)]
                for i, frame in enumerate(frames)
            ]
    return frames


def add_scores_and_human(parser: argparse.ArgumentParser) -> None:
    """SCORES, --human and --metrics."""
    add_scores(parser)
    parser.add_argument("--human", required=True, metavar="MEASURE", help="the human measure in the table")
    add_metrics(parser)


def add_metrics(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--metrics", metavar="A,B", help="only these metrics (default: all that aren't people's)")
    parser.add_argument(
        "--humans", metavar="A,B", help="measures that people gave, as `role` human in the table says: no metrics"
    )


def add_level_and_coefficient(parser: argparse.ArgumentParser, coefficients: tuple[str, ...]) -> None:
    parser.add_argument("--level", choices=LEVELS, default="system", help="level of correlation")
    parser.add_argument("--coefficient", choices=coefficients, default="pearson", help="coefficient")


def split_names(text: str) -> list[str]:
    """Names between commas; commas inside brackets belong to a name, as in `rouge-2-p[stem,stop]`."""
    names, depth, current = [], 0, ""
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            names.append(current.strip())
            current = ""
        else:
            current += letter
    return [name for name in [*names, current.strip()] if name]


def chosen_metrics(args: argparse.Namespace) -> list[str] | None:
    """The metrics of --metrics, or None for all."""
    return split_names(args.metrics) if args.metrics else None


def add_plot(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plot", type=chart_file, metavar="FILE", help="also draw the figure: .svg, .pdf or .json")
