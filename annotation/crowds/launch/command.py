"""The launch command's words: its options as terms, a quote as lines."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.common.money import money, to_cents
from annotation.crowds.lookup import batch_named
from annotation.crowds.terms import Terms
from annotation.models import Batch

from .quote import Quote

TIMES = {"duration": ("duration_seconds", 60), "lifetime": ("lifetime_seconds", 3600)}
TIMES["auto_approve"] = ("auto_approve_seconds", 24 * 3600)
SAME = ("preset", "title", "description", "keywords", "question", "minutes")


def read_arguments(batch: Batch, options: Mapping[str, Any]) -> Terms:
    """The batch's terms so far, or the preset's, with what the command line says. Refused or ValueError when wrong."""
    values = {name: options[name] for name in SAME if options.get(name)}
    for name, (term, unit) in TIMES.items():
        if options.get(name) is not None:
            values[term] = round(options[name] * unit)
    if options.get("reward"):
        values["reward_cents"] = to_cents(options["reward"])
    pairs = [pair.partition("=") for pair in options.get("reward_group", [])]
    if pairs or options.get("reward"):  # a reward for all replaces those by group, unless they are said as well
        values["reward_by_group"] = {group: to_cents(amount) for group, _equals, amount in pairs}
    if options.get("exclude"):
        values["exclude_batches"] = [batch_named(batch.study, name).pk for name in options["exclude"]]
    if options.get("tasks"):
        values["tasks_per_participant"] = options["tasks"]
    return Terms.parse({**({} if options.get("preset") else batch.terms), **values})


def quote_lines(quote: Quote, currency: str) -> Iterator[str]:
    """The quote for people."""
    yield f"{quote.postings:>12,} postings with {quote.places:,} places"
    yield f"{money(quote.reward_cents):>12} {currency} rewards"
    yield f"{money(quote.fee_cents):>12} {currency} fees"
    yield f"{money(quote.total_cents):>12} {currency} in all"
    if quote.hourly_cents is not None:
        yield f"{money(quote.hourly_cents):>12} {currency} an hour ({quote.wage_source})"
    if quote.balance_cents is not None:
        yield f"{money(quote.balance_cents):>12} {currency} on the market's account"
    if quote.budget_left_cents is not None:
        yield f"{money(quote.budget_left_cents):>12} {currency} left of the study's budget"
    yield from (f"Warning: {warning}" for warning in quote.warnings)
    yield from (f"Problem: {problem}" for problem in quote.problems)
