"""From one row per marked error, as other tools write them, to a judgments table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from analysis.errors.marks import ANNOTATION, PROTOCOL, SUMMARY
from analysis.errors.weights import WEIGHTS
from analysis.tables import AnalysisError


def judgments_from_spans(
    spans: pd.DataFrame,
    annotations: pd.DataFrame,
    summaries: pd.DataFrame,
    *,
    categories: Sequence[str] = (),
    weights: Mapping[str, float] = WEIGHTS,
) -> pd.DataFrame:
    """A judgments table from `spans` (doc_id, system, worker_id, category, severity, start, end: characters [start,
    end), empty without a place), `annotations` (doc_id, system, worker_id: who looked at what, marks or none) and a
    summaries table. `categories` names those that were offered; without it, those that occur."""
    categories = list(categories) or sorted(spans["category"].unique())
    if unknown := sorted(set(spans["severity"]) - set(weights)):
        raise AnalysisError(f"There is no weight for the severity {unknown[0]!r}; there are {', '.join(weights)}.")
    texts = summaries.assign(text=[text if isinstance(text, str) else " ".join(text) for text in summaries["summary"]])
    words = [len(text.split()) for text in texts["text"]]
    sizes = texts[SUMMARY].assign(words=words, characters=texts["text"].str.len())
    people = annotations[ANNOTATION].drop_duplicates().merge(sizes, on=SUMMARY, how="left")
    if people["words"].isna().any():
        first = people[people["words"].isna()].iloc[0]
        raise AnalysisError(f"There is no summary by {first['system']} of document {first['doc_id']}.")
    rows = people.merge(pd.DataFrame({"unit": categories}), how="cross")
    marks: dict[tuple[str, ...], list[dict[str, object]]] = {}
    for mark in spans.to_dict("records"):
        key = (*(str(mark[name]) for name in ANNOTATION), str(mark["category"]))
        place = {} if pd.isna(mark["start"]) else {"start": int(mark["start"]), "end": int(mark["end"])}
        marks.setdefault(key, []).append({**place, "severity": mark["severity"]})
    keys = list(rows[[*ANNOTATION, "unit"]].itertuples(index=False, name=None))
    if strange := sorted(set(marks) - set(keys)):
        raise AnalysisError(f"The mark of {', '.join(strange[0])} belongs to nobody who looked, or to no category.")
    cells = [marks.get(key, []) for key in keys]
    points = [float(sum(weights[str(mark["severity"])] for mark in cell)) for cell in cells]
    return rows.assign(value=points, protocol=PROTOCOL, spans=pd.Series(cells, index=rows.index, dtype=object))
