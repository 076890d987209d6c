"""SummEval's aligned annotations: a JSON line for every summary, with one dictionary per expert and per crowd worker.

    {"id", "model_id", "text", "decoded", "reference", "references", "expert_annotations", "turker_annotations"}

An annotation is {what was judged: value}: dimensions, or SCU ids. Sentences stand on lines of their own.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import Tables
from .source import DocumentFacts, Source, SummaryFacts
from .texts import json_lines, lines, problem, unlined

ROLES = {"expert_annotations": "expert", "turker_annotations": "crowd"}


def write(source: Source, folder: Path, step: Callable[[int], None]) -> list[Path]:
    path = folder / "summeval.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for document in source.documents():
            file.writelines(
                f"{json.dumps(_line(document, summary), ensure_ascii=False)}\n" for summary in document.summaries
            )
            step(1)
    return [path]


def _line(document: DocumentFacts, summary: SummaryFacts) -> dict[str, Any]:
    references = [lines(text) for text in document.references]
    return {
        "id": document.doc_id,
        "model_id": summary.system,
        **({"group": summary.group} if summary.group else {}),
        "text": lines(document.source),
        "decoded": lines(summary.text),
        "reference": references[0] if references else "",
        "references": references,
        **{name: _annotations(summary, role) for name, role in ROLES.items()},
    }


def _annotations(summary: SummaryFacts, role: str) -> list[dict[str, float]]:
    """One dictionary per person, in the order of their pseudonyms; of several rounds the last."""
    latest: dict[str, dict[str, tuple[int, float]]] = {}
    for row in summary.judgments:
        if (row["role"] == "expert") != (role == "expert"):
            continue
        answers = latest.setdefault(row["worker_id"], {})
        if row["unit"] not in answers or answers[row["unit"]][0] <= row["round"]:
            answers[row["unit"]] = (row["round"], row["value"])
    return [{unit: value for unit, (_, value) in answers.items()} for answers in latest.values()]


def read(paths: Sequence[Path]) -> Tables:
    """Documents, summaries and judgments. The annotators of a summary have no names: each is somebody of their own."""
    documents: dict[str, dict[str, object]] = {}
    tables: Tables = {"documents": [], "summaries": [], "judgments": []}
    for path in paths:
        for number, line in json_lines(path):
            missing = [name for name in ("id", "model_id", "decoded") if not isinstance(line.get(name), str | int)]
            if missing:
                raise problem(path, number, missing[0], repr(line.get(missing[0]))[:60], "a text")
            doc, system = str(line["id"]), str(line["model_id"])
            if doc not in documents:
                references = line.get("references") or [line.get("reference", "")]
                texts = [unlined(text) for text in references]
                documents[doc] = {"doc_id": doc, "source": unlined(line.get("text", "")), "references": texts}
            key = {"doc_id": doc, "system": system}
            group = {"group": line["group"]} if line.get("group") else {}
            tables["summaries"].append({**key, **group, "summary": unlined(line["decoded"])})
            for name, role in ROLES.items():
                tables["judgments"] += _judgments(key, role, line.get(name) or [])
    tables["documents"] = list(documents.values())
    return _with_units(tables)


def _judgments(key: dict[str, str], role: str, annotations: list[dict[str, Any]]) -> list[dict[str, object]]:
    return [
        {
            **key,
            "unit": unit,
            "worker_id": f"{key['doc_id']}/{key['system']}/{role}-{number}",
            "role": role,
            "value": value,
        }
        for number, annotation in enumerate(annotations, start=1)
        for unit, value in annotation.items()
        if isinstance(value, int | float)
    ]


def _with_units(tables: Tables) -> Tables:
    """Where every answer is yes or no, the judged units are SCUs whose words the shape doesn't hold."""
    if tables["judgments"] and all(row["value"] in (0, 1) for row in tables["judgments"]):
        pairs = dict.fromkeys((row["doc_id"], row["unit"]) for row in tables["judgments"])
        tables["scus"] = [{"doc_id": doc, "scu_id": unit, "text": unit} for doc, unit in pairs]
    return {name: rows for name, rows in tables.items() if rows}
