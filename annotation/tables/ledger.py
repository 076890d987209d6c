"""A study's ledger as a stream, for admins: every promise and payment, in cents."""

from typing import Any

from annotation.models import Study
from annotation.models.crowds import Entry

from .stream import Column, Table, streamed, with_raw_ids


def _text(value: Any) -> Any:
    return "" if value is None else value


COLUMNS = (
    Column("entry", "integer", ("pk",)),
    Column("kind", paths=("kind",)),
    Column("state", paths=("state",)),
    Column("batch", paths=("batch__name",), cell=_text),
    Column("posting", paths=("posting__market_id",), cell=_text),
    Column("submission", paths=("submission__market_id",), cell=_text),
    Column("worker_id", paths=("submission__worker__pseudonym",), cell=_text, raw="submission__worker__external_id"),
    Column("reward_cents", "integer", ("reward_cents",)),
    Column("fee_cents", "integer", ("fee_cents",)),
    Column("promised_cents", "integer", ("promised_cents",)),
    Column("paid_cents", "integer", ("paid_cents",)),
    Column("reason", paths=("reason",)),
    Column("market_id", paths=("market_id",)),
    Column("note", paths=("note",)),
    Column("asked_by", paths=("asked_by__username",), cell=_text),
    Column("written_at", "time", ("written_at",)),
    Column("called_at", "time", ("called_at",)),
    Column("settled_at", "time", ("settled_at",)),
    Column("currency", paths=("study__currency",)),
)


def ledger_table(study: Study, *, raw_workers: bool = False) -> Table:
    """Entries in the order they were written, with the study's currency."""
    entries = Entry.objects.filter(study=study).order_by("pk")
    return streamed("ledger", entries, with_raw_ids(COLUMNS) if raw_workers else COLUMNS)
