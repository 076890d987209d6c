"""Numbers as people read them: a fixed number of digits, their interval, and an en dash for undefined."""

import math
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def digits(value: float | str | None, places: int = 3) -> str | SafeString:
    """A number to three decimals; undefined is a dash that says so on hover and focus."""
    # A table without the column gives an empty string.
    if value is None or isinstance(value, str) or not math.isfinite(value):
        reason = _("undefined here")
        return format_html('<span class="undefined" tabindex="0" title="{}" aria-label="{}">–</span>', reason, reason)
    return f"{value:.{places}f}".replace("-", "−")


@register.filter
def doubt(value: float | None, result: dict[str, Any]) -> SafeString:
    """A number with its interval, where it has one."""
    if value is None or not math.isfinite(value):
        return mark_safe(digits(value))  # noqa: S308  digits escapes
    return format_html("{} <small>[{}, {}]</small>", digits(value), digits(result["low"]), digits(result["high"]))


@register.filter
def cell(value: Any) -> str | SafeString:
    """A table's cell: numbers with a decimal point get three digits, everything else stays as it is."""
    if value is None or isinstance(value, float):
        return digits(value)
    return str(value)
