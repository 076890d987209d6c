"""`generate`: summaries over the whole scoring range of a metric, by genetic search."""

from __future__ import annotations

import argparse
import importlib
import inspect
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis import cli
from analysis.cli import CommandResult, UsageError
from analysis.cli.arguments import positive
from analysis.experiments.generate import ENGINES, Fitness, Job, Search, collect, generate
from analysis.tables import read_table, write_table

HELP = "Breed extractive summaries of each document with a metric as fitness, LexRank beside them."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("documents", type=Path, metavar="DOCUMENTS", help="a documents table")
    parser.add_argument(
        "--fitness",
        required=True,
        metavar="MODULE:FUNCTION",
        help="function(sentences of a summary, references of the document) -> score",
    )
    parser.add_argument("--out", type=Path, required=True, help="summaries table to write")
    parser.add_argument("--work", type=Path, help="folder for finished documents (default: OUT.parts)")
    parser.add_argument("--words", type=positive, default=100, help="longest summary")
    parser.add_argument("--population", type=positive, default=100)
    parser.add_argument("--generations", type=positive, default=20)
    parser.add_argument("--keep", type=positive, default=400, help="summaries to keep per document")
    parser.add_argument("--jobs", type=positive, default=1, help="processes")
    parser.add_argument("--engine", choices=ENGINES, default="local")


class _WithReferences:
    """A fitness for one document; a class so that it can travel to another process."""

    def __init__(self, function: Callable[..., float], references: Sequence[object]) -> None:
        self.function, self.references = function, references

    def __call__(self, sentences: Sequence[str]) -> float:
        return float(self.function(list(sentences), self.references))


def run(args: argparse.Namespace) -> CommandResult:
    function, name = _function(args.fitness)
    frame = cli.select(args, read_table(args.documents, "documents"), args.documents.name)
    search = Search(args.words, args.population, args.generations, args.keep, seed=args.seed)
    jobs = [_job(row, function, name, search) for row in frame.to_dict("records")]
    folder = args.work or args.out.with_name(f"{args.out.name}.parts")
    paths = list(cli.progress(generate(jobs, folder, workers=args.jobs, engine=args.engine), len(jobs), "documents"))
    rows = pd.DataFrame(collect(folder))
    write_table(rows, args.out, "summaries")
    note = f"{len(paths)} documents searched now, {len(jobs) - len(paths)} found done; seed {args.seed}; {args.out}."
    return CommandResult([{"documents": len(jobs), "summaries": len(rows)}], [], [note])


def _job(row: dict[Hashable, Any], function: Callable[..., float], name: str, search: Search) -> Job:
    source, references = row["source"], row["references"]
    if isinstance(source, str):
        raise UsageError(f"Document {row['doc_id']} is one string; give its sentences as a list to extract from.")
    fitness: Fitness = _WithReferences(function, list(references))
    return Job(str(row["doc_id"]), tuple(source), name, fitness, search)


def _function(text: str) -> tuple[Callable[..., float], str]:
    module, _, name = text.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"--fitness takes MODULE:FUNCTION, and {text!r} can't be found: {error}.") from None
    _check_arguments(function, text)
    return function, name


def _check_arguments(function: object, text: str) -> None:
    """A fitness takes sentences and references; what doesn't is refused before the search."""
    try:
        if not callable(function):
            raise TypeError("it is not a function")
        inspect.signature(function).bind([], [])
    except TypeError as error:
        raise UsageError(f"--fitness {text} can't be called with sentences and references: {error}.") from None
    except ValueError:  # some functions in C don't tell what they take
        return
