"""Label Studio's tasks with annotations, and a labelling configuration that fits them. Written only.

A task is a summary; an annotation is one assignment, with a result for every unit: choices for SCUs, a rating for
dimensions. The names of the controls are the units' ids.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from annotation.common.text import plain
from annotation.protocols import judging_scus

from .source import DocumentFacts, Source, SummaryFacts

CHOICES = {1: "Present", 0: "Not present"}


def write(source: Source, folder: Path, step: Callable[[int], None]) -> list[Path]:
    path, config = folder / "label_studio.json", folder / "label_studio.xml"
    controls: dict[str, str] = {}
    number = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for document in source.documents(raw=True):
            for summary in document.summaries:
                number += 1
                task = json.dumps(_task(number, document, summary, controls), ensure_ascii=False)
                file.write(f"{',' if number > 1 else ''}\n{task}")
            step(1)
        file.write("\n]\n")
    config.write_text(_config(controls), encoding="utf-8")
    return [path, config]


def _task(number: int, document: DocumentFacts, summary: SummaryFacts, controls: dict[str, str]) -> dict[str, Any]:
    texts = {unit["scu_id"]: unit["text"] for unit in (*document.units, *document.checks)}
    assignments: dict[str, list[dict[str, Any]]] = {}
    for row in summary.judgments:
        assignments.setdefault(row["assignment_id"], []).append(row)
        controls.setdefault(row["unit"], _control(row))
    return {
        "id": number,
        "data": {
            "doc_id": document.doc_id,
            "system": summary.system,
            "group": summary.group,
            "summary": plain(summary.text if summary.shown is None else summary.shown),
            "source": plain(document.source),
            "references": [plain(text) for text in document.references],
            "units": texts,
        },
        "annotations": [_annotation(key, rows) for key, rows in assignments.items()],
        "predictions": [],
    }


def _annotation(key: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    seconds = [row["seconds"] for row in rows if row.get("seconds") is not None]
    return {
        "unique_id": key,
        "worker_id": rows[0]["worker_id"],
        "lead_time": sum(seconds) if seconds else None,
        "created_at": rows[0].get("submitted_at") or None,
        "result": [_result(row) for row in rows],
    }


def _control(row: dict[str, Any]) -> str:
    return "choices" if row["protocol"] in judging_scus() else "rating"


def _result(row: dict[str, Any]) -> dict[str, Any]:
    control = _control(row)
    return {
        "from_name": row["unit"],
        "to_name": "summary",
        "type": control,
        "value": {control: [CHOICES[int(row["value"])]] if control == "choices" else row["value"]},
    }


def _config(controls: dict[str, str]) -> str:
    lines = ["<View>", '  <Text name="summary" value="$summary"/>']
    for name, kind in sorted(controls.items()):
        lines.append(f"  <Header value={quoteattr(f'$units.{name}' if kind == 'choices' else name)}/>")
        if kind == "rating":
            lines.append(f'  <Rating name={quoteattr(name)} toName="summary" maxRating="5"/>')
        else:
            choices = "".join(f"<Choice value={quoteattr(word)}/>" for word in CHOICES.values())
            lines.append(f'  <Choices name={quoteattr(name)} toName="summary" choice="single">{choices}</Choices>')
    return "\n".join([*lines, "</View>", ""])
