"""Pages in constant time: a cursor says after which row to go on, so that page 1,000 costs what page 1 costs.

A cursor is the ids of the last row, from the outermost to the row's own, joined by dots. Rows that hang on a parent
(summaries on documents, assignments on tasks) are read in the parent's order, within the span of the study's parents.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from django.db.models import Max, Min, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Query, Schema
from pydantic import Field

BIGGEST = 2**63 - 1
Id = Annotated[int, Field(ge=1, le=BIGGEST)]


class Position(Schema):
    """Where a page begins, and how long it may be."""

    after: str = Field("", pattern=r"^([0-9]{1,18}(\.[0-9]{1,18}){0,2})?$", description="`next` of the page before")
    limit: int = Field(100, ge=1, le=500, description="The most items on the page")

    def ids(self, n_ids: int) -> list[int]:
        """The cursor's ids; missing ones are 0, which is before every row."""
        ids = [int(text) for text in self.after.split(".") if text]
        return (ids + [0] * n_ids)[:n_ids]


Paging = Annotated[Position, Query()]


@dataclass(frozen=True)
class Page:
    """A page: its rows, and the cursor of the next one (empty at the end)."""

    rows: list[Any]
    next: str


def page_by(rows: QuerySet[Any], keys: Sequence[str], place: Position) -> Page:
    """The rows after the cursor, in the order of these keys; the last key is the row's own id.

    The rows are dictionaries (`values()`) that hold the keys by name.
    """
    cursor_ids = place.ids(len(keys))
    beyond, equal = Q(), Q()
    for key, value in zip(keys, cursor_ids, strict=True):
        beyond |= equal & Q(**{f"{key}__gt": value})
        equal &= Q(**{key: value})
    # The first key's bound stands alone, so that an index on it is used.
    page_rows = list(rows.filter(Q(**{f"{keys[0]}__gte": cursor_ids[0]}), beyond).order_by(*keys)[: place.limit + 1])
    has_next = len(page_rows) > place.limit
    page_rows = page_rows[: place.limit]
    return Page(page_rows, ".".join(str(page_rows[-1][key]) for key in keys) if has_next else "")


def within(rows: QuerySet[Any], parents: QuerySet[Any], key: str) -> QuerySet[Any]:
    """Only rows between the first and the last of these parents: reading stops where the study ends."""
    ends = parents.aggregate(low=Min("pk"), high=Max("pk"))
    if ends["low"] is None:
        return rows.none()
    return rows.filter(**{f"{key}__gte": ends["low"], f"{key}__lte": ends["high"]})


def answer(
    request: HttpRequest, response: HttpResponse, page: Page, shape: Callable[[Any], dict[str, Any]] | None = None
) -> dict[str, Any]:
    """The page as every list answers it, with the next page's address as a Link header too."""
    if page.next:
        query = request.GET.copy()
        query["after"] = page.next
        response["Link"] = f'<{request.build_absolute_uri(request.path)}?{query.urlencode()}>; rel="next"'
    items: Iterable[Any] = (shape(row) for row in page.rows) if shape else page.rows
    return {"items": list(items), "next": page.next or None}
