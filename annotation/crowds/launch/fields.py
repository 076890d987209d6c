"""The numbers and texts of the launch form, checked under the names and in the units that the form itself shows."""

from math import ceil, isfinite
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.money import money, to_cents
from annotation.crowds.terms import LENGTHS, RANGES


class Time(NamedTuple):
    """A span that the form takes in a unit of its own."""

    term: str
    seconds: int
    """In one unit."""
    label: str | Promise
    unit: str | Promise


TIMES = {
    "duration": Time("duration_seconds", 60, gettext_lazy("For a task"), gettext_lazy("minutes")),
    "lifetime": Time("lifetime_seconds", 3600, gettext_lazy("On the market"), gettext_lazy("hours")),
    "approve": Time("auto_approve_seconds", 86400, gettext_lazy("Approved by itself"), gettext_lazy("after days")),
}
WHOLE: dict[str, tuple[str | Promise, int, int]] = {
    "approval": (gettext_lazy("Approved work"), 0, 100),
    "approved": (gettext_lazy("Approved HITs"), 0, 2**31 - 1),  # the API's integers
    "tasks_per_participant": (gettext_lazy("Tasks in a sitting"), *RANGES["tasks_per_participant"]),
}
TEXTS: dict[str, str | Promise] = {
    "title": gettext_lazy("Title"),
    "description": gettext_lazy("Description"),
    "keywords": gettext_lazy("Keywords"),
}
MOST_MINUTES = 24 * 60


def read_time(name: str, text: str) -> int:
    """Seconds; ValueError has the bounds in the field's own unit."""
    term, seconds, label, unit = TIMES[name]
    low, high = RANGES[term]
    number = _decimal(text)
    if number is None or not low <= number * seconds <= high:
        # Rounded up: what the sentence names as possible must be so.
        bounds = ceil(100 * low / seconds) / 100, high / seconds
        raise ValueError(_not_between(f"{label} ({unit})", text, *(f"{bound:.10g}" for bound in bounds)))
    return round(number * seconds)


def read_reward(label: str, text: str) -> int:
    """Cents; ValueError says how to write an amount, or which ones are possible."""
    cents, (low, high) = to_cents(text), RANGES["reward_cents"]
    if not low <= cents <= high:
        raise ValueError(_not_between(label, text, money(low), money(high)))
    return cents


def read_minutes(text: str) -> float:
    """What a task takes by estimate."""
    number = _decimal(text)
    if number is None or not 0 < number <= MOST_MINUTES:
        raise ValueError(
            _("%(field)s: “%(text)s” is not a number above 0 and up to %(high)s.")
            % {"field": f"{_('A task takes')} ({_('minutes')})", "text": text[:40], "high": MOST_MINUTES}
        )
    return number


def read_whole(name: str, text: str) -> int:
    label, low, high = WHOLE[name]
    plain = text.strip()
    # Ten digits are more than any of the bounds has, and int() refuses thousands of them.
    if not (plain.isascii() and plain.isdigit() and len(plain) <= 10 and low <= int(plain) <= high):
        raise ValueError(
            _("%(field)s: “%(text)s” is not a whole number from %(low)s to %(high)s.")
            % {"field": label, "text": text[:40], "low": low, "high": high}
        )
    return int(plain)


def read_text(name: str, text: str) -> str:
    text, most = " ".join(text.split()), LENGTHS[name]
    if len(text) > most:
        raise ValueError(
            _("%(name)s has %(n)d characters, but at most %(most)d are possible.")
            % {"name": TEXTS[name], "n": len(text), "most": most}
        )
    return text


def _decimal(text: str) -> float | None:
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return number if isfinite(number) else None


def _not_between(field: str, text: str, low: Any, high: Any) -> str:
    about = {"field": field, "text": text[:40], "low": low, "high": high}
    return _("%(field)s: “%(text)s” is not a number from %(low)s to %(high)s.") % about
