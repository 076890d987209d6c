"""The ledger as its page and its file show it, and the limits of a study."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, OuterRef, QuerySet, Sum
from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.common.money import money, to_cents
from annotation.models import Batch, Entry, Study

from .monitor import SPENT, Money, money_of

ROWS = 50
NUMBER = re.compile(r"[0-9]{1,9}")


BY = {
    "task": ("posting__task", "posting__task__document__doc_id", "posting__task__summary__system__name"),
    "worker": ("submission__worker", "submission__worker__external_id", "submission__worker__pseudonym"),
}
"""What lines can be added up by: the key, and two names for it."""


@dataclass(frozen=True)
class LedgerFilter:
    """Which lines are shown, and whether they are added up."""

    kind: str = ""
    state: str = ""
    batch: int = 0
    task: int = 0
    worker: int = 0
    by: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> "LedgerFilter":
        words: dict[str, Iterable[str]] = {"kind": Entry.Kind.values, "state": Entry.State.values, "by": BY}
        chosen = {name: str(parameters.get(name, "")) for name in words}
        values: dict[str, Any] = {name: word if word in words[name] else "" for name, word in chosen.items()}
        values |= {name: _number(parameters.get(name), 0) for name in ("batch", "task", "worker")}
        return cls(**values)

    def lines(self, study: Study) -> QuerySet[Entry]:
        paths = {"kind": "kind", "state": "state", "batch": "batch", "task": BY["task"][0], "worker": BY["worker"][0]}
        conditions = {path: getattr(self, name) for name, path in paths.items() if getattr(self, name)}
        return Entry.objects.filter(study=study, **conditions)

    def address(self, **changes: Any) -> str:
        values = {**asdict(self), **changes}
        return urlencode({name: value for name, value in values.items() if value})


@dataclass(frozen=True)
class Subtotal:
    """The lines of one task or worker, added up."""

    name: str
    detail: str
    lines: int
    reward: int
    fee: int
    promised: int
    address: str
    """Where its lines are."""


@dataclass(frozen=True)
class LedgerPage:
    entries: list[Entry]
    subtotals: list[Subtotal]
    page: Page[Any]
    filter: LedgerFilter
    query: str
    shown: Money
    """What the lines that are shown come to, on all their pages."""
    money: Money
    left_cents: int | None
    doubtful: list[Entry]
    batches: list[Batch]
    kinds: list[tuple[str, str]]
    states: list[tuple[str, str]]
    budget: str
    wage: str

    @property
    def total(self) -> int:
        return self.page.paginator.count


def ledger_page(study: Study, parameters: Mapping[str, Any]) -> LedgerPage:
    """The newest lines first, with what was asked for of kind, state and batch; or sums by task or worker."""
    chosen = LedgerFilter.of(parameters)
    lines = chosen.lines(study)
    rows: QuerySet[Any, Any] = _sums(lines, chosen.by) if chosen.by else _in_order(lines)
    page = Paginator(rows, ROWS).get_page(_number(parameters.get("page"), 1))
    listed: list[Any] = list(page.object_list)
    return LedgerPage(
        entries=[] if chosen.by else listed,
        subtotals=[_subtotal(chosen, row) for row in listed] if chosen.by else [],
        page=page,
        filter=chosen,
        query=chosen.address(),
        shown=money_of(lines),
        money=money_of(Entry.objects.filter(study=study)),
        left_cents=None if study.budget_cents is None else study.budget_cents - study.committed_cents,
        doubtful=list(_in_order(Entry.objects.filter(study=study, state=Entry.State.DOUBTFUL))[:ROWS]),
        batches=list(study.batches.filter(Exists(Entry.objects.filter(batch=OuterRef("pk")))).order_by("pk")),
        kinds=list(Entry.Kind.choices),
        states=list(Entry.State.choices),
        budget="" if study.budget_cents is None else money(study.budget_cents),
        wage="" if study.minimum_wage_cents is None else money(study.minimum_wage_cents),
    )


def _number(text: Any, otherwise: int) -> int:
    return int(text) if NUMBER.fullmatch(str(text or "")) else otherwise


def _in_order(lines: QuerySet[Entry]) -> QuerySet[Entry]:
    return lines.select_related("batch", "submission__worker").order_by("-pk")


def _sums(lines: QuerySet[Entry], by: str) -> QuerySet[Any, Any]:
    """A row for each task or worker that a line belongs to, by name."""
    rows = lines.exclude(state=Entry.State.FAILED).filter(**{f"{BY[by][0]}__isnull": False})
    sums: QuerySet[Any, Any] = rows.values(*BY[by]).annotate(
        lines=Count("pk"),
        reward=Sum("reward_cents", filter=SPENT, default=0),
        fee=Sum("fee_cents", filter=SPENT, default=0),
        promised=Sum("promised_cents", default=0),
    )
    return sums.order_by(*BY[by][1:], BY[by][0])


def _subtotal(chosen: LedgerFilter, row: dict[str, Any]) -> Subtotal:
    key, name, detail = (row[path] for path in BY[chosen.by])
    sums = {column: row[column] for column in ("lines", "reward", "fee", "promised")}
    return Subtotal(name, detail or "", address=chosen.address(**{"by": "", chosen.by: key}), **sums)


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
