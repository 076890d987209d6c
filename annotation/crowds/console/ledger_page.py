"""The ledger as its page and its file show it, and the limits of a study."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.common.money import money, to_cents
from annotation.models import Batch, Entry, Study

from .monitor import Money

ROWS = 50
NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class LedgerPage:
    entries: list[Entry]
    total: int
    number: int
    more: bool
    kind: str
    state: str
    batch_id: int
    query: str
    money: Money
    left: int | None
    doubtful: list[Entry]
    batches: list[Batch]
    kinds: list[tuple[str, str]]
    states: list[tuple[str, str]]
    budget: str
    wage: str


def ledger_page(study: Study, asked: Mapping[str, Any]) -> LedgerPage:
    """The newest lines first, with what was asked for of kind, state and batch."""
    kind = str(asked.get("kind", "")) if asked.get("kind", "") in Entry.Kind.values else ""
    state = str(asked.get("state", "")) if asked.get("state", "") in Entry.State.values else ""
    batch_id, number = _number(asked.get("batch"), 0), max(1, _number(asked.get("page"), 1))
    found = _lines(study, kind, state, batch_id)
    total = found.count()
    first = (number - 1) * ROWS
    chosen = {"kind": kind, "state": state, "batch": batch_id or ""}
    return LedgerPage(
        entries=list(found[first : first + ROWS]),
        total=total,
        number=number,
        more=total > first + ROWS,
        kind=kind,
        state=state,
        batch_id=batch_id,
        query=urlencode({name: value for name, value in chosen.items() if value}),
        money=study_money(study),
        left=None if study.budget_cents is None else study.budget_cents - study.committed_cents,
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
    wanted = {"kind": kind, "state": state, "batch": batch_id}
    rows = Entry.objects.filter(study=study, **{name: value for name, value in wanted.items() if value})
    return rows.select_related("batch", "submission__worker").order_by("-pk")


def study_money(study: Study) -> Money:
    """All batches together."""
    spent = Q(kind__in=[Entry.Kind.APPROVE, Entry.Kind.BONUS])
    counted = Entry.objects.filter(study=study).exclude(state=Entry.State.FAILED)
    return Money(
        **counted.aggregate(
            promised=Sum("promised_cents", default=0),
            paid=Sum("paid_cents", default=0),
            reward=Sum("reward_cents", filter=spent, default=0),
            fee=Sum("fee_cents", filter=spent, default=0),
            doubtful=Count("pk", filter=Q(state=Entry.State.DOUBTFUL)),
            waiting=Count("pk", filter=Q(state=Entry.State.PLANNED)),
        )
    )


def ledger_rows(study: Study) -> list[dict[str, Any]]:
    """Every line, oldest first, for a file. Amounts in cents."""
    rows = Entry.objects.filter(study=study).select_related("batch", "submission__worker", "posting").order_by("pk")
    return [
        {
            "line": one.pk,
            "written_at": one.written_at.isoformat(),
            "kind": one.kind,
            "state": one.state,
            "batch": one.batch.name,
            "posting": one.posting.market_id if one.posting else "",
            "submission": one.submission.market_id if one.submission else "",
            "worker": one.submission.worker.external_id if one.submission else "",
            "reward_cents": one.reward_cents,
            "fee_cents": one.fee_cents,
            "promised_cents": one.promised_cents,
            "paid_cents": one.paid_cents,
            "reason": one.reason,
            "note": one.note,
            "settled_at": one.settled_at.isoformat() if one.settled_at else "",
        }
        for one in rows
    ]


def set_limits(study: Study, budget: str, wage: str) -> None:
    """The budget and the minimum wage; empty is none. Refused for a budget below what is spent and promised."""
    try:
        cents = to_cents(budget) if budget.strip() else None
        least = to_cents(wage) if wage.strip() else None
    except ValueError as problem:
        raise Refused(_("%(problem)s Nothing was changed.") % {"problem": problem}) from None
    study.budget_cents, study.minimum_wage_cents = cents, least
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
    found = Entry.objects.filter(study=study, pk=_number(key, 0)).first()
    if found is None:
        raise Refused(_("There is no such line in this ledger. Nothing was changed."))
    return found
