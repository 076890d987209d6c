"""How pages say money, spans of time and states."""

from datetime import timedelta
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.marketplace.books.money import dollars

register = template.Library()

GOOD = {"Approved", "Granted", "Assignable", "active", "open", "met"}
BAD = {"Rejected", "Abandoned", "Lapsed", "revoked", "closed", "expired", "missing"}


@register.filter
def money(cents: int | None) -> str:
    """1234567 cents as "$12,345.67"; an en dash for nothing."""
    if cents is None:
        return "–"
    whole_dollars, _, fraction = dollars(abs(cents)).partition(".")
    return f"{'−' if cents < 0 else ''}${int(whole_dollars):,}.{fraction}"


@register.filter
def details(detail: dict[str, Any]) -> str:
    """What an entry of the audit log says beside who and whom; the key of a form is for the program alone."""
    fields = {name: value for name, value in detail.items() if value != "" and name != "form"}
    return "; ".join(money(value) if name == "cents" else f"{name}: {value}" for name, value in fields.items())


@register.filter
def span(seconds: float | timedelta | None) -> str:
    """A length of time in its two largest units: "1 h 30 min", "45 s"."""
    if seconds is None:
        return "–"
    total = int(seconds.total_seconds() if isinstance(seconds, timedelta) else seconds)
    amounts = []
    for size, name in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, total = divmod(total, size)
        if count:
            amounts.append(f"{count} {name}")
    return " ".join(amounts[:2]) or "0 s"


@register.filter
def tag(words: str, state: str = "") -> SafeString:
    """A state as a tag: `words` are shown, `state` (or the words) picks the colour."""
    state = state or words
    kind = " good" if state in GOOD else " bad" if state in BAD else ""
    return format_html('<span class="tag{}">{}</span>', kind, words)


@register.simple_tag(takes_context=True)
def page_query(context: dict[str, Any], number: int) -> str:
    """The present query string, on another page."""
    query = context["request"].GET.copy()
    query["page"] = str(number)
    return f"?{query.urlencode()}"
