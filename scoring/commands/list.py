"""`python -m scoring list`: every metric, what it needs, whether that is here, how large it is, and what brings it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from scoring import registry
from scoring.base import Metric, Need
from scoring.cli import print_json, print_table

HELP = "every metric: what it needs, whether it is ready here"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="METRIC", help="only these (options in brackets are fine)")
    parser.add_argument("--json", action="store_true", help="print a list of objects")


def run(args: argparse.Namespace) -> None:
    metrics = registry.parse(args.names) if args.names else [registry.get(name) for name in registry.known()]
    rows = [describe(one) for one in metrics]
    if args.json:
        print_json(rows)
        return
    shown = [
        {
            "metric": row["name"],
            "ready": "yes" if row["ready"] else "no",
            "needs": ", ".join(one.needs),
            "options": ", ".join(option.name for option in one.family.description.options),
            "what": row["title"] if row["ready"] else row["missing"],
        }
        for row, one in zip(rows, metrics, strict=True)
    ]
    print_table(shown, ["metric", "ready", "needs", "options", "what"])
    for name, members in registry.groups().items():
        print(f"{name} stands for {len(members)} metrics.")
    print_needs(need for one in metrics for need in one.family.requires())


def print_needs(needs: Iterable[Need]) -> None:
    """What the machine must have for these metrics, each thing once."""
    rows: list[dict[str, object]] = [
        {"machine": one.what, "here": "yes" if one.here else "no", "size": megabytes(one.size), "comes by": one.brings}
        for one in dict.fromkeys(needs)
    ]
    if rows:
        print()
        print_table(rows, ["machine", "here", "size", "comes by"])


def megabytes(size: int) -> str:
    if not size:
        return "?"
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"


def describe(one: Metric) -> dict[str, object]:
    """Everything a program may want to know about a metric."""
    card, state = one.family.description, one.ready()
    options = [{"name": o.name, "default": o.default, "choices": list(o.choices), "help": o.help} for o in card.options]
    machine = [
        {"what": need.what, "here": need.here, "bytes": need.size or None, "brings": need.brings}
        for need in one.family.requires()
    ]
    return {
        "name": one.name,
        "title": card.title,
        "needs": list(one.needs),
        "machine": machine,
        "ready": state.ok,
        "missing": state.missing or None,
        "options": options,
        "higher_is_better": card.higher_is_better,
        "citation": card.citation,
        "reference": card.reference,
        "signature": one.signature if state.ok else None,
    }
