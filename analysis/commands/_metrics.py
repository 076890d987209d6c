"""Arguments that the commands of the meta-evaluation share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis.cli import select
from analysis.cli.arguments import chart_file
from analysis.correlate.resample import LEVELS
from analysis.correlate.score_cube import fill_groups
from analysis.tables import read_table
from analysis.tables.manifest import Exported


def add_scores(parser: argparse.ArgumentParser) -> None:
    """SCORES: one table, or several that belong together, such as human scores and metric scores."""
    parser.add_argument("scores", type=Path, nargs="+", metavar="SCORES", help="scores table, or several")


def load_scores(args: argparse.Namespace) -> pd.DataFrame:
    """The scores of all given files as one table, with the common options applied."""
    return join_scores(args, args.scores)


def join_scores(args: argparse.Namespace, paths: Sequence[Path]) -> pd.DataFrame:
    frames = _one_of_each([read_table(path, "scores") for path in paths], paths)
    scores = frames[0] if len(frames) == 1 else fill_groups(pd.concat(frames, ignore_index=True))
    return select(args, scores, " and ".join(path.name for path in paths))


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
    parser.add_argument("--metrics", metavar="A,B", help="only these metrics (default: all)")


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
