"""`export_study`: a study becomes a folder that `import_study` and `python -m analysis` read."""

from pathlib import Path

from analysis.tables import write_table
from annotation.models import Study

from .frames import FRAMES, judgments_frame

SUFFIXES = {
    "documents": ".jsonl",
    "summaries": ".jsonl",
    "scus": ".csv",
    "judgments": ".csv",
    "scores": ".csv",
}


def export_study(study: Study, folder: Path, *, raw_workers: bool = False) -> dict[str, int]:
    """Write the tables that hold anything; returns the number of rows in each."""
    folder.mkdir(parents=True, exist_ok=True)
    counts = {}
    for kind, make in FRAMES.items():
        frame = judgments_frame(study, raw_workers=raw_workers) if kind == "judgments" else make(study)
        if len(frame) or kind in {"documents", "summaries"}:
            write_table(frame, folder / f"{kind}{SUFFIXES[kind]}", kind)
            counts[kind] = len(frame)
    return counts
