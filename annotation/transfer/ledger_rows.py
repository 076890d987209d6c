"""A study's ledger as a stream, for admins: every promise and payment, in cents."""

from collections.abc import Iterator
from itertools import islice

from annotation.models import Study
from annotation.models.crowds import Entry

from .streaming import Column, Row, Table

FIELDS = {
    "entry": "pk",
    "kind": "kind",
    "state": "state",
    "batch": "batch__name",
    "posting": "posting__market_id",
    "submission": "submission__market_id",
    "worker_id": "submission__worker__pseudonym",
    "reward_cents": "reward_cents",
    "fee_cents": "fee_cents",
    "promised_cents": "promised_cents",
    "paid_cents": "paid_cents",
    "reason": "reason",
    "market_id": "market_id",
    "note": "note",
    "asked_by": "asked_by__username",
    "written_at": "written_at",
    "called_at": "called_at",
    "settled_at": "settled_at",
}
NUMBERS = ("entry", "reward_cents", "fee_cents", "promised_cents", "paid_cents")
TIMES = 3  # the last columns


def ledger_table(study: Study, *, raw_workers: bool = False) -> Table:
    """Entries in the order they were written, with the study's currency."""
    fields = FIELDS | ({"worker_id": "submission__worker__external_id"} if raw_workers else {})
    every = Entry.objects.filter(study=study).order_by("pk")

    def chunks() -> Iterator[list[Row]]:
        rows = every.values_list(*fields.values()).iterator(chunk_size=2000)
        while chunk := [_entry(row, study.currency) for row in islice(rows, 5000)]:
            yield chunk

    columns = [Column(name, "integer" if name in NUMBERS else "string") for name in fields]
    return Table("ledger", (*columns, Column("currency")), every.count(), chunks)


def _entry(row: Row, currency: str) -> Row:
    times = (time.isoformat() if time else "" for time in row[-TIMES:])
    return (*("" if cell is None else cell for cell in row[:-TIMES]), *times, currency)
