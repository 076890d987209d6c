"""REALSumm's scores dictionary, as JSON instead of a pickle: a file for each group of systems.

    {doc_id: {"doc_id", "ref_summ", "system_summaries": {system: {"system_summary", "scores": {metric: value}}}}}

Sentences stand between <t> and </t>.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.utils.text import slugify

from . import Tables
from .source import DocumentFacts, Source
from .texts import problem, tagged, untagged

STEM = "realsumm"


def write(source: Source, folder: Path, step: Callable[[int], None]) -> list[Path]:
    paths = {group: folder / _name(group) for group in source.groups}
    with ExitStack() as stack:
        files = {group: stack.enter_context(path.open("w", encoding="utf-8")) for group, path in paths.items()}
        first = set(files)
        for document in source.documents():
            for group, file in files.items():
                if entry := _entry(document, group):
                    start = "{\n" if group in first else ",\n"
                    file.write(f"{start}{json.dumps(document.doc_id)}: {json.dumps(entry, ensure_ascii=False)}")
                    first.discard(group)
            step(1)
        for group, file in files.items():
            file.write("{}\n" if group in first else "\n}\n")
    return list(paths.values())


def _name(group: str) -> str:
    return f"{STEM}_{slugify(group) or 'group'}.json" if group else f"{STEM}.json"


def _entry(document: DocumentFacts, group: str) -> dict[str, Any] | None:
    summaries = {
        summary.system: {"system_summary": tagged(summary.text), "scores": summary.scores}
        for summary in document.summaries
        if summary.group == group
    }
    if not summaries:
        return None
    reference = tagged(document.references[0]) if document.references else ""
    return {"doc_id": document.doc_id, "ref_summ": reference, "system_summaries": summaries}


def read(paths: Sequence[Path]) -> Tables:
    """Documents with one reference and no source, summaries, and scores. The file's name tells the group."""
    references: dict[str, Any] = {}
    summaries: list[dict[str, object]] = []
    scores: list[dict[str, object]] = []
    for path in paths:
        group = path.stem.removeprefix(STEM).removeprefix("_")
        for doc, entry in _entries(path):
            text = untagged(entry["ref_summ"])
            if references.setdefault(doc, text) != text:
                raise problem(
                    path, None, "ref_summ", f"another reference of {doc!r} than in the files before", "the same"
                )
            for system, output in entry["system_summaries"].items():
                key = {"doc_id": doc, "system": system, **({"group": group} if group else {})}
                summaries.append({**key, "summary": untagged(output["system_summary"])})
                scores += [{**key, "metric": name, "value": value} for name, value in output["scores"].items()]
    documents: list[dict[str, object]] = [
        {"doc_id": doc, "source": "", "references": [text]} for doc, text in references.items()
    ]
    return {"documents": documents, "summaries": summaries, "scores": scores}


def _entries(path: Path) -> list[tuple[str, dict[str, Any]]]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        for entry in entries.values():
            for output in entry["system_summaries"].values():
                if not isinstance(output["scores"], dict) or "system_summary" not in output or "ref_summ" not in entry:
                    raise KeyError("scores")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise problem(
            path, None, None, f"something else ({type(error).__name__})", "REALSumm's scores dictionary"
        ) from None
    return list(entries.items())
