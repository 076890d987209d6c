"""`python -m scoring list`: every metric, what it needs, whether that is here, how large it is, and what brings it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from scoring import registry
from scoring.base import Metric, Requirement
from scoring.cli import print_json, print_table

HELP = "every metric: what it needs, whether it is ready here"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="METRIC", help="only these (options in brackets are fine)")
    parser.add_argument("--json", action="store_true", help="print a list of objects")


def run(args: argparse.Namespace) -> None:
    metrics = registry.parse(args.names) if args.names else [registry.get(name) for name in registry.known()]
    rows = [describe(metric) for metric in metrics]
    if args.json:
        print_json(rows)
        return
    table_rows = [
        {
            "metric": row["name"],
            "ready": "yes" if row["ready"] else "no",
            "needs": ", ".join(metric.needs),
            "options": ", ".join(option.name for option in metric.family.description.options),
            "what": row["title"] if row["ready"] else row["missing"],
        }
        for row, metric in zip(rows, metrics, strict=True)
    ]
    print_table(table_rows, ["metric", "ready", "needs", "options", "what"])
    for name, members in registry.groups().items():
        print(f"{name} stands for {len(members)} metrics.")
    print_needs(requirement for metric in metrics for requirement in metric.family.requires())


def print_needs(needs: Iterable[Requirement]) -> None:
    """What the machine must have for these metrics, each thing once."""
    rows: list[dict[str, object]] = [
        {
            "machine": requirement.name,
            "here": "yes" if requirement.is_here else "no",
            "size": megabytes(requirement.size),
            "comes by": requirement.brings,
        }
        for requirement in dict.fromkeys(needs)
    ]
    if rows:
        print()
        print_table(rows, ["machine", "here", "size", "comes by"])


def megabytes(size: int) -> str:
    if not size:
        return "?"
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"


def describe(metric: Metric) -> dict[str, object]:
    """Everything a program may want to know about a metric."""
    description, state = metric.family.description, metric.ready()
    options = [
        {"name": o.name, "default": o.default, "choices": list(o.choices), "help": o.help} for o in description.options
    ]
    machine = [
        {
            "what": requirement.name,
            "here": requirement.is_here,
            "bytes": requirement.size or None,
            "brings": requirement.brings,
        }
        for requirement in metric.family.requires()
    ]
    return {
        "name": metric.name,
        "title": description.title,
        "needs": list(metric.needs),
        "machine": machine,
        "ready": state.ok,
        "missing": state.missing or None,
        "options": options,
        "higher_is_better": description.higher_is_better,
        "citation": description.citation,
        "reference": description.reference,
        "signature": metric.signature if state.ok else None,
    }
