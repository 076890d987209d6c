"""`python -m scoring explain`: how one score came about."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scoring import registry
from scoring.cli import print_json
from scoring.errors import ScoringError
from scoring.explain import explain
from scoring.explain.explanation import Explanation
from scoring.run.corpus_on_disk import CorpusOnDisk
from scoring.texts import Text

HELP = "show how one score came about, in the terminal or as a page"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--metric", required=True, metavar="NAME", help="one metric, options in brackets")
    texts = parser.add_argument_group("texts on the command line (TEXT, or @FILE with one sentence per line)")
    texts.add_argument("--summary", metavar="TEXT")
    texts.add_argument("--reference", metavar="TEXT", action="append", default=[], help="repeat for several")
    texts.add_argument("--source", metavar="TEXT")
    tables = parser.add_argument_group("texts from tables")
    tables.add_argument("--summaries", type=Path, metavar="FILE")
    tables.add_argument("--documents", type=Path, metavar="FILE")
    tables.add_argument("--doc-id", metavar="ID")
    tables.add_argument("--system", metavar="NAME")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page instead of printing")
    parser.add_argument("--json", action="store_true", help="print a list with one object")


def run(args: argparse.Namespace) -> None:
    metric = registry.get(args.metric)
    explanation = _from_tables(metric.name, args) if args.summaries else _from_texts(metric.name, args)
    if args.json:
        print_json([explanation.to_dict()])
    elif args.html:
        _write(args.html, explanation.to_html())
        print(f"{explanation.metric} = {explanation.value:.5f}; the page is {args.html}.")
    else:
        print(explanation.to_terminal(color=sys.stdout.isatty()))


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise ScoringError(f"The page cannot be written to {path} ({error.strerror}); name another file.") from error


def _from_texts(metric: str, args: argparse.Namespace) -> Explanation:
    if args.summary is None:
        raise ScoringError(
            "Give the summary with --summary, or tables with --summaries, --documents, --doc-id, --system."
        )
    references = [_read(text) for text in args.reference] or None
    source = None if args.source is None else _read(args.source)
    return explain(metric, _read(args.summary), references, source)


def _from_tables(metric: str, args: argparse.Namespace) -> Explanation:
    if not (args.documents and args.doc_id and args.system):
        raise ScoringError("With --summaries give --documents, --doc-id and --system too.")
    with CorpusOnDisk() as corpus:
        corpus.load(args.summaries, args.documents)
        summary, document = corpus.summary(args.doc_id, args.system), corpus.document(args.doc_id)
        references, documents, summaries = list(document.references), corpus.documents(), corpus.summaries()
        return explain(metric, summary, references, document.source, corpus=documents, summaries=summaries)


def _read(text: str) -> Text:
    if not text.startswith("@"):
        return text
    try:
        lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ScoringError(f"{text[1:]} cannot be read as text: {error}.") from error
    return tuple(line for line in lines if line.strip())
