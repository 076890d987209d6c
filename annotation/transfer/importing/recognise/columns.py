"""Which of the five tables a file holds, and which of its columns is which of ours, by the names that people use."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from analysis.tables import TABLES

from .text_files import plain_name

# Names that others give our columns; our own are known without being here.
ALIASES: dict[str, tuple[str, ...]] = {
    "doc_id": ("id", "doc", "document", "documentid", "articleid", "storyid", "item", "itemid", "sample", "sampleid"),
    "source": ("article", "text", "sourcetext", "story", "document", "documenttext", "body", "input"),
    "references": ("reference", "ref", "gold", "goldsummary", "highlights", "target", "referencesummary"),
    "system": ("model", "systemid", "modelid", "modelname", "systemname", "summarizer", "summariser"),
    "summary": ("output", "text", "decoded", "generated", "hypothesis", "prediction", "candidate", "systemsummary"),
    "scu_id": ("scuid", "unitid", "id", "number", "scunumber"),
    "text": ("scu", "unit", "statement", "fact", "content"),
    "unit": ("dimension", "criterion", "scu", "scuid", "question"),
    "worker_id": ("worker", "annotator", "rater", "annotatorid", "raterid", "judge", "participant"),
    "value": ("score", "rating", "answer", "judgment", "judgement", "label", "points"),
    "metric": ("metricname", "measure"),
}
KIND_WORDS = {
    "documents": ("document", "article", "source", "corpus"),
    "summaries": ("summar", "output", "system"),
    "scus": ("scu", "unit", "statement"),
    "judgments": ("judgment", "judgement", "rating", "annotation", "answer"),
    "scores": ("score", "metric"),
}


def known_names() -> frozenset[str]:
    """Every name of a column that is recognised, as `plain_name` has it."""
    ours = (column.name for spec in TABLES.values() for column in spec.columns)
    return frozenset([*map(plain_name, ours), *(name for names in ALIASES.values() for name in names)])


def kind_of(name: str, columns: Sequence[str]) -> str:
    """The table that a file or sheet of this name holds; by its columns where the name says nothing; "" for none."""
    stem = plain_name(PurePath(name).name.split(".")[0])
    for kind in TABLES:
        if stem == kind:
            return kind
    complete = [kind for kind in TABLES if not missing(kind, columns, map_columns(kind, columns))]
    named = [kind for kind, words in KIND_WORDS.items() if any(word in stem for word in words)]
    for kind in (*(kind for kind in named if kind in complete), *named[:1]):
        return kind
    return max(complete, key=lambda kind: len(TABLES[kind].required)) if complete else ""


def map_columns(kind: str, columns: Sequence[str]) -> dict[str, str]:
    """Our columns with the file's that hold them, as far as names tell; each of the file's is used once.

    Only what a table needs is looked for under other names: other columns of one's own stay what they are.
    """
    if kind not in TABLES:
        return {}
    free = dict(zip(map(plain_name, columns), columns, strict=True))
    names = [column.name for column in TABLES[kind].columns]
    mapping = {name: free.pop(plain_name(name)) for name in names if plain_name(name) in free}
    for name in TABLES[kind].required:
        if name not in mapping and (alias := next((alias for alias in ALIASES.get(name, ()) if alias in free), None)):
            mapping[name] = free.pop(alias)
    return mapping


def missing(kind: str, columns: Sequence[str], mapping: Mapping[str, str]) -> list[str]:
    """Our columns that a table needs and that nothing stands for."""
    return [name for name in TABLES[kind].required if mapping.get(name) not in columns]
