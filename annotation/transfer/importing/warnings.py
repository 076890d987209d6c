"""What looks wrong in a study's tables: not errors, but things that have spoiled published studies."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from analysis.lazy import pandas as pd
from annotation.common.text import plain

from .folder import BLANK, Folder


def findings(folder: Folder) -> list[str]:
    """One sentence for each thing a person should look at before trusting this study."""
    documents, summaries = folder.tables["documents"], folder.tables["summaries"]
    texts = summaries.assign(summary=summaries["summary"].map(_normal))
    return [
        *_folded(same_texts(folder)),
        *_two_groups(summaries),
        *_equal_to_reference(texts, documents),
        *_missing_pairs(summaries, documents),
        *_blank_units(folder["scus"]),
        *_unjudged(folder["judgments"], summaries),
    ]


def _normal(text: str | list[str]) -> str:
    return " ".join(plain(text).split()).casefold()


def same_texts(folder: Folder) -> list[str]:
    """Each pair of systems that wrote the same, those with most such documents first."""
    summaries = folder.tables["summaries"]
    texts = summaries.assign(summary=summaries["summary"].map(_normal))
    pairs: Counter[tuple[str, str]] = Counter()
    doubled = texts[texts.duplicated(["doc_id", "summary"], keep=False) & (texts["summary"] != "")]
    for _, rows in doubled.groupby(["doc_id", "summary"], sort=False):
        pairs.update(combinations(sorted(rows["system"]), 2))
    counts = texts.groupby("system")["doc_id"].nunique()
    return [
        f"Systems {a} and {b} have the same text for {n} of {min(counts[a], counts[b])} documents"
        + (": this may be one system under two names." if n == min(counts[a], counts[b]) else ".")
        for (a, b), n in sorted(pairs.items(), key=lambda entry: (-entry[1], entry[0]))
    ]


def _folded(pairs: list[str]) -> list[str]:
    """One sentence for all pairs; the list of them is beside it."""
    if len(pairs) < 2:
        return pairs
    n_whole = sum("under two names" in sentence for sentence in pairs)
    whole = f", {n_whole} of them for every document: there may be systems under two names" if n_whole else ""
    return [f"{len(pairs)} pairs of systems have the same text for some documents{whole}."]


def _two_groups(summaries: pd.DataFrame) -> list[str]:
    if "group" not in summaries:
        return []
    groups: dict[str, set[str]] = {}
    for system, group in zip(summaries["system"], summaries["group"], strict=True):
        groups.setdefault(system, set()).add(group)
    return [
        f"System {system} stands in {len(names)} groups ({', '.join(sorted(names))}): "
        "each is kept as a system of its own."
        for system, names in sorted(groups.items())
        if len(names) > 1
    ]


def _equal_to_reference(texts: pd.DataFrame, documents: pd.DataFrame) -> list[str]:
    references = {
        doc: {_normal(text) for text in reference_texts}
        for doc, reference_texts in zip(documents["doc_id"], documents["references"], strict=True)
    }
    is_copy = [text in references.get(doc, ()) for doc, text in zip(texts["doc_id"], texts["summary"], strict=True)]
    counts = texts[is_copy].groupby("system").size()
    return [f"System {system} repeats the reference itself in {n} documents." for system, n in counts.items()]


def _missing_pairs(summaries: pd.DataFrame, documents: pd.DataFrame) -> list[str]:
    expected, counts = documents["doc_id"].nunique(), summaries.groupby("system")["doc_id"].nunique()
    return [
        f"System {system} has no summary for {expected - n} of {expected} documents."
        for system, n in counts.items()
        if n < expected
    ]


def _blank_units(scus: pd.DataFrame | None) -> list[str]:
    if scus is None:
        return []
    blank = scus["text"].str.strip() == BLANK
    is_check = scus["is_check"].fillna(0).astype(int).astype(bool) if "is_check" in scus else False
    sentences = []
    if blank.any():
        sentences.append(f"{int(blank.sum())} units are {BLANK} fillers: kept as checks, whose answer is Not present.")
    if unmarked := int((blank & ~is_check).sum()):
        sentences.append(f"{unmarked} of them were not marked as checks in the file.")
    return sentences


def _unjudged(judgments: pd.DataFrame | None, summaries: pd.DataFrame) -> list[str]:
    if judgments is None:
        return []
    n_judged = len(judgments[["doc_id", "system"]].drop_duplicates())
    return (
        [f"{len(summaries) - n_judged} of {len(summaries)} summaries have no judgment."]
        if n_judged < len(summaries)
        else []
    )
