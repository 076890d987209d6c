"""The frame of `python -m scoring`: finds the commands, prints tables, answers refusals with one sentence."""

from __future__ import annotations

import argparse
import importlib
import json
import math
import pkgutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NoReturn

from analysis.tables import AnalysisError, check_target
from scoring.errors import ScoringError

UNDEFINED = "–"


class _Parser(argparse.ArgumentParser):
    """Answers a wrong argument with one sentence instead of a page of usage."""

    def error(self, message: str) -> NoReturn:
        sentence = message[:1].upper() + message[1:]
        raise ScoringError(f"{sentence.rstrip('.')}; see {self.prog} --help.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command: 0 when done, 2 with one sentence when something is wrong with what was given."""
    warnings.showwarning = _show_warning
    try:
        args = _parser().parse_args(argv)
        _check_outputs(args)
        args.execute(args)
    except (ScoringError, AnalysisError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; with --cache, what was scored is kept and the same command goes on.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 141
    return 0


def _check_outputs(args: argparse.Namespace) -> None:
    """Refuse, before the work, to write where nothing can be written or over what is read."""
    arguments = vars(args)
    read = [arguments.get(name) for name in ("summaries", "documents", "scores")]
    inputs = [path for value in read if value for path in (value if isinstance(value, list) else [value])]
    if arguments.get("out"):
        check_target(arguments["out"], inputs)


def print_json(rows: Sequence[Mapping[str, object]]) -> None:
    """The same facts for programs; undefined is null."""
    clean = [{key: _json_value(value) for key, value in row.items()} for row in rows]
    print(json.dumps(clean, indent=1, ensure_ascii=False))


def print_table(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> None:
    """A table for people."""
    cells = [[_cell(row[column]) for column in columns] for row in rows]
    widths = [max(len(line[i]) for line in [list(columns), *cells]) for i in range(len(columns))]
    for line in [list(columns), *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


@contextmanager
def progress_bar(unit: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, a plain line every few seconds elsewhere."""
    if not sys.stderr.isatty():
        yield _plain_lines(unit)
        return
    from tqdm import tqdm

    with tqdm(unit=f" {unit}") as bar:

        def show(completed: int, total: int) -> None:
            bar.total = total
            bar.update(completed - bar.n)

        yield show


def _plain_lines(unit: str, interval: float = 5.0) -> Callable[[int, int], None]:
    last = time.monotonic()

    def show(completed: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= interval:
            last = now
            print(f"{completed} of {total} {unit}", file=sys.stderr, flush=True)

    return show


def _parser() -> argparse.ArgumentParser:
    from scoring import commands as package

    parser = _Parser(prog="python -m scoring", description="Text in, numbers out.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    for module_info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"scoring.commands.{module_info.name}")
        command = commands.add_parser(module_info.name.replace("_", "-"), help=module.HELP, description=module.HELP)
        module.add_arguments(command)
        command.set_defaults(execute=module.run)
    return parser


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"Warning: {message}", file=sys.stderr)


def _json_value(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.5f}" if math.isfinite(value) else UNDEFINED
    return str(value)
