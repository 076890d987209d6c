"""Amounts of money: whole cents inside, as people write and read them outside."""

import re
from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext as _

WRITTEN = re.compile(r"(\d{1,7})(?:[.,](\d{1,2}))?")
SIGNS = {"USD": "$", "GBP": "£", "EUR": "€"}


def to_cents(text: str) -> int:
    """ "0.15", "0,15 $" or "$0.15" in cents; ValueError says how to write an amount."""
    digits = WRITTEN.fullmatch(str(text).strip("$€£\u00a0 \t\n"))
    if digits is None:
        raise ValueError(_("“%(text)s” is not an amount: write it like 0.15.") % {"text": str(text)[:40]})
    return int(digits[1]) * 100 + int((digits[2] or "").ljust(2, "0"))


def money(cents: int) -> str:
    """12.34, without a sign for the currency."""
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def amount(cents: int | None, currency: str = "USD") -> str:
    """1234 as $12.34, in German 12,34 $; an en dash where there is none."""
    if cents is None:
        return "–"
    number = number_format(Decimal(abs(cents)) / 100, decimal_pos=2, force_grouping=True)
    sign = "−" if cents < 0 else ""
    if currency not in SIGNS:
        return f"{sign}{number} {currency}"
    return sign + _("%(symbol)s%(number)s") % {"symbol": SIGNS[currency], "number": number}
