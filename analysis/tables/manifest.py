"""What an export's manifest says about its report: which files count, which measure leads, what was left out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analysis.lazy import pandas as pd
from analysis.tables.csv_formulas import read_manifest


@dataclass(frozen=True)
class Exported:
    """The part `report` of a manifest; everything is empty where there is none."""

    folder: Path | None = None
    human: str = ""
    """The measure that leads."""
    measures: tuple[str, ...] = ()
    """All human measures: none of them is a metric to be judged."""
    title: str = ""
    filtered: str = ""
    """One sentence on how the judgments were filtered."""
    judgments: str = ""
    """The file with the judgments that count."""
    human_scores: str = ""
    group_left_out: str = ""
    """The group of the rated references."""

    @classmethod
    def of(cls, folder: Path | None) -> Exported:
        report = read_manifest(folder).get("report") if folder else None
        if not isinstance(report, dict):
            return cls(folder)
        texts = {name: str(report.get(name) or "") for name in ("human", "title", "filtered", "group_left_out")}
        files = {name: str(report.get(name) or "") for name in ("judgments", "human_scores")}
        return cls(folder, measures=tuple(map(str, report.get("measures") or ())), **texts, **files)

    def path(self, name: str) -> Path | None:
        """A file of the export by its part; None where the export has none."""
        file = {"judgments": self.judgments, "human_scores": self.human_scores}[name]
        path = self.folder / Path(file).name if self.folder and file else None
        return path if path and path.is_file() else None

    def without_references(self, frame: pd.DataFrame | None) -> pd.DataFrame | None:
        if frame is None or not self.group_left_out or "group" not in frame.columns:
            return frame
        return frame[frame["group"] != self.group_left_out].reset_index(drop=True)

    def together(self, human: pd.DataFrame, scores: pd.DataFrame | None) -> pd.DataFrame:
        """One scores table; the human scores stand for imported measures of the same name."""
        columns = [name for name in ("doc_id", "system", "group", "metric", "value", "role") if name in human.columns]
        if scores is None:
            return human[columns]
        imported = scores[~scores["metric"].isin(human["metric"])]
        shared = [name for name in (*columns, "is_reference") if name in imported]
        return pd.concat([human[columns], imported[shared]], ignore_index=True)

    def metrics(self, scores: pd.DataFrame) -> list[str] | None:
        return sorted(set(scores["metric"]) - set(self.measures)) if self.measures else None
