"""Stable pages: a token holds the last row's key, so rows that come or go meanwhile shift nothing."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core import signing
from django.db.models import Q, QuerySet

from annotation.marketplace.errors import BadParameter
from annotation.marketplace.models import Requester

DEFAULT_SIZE = 10
NOT_FILTERS = {"NextToken", "MaxResults"}


@dataclass(frozen=True)
class Page:
    """One page of rows, and the token of the next."""

    rows: list[Any]
    next_token: str | None

    def document(self, name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
        return {name: rows, "NumResults": len(rows), "NextToken": self.next_token}


def page(
    requester: Requester,
    operation: str,
    params: dict[str, Any],
    rows: QuerySet[Any],
    *,
    order_by: tuple[str, ...] = ("pk",),
    newest_first: bool = False,
) -> Page:
    """The page that the call asks for, in order of `by` (unique together). Raises BadParameter for a foreign token."""
    size = params.get("MaxResults") or DEFAULT_SIZE
    salt = _salt(requester, operation, params)
    if "NextToken" in params:
        rows = rows.filter(_beyond(order_by, _read(params["NextToken"], salt), newest_first))
    page_rows = list(rows.order_by(*(f"-{name}" if newest_first else name for name in order_by))[:size])
    # Amazon's gives a token with every page that isn't empty, and clients ask until one is.
    return Page(page_rows, _write([getattr(page_rows[-1], name) for name in order_by], salt) if page_rows else None)


def _beyond(order_by: tuple[str, ...], last: list[Any], newest_first: bool) -> Q:
    """Rows after the last one, column by column."""
    compare = "lt" if newest_first else "gt"
    condition = Q()
    for n, name in enumerate(order_by):
        equal_columns = {order_by[i]: last[i] for i in range(n)}
        condition |= Q(**equal_columns, **{f"{name}__{compare}": last[n]})
    return condition


def _salt(requester: Requester, operation: str, params: dict[str, Any]) -> str:
    filters = {name: value for name, value in params.items() if name not in NOT_FILTERS}
    digest = hashlib.sha256(json.dumps(filters, sort_keys=True, default=str).encode()).hexdigest()[:16]
    return f"{operation}:{requester.pk}:{digest}"


def _write(key: list[Any], salt: str) -> str:
    plain = [value.isoformat() if isinstance(value, datetime) else value for value in key]
    return signing.dumps(plain, salt=salt)


def _read(token: str, salt: str) -> list[Any]:
    try:
        key: list[Any] = signing.loads(token, salt=salt)
    except signing.BadSignature:
        raise BadParameter(
            "NextToken is not a token of this listing. Send the one that came with the page before, "
            "with the other parameters unchanged."
        ) from None
    return [datetime.fromisoformat(value) if isinstance(value, str) else value for value in key]
