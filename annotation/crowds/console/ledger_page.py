"""The ledger as its page and its file show it, and the limits of a study."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.common.money import money, to_cents
from annotation.models import Batch, Entry, Study

from .monitor import Money, money_of

ROWS = 50
NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class LedgerPage:
    entries: list[Entry]
    total: int
    number: int
    has_more: bool
    kind: str
    state: str
    batch_id: int
    query: str
    money: Money
    left_cents: int | None
    doubtful: list[Entry]
    batches: list[Batch]
    kinds: list[tuple[str, str]]
    states: list[tuple[str, str]]
    budget: str
    wage: str


def ledger_page(study: Study, parameters: Mapping[str, Any]) -> LedgerPage:
    """The newest lines first, with what was asked for of kind, state and batch."""
    kind = str(parameters.get("kind", "")) if parameters.get("kind", "") in Entry.Kind.values else ""
    state = str(parameters.get("state", "")) if parameters.get("state", "") in Entry.State.values else ""
    batch_id, number = _number(parameters.get("batch"), 0), max(1, _number(parameters.get("page"), 1))
    entries = _lines(study, kind, state, batch_id)
    total = entries.count()
    first = (number - 1) * ROWS
    filters = {"kind": kind, "state": state, "batch": batch_id or ""}
    return LedgerPage(
        entries=list(entries[first : first + ROWS]),
        total=total,
        number=number,
        has_more=total > first + ROWS,
        kind=kind,
        state=state,
        batch_id=batch_id,
        query=urlencode({name: value for name, value in filters.items() if value}),
        money=money_of(Entry.objects.filter(study=study)),
        left_cents=None if study.budget_cents is None else study.budget_cents - study.committed_cents,
        doubtful=list(_lines(study, "", Entry.State.DOUBTFUL, 0)),
        batches=list(study.batches.filter(entries__isnull=False).distinct().order_by("pk")),
        kinds=list(Entry.Kind.choices),
        states=list(Entry.State.choices),
        budget="" if study.budget_cents is None else money(study.budget_cents),
        wage="" if study.minimum_wage_cents is None else money(study.minimum_wage_cents),
    )


def _number(text: Any, otherwise: int) -> int:
    return int(text) if NUMBER.fullmatch(str(text or "")) else otherwise


def _lines(study: Study, kind: str, state: str, batch_id: int) -> QuerySet[Entry]:
    filters = {"kind": kind, "state": state, "batch": batch_id}
    rows = Entry.objects.filter(study=study, **{name: value for name, value in filters.items() if value})
    return rows.select_related("batch", "submission__worker").order_by("-pk")


def ledger_rows(study: Study) -> list[dict[str, Any]]:
    """Every line, oldest first, for a file. Amounts in cents."""
    rows = Entry.objects.filter(study=study).select_related("batch", "submission__worker", "posting").order_by("pk")
    return [
        {
            "line": entry.pk,
            "written_at": entry.written_at.isoformat(),
            "kind": entry.kind,
            "state": entry.state,
            "batch": entry.batch.name,
            "posting": entry.posting.market_id if entry.posting else "",
            "submission": entry.submission.market_id if entry.submission else "",
            "worker": entry.submission.worker.external_id if entry.submission else "",
            "reward_cents": entry.reward_cents,
            "fee_cents": entry.fee_cents,
            "promised_cents": entry.promised_cents,
            "paid_cents": entry.paid_cents,
            "reason": entry.reason,
            "note": entry.note,
            "settled_at": entry.settled_at.isoformat() if entry.settled_at else "",
        }
        for entry in rows
    ]


def set_limits(study: Study, budget: str, wage: str) -> None:
    """The budget and the minimum wage; empty is none. Refused for a budget below what is spent and promised."""
    try:
        budget_cents = to_cents(budget) if budget.strip() else None
        wage_cents = to_cents(wage) if wage.strip() else None
    except ValueError as problem:
        raise Refused(_("%(problem)s Nothing was changed.") % {"problem": problem}) from None
    study.budget_cents, study.minimum_wage_cents = budget_cents, wage_cents
    try:
        with transaction.atomic():
            study.save(update_fields=["budget_cents", "minimum_wage_cents"])
    except IntegrityError:
        raise Refused(
            _("%(sum)s %(currency)s are spent and promised already, more than this budget. Nothing was changed.")
            % {"sum": money(study.committed_cents), "currency": study.currency}
        ) from None


def doubtful_line(study: Study, key: str) -> Entry:
    """The line that a person has something to say about."""
    entry = Entry.objects.filter(study=study, pk=_number(key, 0)).first()
    if entry is None:
        raise Refused(_("There is no such line in this ledger. Nothing was changed."))
    return entry
