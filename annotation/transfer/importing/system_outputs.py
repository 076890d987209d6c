"""`import_outputs`: a system's summaries from line-aligned files become part of a study."""

from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from annotation.common.errors import Refused
from annotation.models import Study, Summary, System

from .aligned_files import THRESHOLD, Alignment, align, sentences_of
from .column_lengths import check_system

BIGGEST = 200 * 2**20


@dataclass(frozen=True)
class ImportedOutputs:
    alignment: Alignment
    n_written: int
    n_known: int  # documents that had this very summary already


def import_outputs(
    study: Study,
    outputs: Path,
    references: Path,
    system: str,
    *,
    group: str = "",
    threshold: float = THRESHOLD,
    write: bool = False,
) -> ImportedOutputs:
    """Match the lines and, with `write`, store the matched outputs as the system's summaries, all or none.

    A summary that is there already is left alone if it is the same text; another one under the same name is Refused.
    """
    check_system(system, group)
    texts = read_lines(outputs)
    alignment = align(study, read_lines(references), texts, threshold)
    outputs_by_doc = {match.doc_id: sentences_of(texts[match.line - 1]) for match in alignment.matches}
    summaries = Summary.objects.filter(document__study=study, system__name=system)
    old = {doc: cells for doc, *cells in summaries.values_list("document__doc_id", "text", "system__group")}
    differ = sorted(doc for doc, text in outputs_by_doc.items() if doc in old and old[doc] != [text, group])
    if differ:
        raise Refused(
            f"{len(differ)} documents have another summary by {system!r} already, such as {differ[0]!r}. Nothing was "
            "imported: choose another --system."
        )
    new = {doc: text for doc, text in outputs_by_doc.items() if doc not in old}
    if write and new:
        _store(study, system, group, new)
    return ImportedOutputs(alignment, len(new), len(outputs_by_doc) - len(new))


def _store(study: Study, system: str, group: str, texts: dict[str, str | list[str]]) -> None:
    documents = dict(study.documents.values_list("doc_id", "pk"))
    with transaction.atomic():
        owner, _ = System.objects.get_or_create(study=study, name=system, group=group)
        Summary.objects.bulk_create(
            (Summary(document_id=documents[doc], system=owner, text=text) for doc, text in texts.items()),
            batch_size=2000,
        )


def read_lines(path: Path) -> list[str]:
    """The lines of a text file; only a line feed ends one, whatever other signs count as breaks elsewhere."""
    if not path.is_file():
        raise Refused(f"{path} is not a file. Nothing was imported.")
    if path.stat().st_size > BIGGEST:
        raise Refused(f"{path.name} is larger than {BIGGEST // 2**20} MB. Nothing was imported.")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(f"{path.name} has a byte at {error.start} that is not UTF-8. Nothing was imported.") from None
    lines = text.removesuffix("\n").split("\n") if text else []
    return [line.removesuffix("\r") for line in lines]
