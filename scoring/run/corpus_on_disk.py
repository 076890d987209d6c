"""A corpus on disk instead of in memory: files come in piece by piece, documents go out one by one, in order.

Every piece passes the gate of `analysis.tables`. Pairing, order and doubles are settled by an index on disk, so memory
stays flat however many documents and systems there are, and whatever the order of the rows.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pandas as pd

from analysis.tables import read_pieces
from scoring.errors import DoubledSummary, MissingInput
from scoring.run.evaluate import check_documents, missing_documents
from scoring.run.plan import Task
from scoring.texts import Document, Text, as_text


class CorpusOnDisk:
    """Summaries and documents of one run, in a temporary folder. `with CorpusOnDisk() as corpus:` removes it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="scoring-")
        self._path = Path(self._folder.name)
        self._base = sqlite3.connect(self._path / "corpus.sqlite3", isolation_level=None)
        self._base.executescript(
            """
            PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
            CREATE TABLE documents (doc_id TEXT, refs TEXT, source TEXT);
            CREATE TABLE summaries (doc_id TEXT, system TEXT, grp TEXT, summary TEXT);
            """
        )
        self.with_group = False
        self.size = 0
        """How many summaries there are."""

    def __enter__(self) -> CorpusOnDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()
        self._folder.cleanup()

    def load(self, summaries: Path, documents: Path) -> None:
        """Read both files, and refuse doubles and summaries without their document."""
        # Most metrics look at references only; those that need a source refuse the empty one.
        for frame in read_pieces(documents, "documents", fill={"source": ""}):
            entries = check_documents(frame).values()
            rows = [(entry.doc_id, _dump(entry.references), _dump(entry.source)) for entry in entries]
            self._insert("documents", rows)
        for frame in read_pieces(summaries, "summaries"):
            self._add_summaries(frame)
        self._index("documents", "doc_id", documents)
        self._index("summaries", "doc_id, system", summaries)
        self._check_pairing()
        self.size = int(self._base.execute("SELECT count(*) FROM summaries").fetchone()[0])

    def documents(self) -> Iterator[Document]:
        """All documents in order of their ids."""
        for row in self._base.execute("SELECT doc_id, refs, source FROM documents ORDER BY doc_id"):
            yield _document(row)

    def summaries(self) -> Iterator[Text]:
        """All summaries, in no order that matters."""
        for (text,) in self._base.execute("SELECT summary FROM summaries"):
            yield _load(text)

    def tasks(self) -> Iterator[Task]:
        """Each document with its summaries, documents and systems in order of their ids."""
        query = "SELECT doc_id, system, grp, summary FROM summaries ORDER BY doc_id, system"
        for doc_id, row_group in groupby(self._base.execute(query), key=lambda row: str(row[0])):
            rows = list(row_group)
            yield Task(
                self.document(doc_id),
                tuple(row[1] for row in rows),
                tuple(_load(row[3]) for row in rows),
                tuple(row[2] for row in rows) if self.with_group else (),
            )

    def document(self, doc_id: str) -> Document:
        row = self._base.execute("SELECT doc_id, refs, source FROM documents WHERE doc_id = ?", [doc_id]).fetchone()
        if row is None:
            raise MissingInput(missing_documents([doc_id]))
        return _document(row)

    def summary(self, doc_id: str, system: str) -> Text:
        """One system's summary of one document."""
        query = "SELECT summary FROM summaries WHERE doc_id = ? AND system = ?"
        row = self._base.execute(query, [doc_id, system]).fetchone()
        if row is None:
            raise MissingInput(f"There is no summary of document {doc_id} by system {system}; check both names.")
        return _load(row[0])

    def _add_summaries(self, frame: pd.DataFrame) -> None:
        groups = frame["group"].tolist() if "group" in frame.columns else [""] * len(frame)
        self.with_group = self.with_group or "group" in frame.columns
        texts = map(_dump, frame["summary"].tolist())
        rows = zip(frame["doc_id"].tolist(), frame["system"].tolist(), groups, texts, strict=True)
        self._insert("summaries", list(rows))

    def _insert(self, table: str, rows: Sequence[tuple[str, ...]]) -> None:
        marks = {"documents": "?, ?, ?", "summaries": "?, ?, ?, ?"}[table]
        self._base.execute("BEGIN")
        self._base.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608
        self._base.execute("COMMIT")

    def _index(self, table: str, columns: str, path: Path) -> None:
        try:
            self._base.execute(f"CREATE UNIQUE INDEX {table}_key ON {table} ({columns})")
        except sqlite3.IntegrityError as error:
            query = f"SELECT {columns} FROM {table} GROUP BY {columns} HAVING count(*) > 1 LIMIT 1"  # noqa: S608
            first = ", ".join(self._base.execute(query).fetchone())
            raise DoubledSummary(
                f"{path.name} has ({columns}) = ({first}) more than once; keep one row of each."
            ) from error

    def _check_pairing(self) -> None:
        query = """SELECT DISTINCT doc_id FROM summaries WHERE doc_id NOT IN (SELECT doc_id FROM documents)
                   ORDER BY doc_id"""
        missing = [row[0] for row in self._base.execute(query)]
        if missing:
            raise MissingInput(missing_documents(missing))


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _load(text: str) -> Text:
    return as_text(json.loads(text))


def _document(row: tuple[str, str, str]) -> Document:
    references = tuple(as_text(text) for text in json.loads(row[1]))
    return Document(row[0], references, _load(row[2]))
