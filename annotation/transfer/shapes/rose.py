"""RoSE's ACU annotations: a JSON line for every document.

    {"source", "reference", "reference_acus", "count_id", "example_id",
     "annotations": {system: {"acu_labels", "acu", "normalized_acu"}}, "system_outputs": {system: text}}

A label is what the strict majority of the kept workers says; a tie is 0. Sentences stand on lines of their own.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from annotation.protocols import judging_scus

from . import Tables
from .source import DocumentFacts, Source, SummaryFacts
from .texts import json_lines, lines, problem, unlined

CONSENSUS = "consensus"  # who gave the labels: nobody in particular


def write(source: Source, folder: Path, step: Callable[[int], None]) -> list[Path]:
    path = folder / "rose.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, document in enumerate(source.documents()):
            file.write(f"{json.dumps(_line(document, number), ensure_ascii=False)}\n")
            step(1)
    return [path]


def _line(document: DocumentFacts, number: int) -> dict[str, Any]:
    return {
        "source": lines(document.source),
        "reference": lines(document.references[0]) if document.references else "",
        "reference_acus": [unit["text"] for unit in document.units],
        "count_id": number,
        "example_id": document.doc_id,
        "annotations": {
            summary.system: annotation
            for summary in document.summaries
            if (annotation := _annotation(document, summary)) is not None
        },
        "system_outputs": {summary.system: lines(summary.text) for summary in document.summaries},
    }


def _annotation(document: DocumentFacts, summary: SummaryFacts) -> dict[str, Any] | None:
    votes: dict[str, list[float]] = defaultdict(list)
    for row in summary.judgments:
        if row["protocol"] in judging_scus():
            votes[row["unit"]].append(row["value"])
    if not votes:
        return None
    labels = [int(2 * sum(values) > len(values)) for values in (votes[unit["scu_id"]] for unit in document.units)]
    annotation: dict[str, Any] = {"acu_labels": labels, "acu": sum(labels) / len(labels) if labels else None}
    if "normalized_acu" in summary.scores:
        annotation["normalized_acu"] = summary.scores["normalized_acu"]
    return annotation


def read(paths: Sequence[Path]) -> Tables:
    """Documents, summaries, ACUs as SCUs, labels as the judgments of one `consensus`, and both scores."""
    tables: Tables = {"documents": [], "summaries": [], "scus": [], "judgments": [], "scores": []}
    for path in paths:
        for number, line in json_lines(path):
            required = ("example_id", "source", "reference", "reference_acus", "system_outputs")
            if missing := [name for name in required if name not in line]:
                raise problem(path, number, missing[0], "nothing", f"a line with {', '.join(required)}")
            _read_line(path, number, line, tables)
    return {name: rows for name, rows in tables.items() if rows}


def _read_line(path: Path, number: int, line: dict[str, Any], tables: Tables) -> None:
    doc, units = str(line["example_id"]), line["reference_acus"]
    texts = {"source": unlined(line["source"]), "references": [unlined(line["reference"])]}
    tables["documents"].append({"doc_id": doc, **texts})
    tables["scus"] += [{"doc_id": doc, "scu_id": f"acu{n:02}", "text": text} for n, text in enumerate(units)]
    for system, text in line["system_outputs"].items():
        tables["summaries"].append({"doc_id": doc, "system": system, "summary": unlined(text)})
    for system, annotation in line.get("annotations", {}).items():
        labels, key = annotation.get("acu_labels", []), {"doc_id": doc, "system": system}
        if len(labels) != len(units) or system not in line["system_outputs"]:
            mismatch = f"{len(labels)} labels of {system!r} for {len(units)} ACUs"
            raise problem(path, number, "annotations", mismatch, "a label for every ACU, and the system's output")
        tables["judgments"] += [
            {**key, "unit": f"acu{n:02}", "worker_id": CONSENSUS, "value": label} for n, label in enumerate(labels)
        ]
        scores = {"acu": annotation.get("acu"), "normalized_acu": annotation.get("normalized_acu")}
        tables["scores"] += [
            {**key, "metric": name, "value": value} for name, value in scores.items() if value is not None
        ]
