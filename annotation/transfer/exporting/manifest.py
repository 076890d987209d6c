"""The manifest of an export: what each file holds, how it came about, and the commands that go on from here."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.tables.csv_formulas import MANIFEST, MARK
from analysis.tables.provenance import PACKAGES as ANALYSIS_PACKAGES
from analysis.tables.provenance import file_hash, versions
from annotation.common import clock
from annotation.models import REFERENCE_GROUP, Study
from annotation.tables.stream import SCHEMA, Column
from annotation.tables.trusted import Filtered, chosen_batches, measures_of

from .options import ExportOptions

FORMAT = "pyramidion-export"
PACKAGES = ("django", *ANALYSIS_PACKAGES)


@dataclass(frozen=True)
class WrittenFile:
    """A file of the export."""

    path: Path
    table: str  # a table, or a shape
    rows: int | None = None
    columns: tuple[Column, ...] = ()

    def facts(self) -> dict[str, Any]:
        return {
            "name": self.path.name,
            "holds": self.table,
            "rows": self.rows,
            "bytes": self.path.stat().st_size,
            "sha256": file_hash(self.path),
            "columns": [{"name": column.name, "type": column.type} for column in self.columns],
        }


def manifest(study: Study, options: ExportOptions, filtered: Filtered, files: Sequence[WrittenFile]) -> dict[str, Any]:
    names = {file.table: file.path.name for file in files}
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "study": {"name": study.name, "created_at": study.created_at.isoformat()},
        "made_at": clock.now().isoformat(timespec="seconds"),
        "versions": versions(PACKAGES),
        "options": options.as_json(),
        "csv_formulas": MARK,
        "csv_headers": MARK,
        "workers": "the crowd's own ids" if options.raw_workers else WORKERS,
        "filter": _filter(filtered),
        "batches": _batches(study, filtered),
        "policy": POLICY,
        "report": _report(study, filtered, names),
        "files": [file.facts() for file in files],
        "commands": _commands(study, filtered, names),
    }


WORKERS = "pseudonyms by HMAC-SHA256 under a salt that is the study's own and is never exported"
POLICY = {
    "counted": "the current answer of every submitted assignment; where a market brokered it, once the market confirms",
    "checks": "left out of kept and dropped judgments and of scores",
    "rated references": "left out of kept and dropped judgments and of scores",
    "tie on an SCU": "not-present",
    "tie between workers in a filter": "first",
    "undefined": "empty (CSV), null (JSON lines, Parquet)",
}


def _filter(filtered: Filtered) -> dict[str, Any] | None:
    decision = filtered.decision
    if decision is None:
        return None
    return {"rules": decision.rules, "seed": decision.seed, "decided_at": decision.decided_at.isoformat()}


def _batches(study: Study, filtered: Filtered) -> dict[str, Any]:
    """Which answers count where somebody judged the same unit in several batches."""
    chosen = {"chosen": chosen_batches(study)} if study.batch_rule == Study.BatchRule.CHOSEN else {}
    sentence = filtered.choice.sentence if filtered.choice else ""
    return {"rule": study.batch_rule, **chosen, "says": sentence}


def _report(study: Study, filtered: Filtered, files: dict[str, str]) -> dict[str, Any] | None:
    """What `python -m analysis report FOLDER` needs to give the site's own numbers."""
    if "human_scores" not in files or filtered.human_scores.empty:
        return None
    from analysis.report import RESAMPLES, SEED

    measures = measures_of(filtered.human_scores)
    return {
        "title": study.name,
        "human": measures[0],
        "measures": measures,
        "judgments": files.get("judgments_kept", ""),
        "human_scores": files["human_scores"],
        "filtered": filtered.sentence(measures[0]),
        "group_left_out": REFERENCE_GROUP,
        "resamples": RESAMPLES,
        "seed": SEED,
    }


def _commands(study: Study, filtered: Filtered, files: dict[str, str]) -> list[dict[str, str]]:
    """To be run in the folder of the export, with the project's Python."""
    commands = []
    if filtered.decision is not None and {"judgments", "judgments_kept", "judgments_dropped"} <= files.keys():
        commands.append({"what": "filter again", "command": _filter_command(study, filtered, files)})
    if {"judgments_kept", "human_scores"} <= files.keys():
        words = ["aggregate", files["judgments_kept"], "--out", files["human_scores"]]
        words += ["--scus", files["scus"]] if "scus" in files else []
        words += ["--where", "retired=0"] if filtered.has_retired else []
        commands.append({"what": "human scores again", "command": _analysis(*words)})
    if report := _report(study, filtered, files):
        options = ["--human", report["human"], "--ci", str(report["resamples"]), "--seed", str(report["seed"])]
        commands.append({"what": "the report", "command": _analysis("report", ".", *options, "--out", "report")})
    if {"documents", "summaries"} <= files.keys():
        words = ["python", "manage.py", "import_study", ".", "--name", f"{study.name}, imported"]
        commands.append({"what": "import as a study", "command": shlex.join(words)})
    return commands


def _filter_command(study: Study, filtered: Filtered, files: dict[str, str]) -> str:
    decision, words = filtered.decision, ["filter", files["judgments"]]
    for rule in decision.rules if decision else ():
        words += ["--rule", rule]
    words += ["--seed", str(decision.seed if decision else 0)]
    if study.batch_rule != Study.BatchRule.LATEST:
        names = chosen_batches(study) if study.batch_rule == Study.BatchRule.CHOSEN else [study.batch_rule]
        words += [word for name in names for word in ("--batches", name)]
    groups = set(study.systems.values_list("group", flat=True))
    if REFERENCE_GROUP in groups:  # references were rated as well: everything but their group
        words += [word for group in sorted(groups - {REFERENCE_GROUP}) for word in ("--where", f"group={group}")]
    return _analysis(*words, "--out", files["judgments_kept"], "--dropped", files["judgments_dropped"])


def _analysis(*words: str) -> str:
    return shlex.join(["python", "-m", "analysis", *words])


__all__ = ["MANIFEST", "WrittenFile", "manifest"]
