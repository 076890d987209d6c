"""The frame of `python -m analysis`: finds the commands, adds the options all share, prints what they found.

A command is a module in `analysis/commands` with `HELP`, `add_arguments(parser)` and
`run(args) -> CommandResult`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import pkgutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import NoReturn, TypeVar

import pandas as pd

from analysis import commands as package
from analysis.cli.arguments import count
from analysis.tables import AnalysisError, TableError, check_table, check_target, read_table
from analysis.tables.batches import LATEST, BatchChoice, choose_batches
from analysis.tables.where import UsageError, keep_where, without_checks

__all__ = [
    "AnalysisError",
    "CommandResult",
    "TableError",
    "UsageError",
    "add_batches",
    "keep_where",
    "load",
    "load_judgments",
    "main",
    "names",
    "of_people",
    "progress",
    "select",
]

T = TypeVar("T")
UNDEFINED = "–"
OUTPUTS = ("out", "dropped", "plot", "chart")
"""Arguments that name a file to write."""
EVERY = 2.0
"""Seconds between two plain lines of progress; work that is done sooner says nothing."""


@dataclass(frozen=True)
class CommandResult:
    """What a command found."""

    rows: list[dict[str, object]]
    """The facts; `--json` prints them as a list of objects, with null for what is undefined."""
    columns: list[str] = field(default_factory=list)
    """The columns of the table for people, in order; without any, all that the rows have."""
    notes: list[str] = field(default_factory=list)
    """Sentences under the table (on the error stream with `--json`)."""
    limit: int | None = None
    """How many rows people are shown; `--json` always prints all."""


class _Parser(argparse.ArgumentParser):
    """Answers a wrong argument with one sentence instead of a page of usage."""

    def error(self, message: str) -> NoReturn:
        sentence = message[:1].upper() + message[1:]
        raise UsageError(f"{sentence.rstrip('.')}; see {self.prog} --help.")


def names() -> list[str]:
    """Every command there is."""
    return sorted(_paths())


def _paths() -> dict[str, str]:
    """Where each command's module lies, by its name."""
    modules = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    paths = {module.name.rpartition(".")[2]: module.name for module in modules if not module.ispkg}
    return {name.replace("_", "-"): path for name, path in paths.items() if not name.startswith("_")}


def _module(name: str) -> ModuleType:
    return importlib.import_module(_paths()[name])


def _parser(command_name: str | None) -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m analysis", description="Judgments and scores in, findings out.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command_names = names()
    for name in [command_name] if command_name in command_names else command_names:
        module = _module(str(name))
        command = commands.add_parser(str(name), help=module.HELP, description=module.HELP)
        module.add_arguments(command)
        _add_common(command)
        command.set_defaults(run=module.run)
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("options of every command")
    group.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help="only rows with that value; repeat for several values of a column or for several columns",
    )
    group.add_argument("--seed", type=count, default=0, help="seed of everything random (default: 0)")
    group.add_argument("--json", action="store_true", help="print a JSON list instead of a table")
    group.add_argument(
        "--include-checks",
        action="store_true",
        help="keep attention checks (rows with is_check); left out otherwise",
    )


def add_batches(parser: argparse.ArgumentParser) -> None:
    """The option of every command that reads judgments."""
    parser.add_argument(
        "--batches",
        action="append",
        metavar="RULE",
        help="where somebody judged the same unit in several batches: latest (default), separate (a rater in each "
        "batch), or the names of the batches that count, with commas between them",
    )


def load_judgments(args: argparse.Namespace, path: str | Path | Sequence[Path]) -> BatchChoice:
    """Read people's judgments as `load` does; of several batches those that `--batches` says."""
    people, note = of_people(args, load(args, path, "judgments"))
    choice = choose_batches(people, args.batches or LATEST)
    return replace(choice, sentence=" ".join([*filter(None, [choice.sentence]), *note])) if note else choice


def of_people(args: argparse.Namespace, judgments: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Judgments without those of models (role `model`), unless `--where` names a role; and a note on them."""
    names_role = any(condition.startswith("role=") for condition in args.where)
    if "role" not in judgments.columns or names_role or not (by_model := judgments["role"] == "model").any():
        return judgments, []
    if by_model.all():
        raise UsageError("All judgments are models' (role model); --where role=model reads them all the same.")
    return judgments[~by_model].reset_index(drop=True), [
        f"{by_model.sum()} judgments by models (role model) were left out."
    ]


def load(args: argparse.Namespace, path: str | Path | Sequence[Path], kind: str) -> pd.DataFrame:
    """Read a table, or several files of one; keep the rows of `--where`, leave checks out unless told."""
    paths = [Path(path)] if isinstance(path, str | Path) else list(path)
    name = " and ".join(table_path.name for table_path in paths)
    frames = [read_table(table_path, kind) for table_path in paths]
    frame = frames[0] if len(frames) == 1 else check_table(pd.concat(frames, ignore_index=True), kind, name)
    return select(args, frame, name)


def select(args: argparse.Namespace, frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows of a frame that the common options name."""
    frame = keep_where(frame, args.where, name)
    if not args.include_checks:
        frame = without_checks(frame)
    if frame.empty:
        rows = "no rows" if args.include_checks else "no rows that are not checks"
        raise UsageError(f"{name} holds {rows}; there is nothing to work on.")
    return frame


def progress(iterable: Iterable[T], total: int, label: str) -> Iterator[T]:
    """A bar on a terminal, plain lines elsewhere, always on the error stream."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        yield from tqdm(iterable, total=total, desc=label, leave=False)
        return
    spoken = time.monotonic()
    for number, item in enumerate(iterable, start=1):
        yield item
        if time.monotonic() - spoken >= EVERY and number < total:
            print(f"{label}: {number} of {total}", file=sys.stderr, flush=True)
            spoken = time.monotonic()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 with one sentence when it was asked wrongly."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    command_name = next((argument for argument in arguments if not argument.startswith("-")), None)
    try:
        args = _parser(command_name).parse_args(arguments)
        _check_outputs(args)
        result = args.run(args)
        _print(result, args.json)
    except AnalysisError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; nothing more was written.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has gone: point stdout elsewhere so that the exit stays silent.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 0


def _check_outputs(args: argparse.Namespace) -> None:
    """Refuse, before the work, to write where nothing can be written or over what is read."""
    options = vars(args)
    outputs = [Path(options[name]) for name in OUTPUTS if options.get(name)]
    read = [value for name, value in options.items() if name not in OUTPUTS]
    flat = [argument for value in read for argument in (value if isinstance(value, list) else [value])]
    for path in outputs:
        check_target(path, (Path(value) for value in flat if isinstance(value, str | Path) and Path(value).is_file()))


def _print(result: CommandResult, as_json: bool) -> None:
    if as_json:
        print(json.dumps([_plain(row) for row in result.rows], ensure_ascii=False, indent=1, allow_nan=False))
    elif result.rows:
        print(table_text(result.rows[: result.limit], result.columns or list(result.rows[0])))
        if result.limit is not None and len(result.rows) > result.limit:
            print(f"… and {len(result.rows) - result.limit} more rows.")
    sys.stdout.flush()
    for note in result.notes:
        print(note, file=sys.stderr if as_json else sys.stdout)
    sys.stdout.flush()


def _plain(value: object) -> object:
    """A value as JSON knows it: NaN and infinity are null, numpy's numbers are numbers."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    if value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value


def _cell(value: object) -> str:
    value = _plain(value)
    if value is None:
        return UNDEFINED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6f}" if value == 0 or 1e-4 <= abs(value) < 1e7 else f"{value:.4g}"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def table_text(rows: Sequence[dict[str, object]], columns: Sequence[str]) -> str:
    """A table for people: names on top, numbers to the right, an en dash for what is undefined."""
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    numeric = [all(isinstance(_plain(row.get(column)), int | float | None) for row in rows) for column in columns]
    widths = [max(len(line[i]) for line in [list(columns), *cells]) for i in range(len(columns))]
    lines = []
    for line in [list(columns), *cells]:
        padded = [
            text.rjust(width) if is_numeric else text.ljust(width)
            for text, width, is_numeric in zip(line, widths, numeric, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)
