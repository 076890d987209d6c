"""Amounts of money and spans of time, as people read them."""

from datetime import timedelta

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common.money import amount

register = template.Library()
register.filter(amount)


@register.filter
def span(time: timedelta | None) -> str:
    """How long, in the two largest units."""
    if time is None:
        return "–"
    minutes = max(1, round(time.total_seconds() / 60))
    days, hours, minutes_left = minutes // 1440, minutes % 1440 // 60, minutes % 60
    if days:
        units = [ngettext("%(n)d day", "%(n)d days", days) % {"n": days}]
        units += [_("%(n)d h") % {"n": hours}] if hours else []
    elif hours:
        units = [_("%(n)d h") % {"n": hours}]
        units += [_("%(n)d min") % {"n": minutes_left}] if minutes_left else []
    else:
        units = [_("%(n)d min") % {"n": minutes_left}]
    return " ".join(units)


@register.filter
def minutes(seconds: float | None) -> str:
    """Seconds as 4:12."""
    return "–" if seconds is None else f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


@register.filter
def get(mapping: dict[str, object], key: str) -> object:
    """A value by a key that is itself a variable."""
    return mapping.get(key, "")


@register.filter
def unlocalized(number: float) -> str:
    """A number for SVG: with a point, whatever the language."""
    return str(number)
