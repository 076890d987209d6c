"""The report of a rehearsal, for people (Markdown, HTML, terminal) and for programs (JSON)."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from annotation.common.money import money

from .caught_workers import Verdict
from .ledger_check import Sums
from .rehearsal import Rehearsal

STYLE = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
body { color: #1d1c1a; background: #fbfaf7; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #dcd8cf; }
.lead { font: 1.25rem/1.5 Georgia, serif; }
@media (prefers-color-scheme: dark) { body { color: #eceae4; background: #171715; } th, td { border-color: #3b3933; } }
"""


def verdict(run: Rehearsal) -> str:
    """Two sentences: who was caught, and whether the money is right."""
    findings, currency = run.findings, run.batch.study.currency
    caught = f"{len(findings.caught)} of {len(findings.planted)} planted workers were caught"
    missed = f", {_names(findings.missed)} not" if findings.missed else ""
    wronged = f"; {_names(findings.wronged)} dropped wrongly" if findings.wronged else "; no good worker was dropped"
    total = f"{money(run.books.ledger.total)} {currency}"
    books = f"The ledger balances with the market's books to the cent: {total}."
    kept_out = f" The test kept out {_names(findings.kept_out)}." if findings.kept_out else ""
    books = books if run.books.balanced else "The ledger and the market’s books differ."
    return f"{caught}{missed}{wronged}.{kept_out} {books}"


def _names(verdicts: Sequence[Verdict]) -> str:
    return ", ".join(f"{verdict.name} ({verdict.character})" for verdict in verdicts)


def facts(run: Rehearsal) -> list[tuple[str, str]]:
    """What the report says in figures."""
    findings, currency, examined = run.findings, run.batch.study.currency, run.findings.examined
    return [
        ("Seed", str(run.plan.seed)),
        ("Crowd", run.plan.crowd),
        ("Rules", ", ".join(examined.rules) or "none"),
        ("Quoted", f"{money(run.quote.total_cents)} {currency} for {run.quote.places} places"),
        ("Approved, rejected, bonuses", f"{run.approved}, {run.rejected}, {run.bonuses}"),
        ("Answers lost to the filter", f"{examined.lost}; {run.topped_up} given again"),
        ("Agreement (alpha), before and after", _shares(examined.agreement_before, examined.agreement_after)),
        (
            "Right answers, before, after, in the end",
            _shares(examined.right_before, examined.right_after, findings.right_in_the_end),
        ),
        ("Paid to planted workers", f"{money(findings.paid_to_planted_cents)} {currency}"),
        ("Kept from planted workers", f"{money(findings.kept_from_planted_cents)} {currency}"),
        ("Spent in all", f"{money(run.books.ledger.total)} {currency}"),
        ("Took", f"{run.seconds:.0f} s"),
    ]


def _share(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.3f}"


def _shares(*values: float | None) -> str:
    return " → ".join(map(_share, values))


COLUMNS = ("worker", "character", "planted", "handed in", "left", "refused", "right", "caught by", "paid")


def worker_lines(run: Rehearsal) -> list[tuple[str, ...]]:
    """The people, planted ones first."""
    return [
        (
            verdict.name,
            verdict.character,
            "planted" if verdict.planted else "",
            str(verdict.handed_in),
            str(verdict.left),
            str(verdict.refused),
            _share(verdict.right),
            _caught_by(verdict),
            money(verdict.paid_cents),
        )
        for verdict in sorted(run.findings.verdicts, key=_planted_first)
    ]


def _caught_by(verdict: Verdict) -> str:
    if verdict.not_admitted:
        return "the test"
    return ", ".join(verdict.caught_by) or ("missed" if verdict.planted and verdict.right is not None else "")


def _planted_first(verdict: Verdict) -> tuple[bool, bool, str]:
    return not verdict.planted, not verdict.is_caught, verdict.name


def book_lines(run: Rehearsal) -> list[tuple[str, ...]]:
    """The same money in every book."""
    books = run.books
    lines = [("our ledger", books.ledger), ("the requester API's lists", books.listed)]
    lines += [("the market's statement", books.statement)] if books.statement else []
    rows = [(name, *_sums(sums)) for name, sums in lines]
    change = "–" if books.balance_change is None else money(books.balance_change)
    return [*rows, ("fall of the account's balance", "", "", "", "", change)]


def _sums(sums: Sums) -> tuple[str, ...]:
    return tuple(money(cents) for cents in (sums.rewards, sums.bonuses, sums.fees, sums.held, sums.total))


BOOKS = ("book", "rewards", "bonuses", "fees", "held", "total")


def as_json(run: Rehearsal) -> dict[str, Any]:
    """The same facts for programs."""
    examined = run.findings.examined
    return {
        "plan": {**asdict(run.plan), "study": run.plan.study.name},
        "study": run.batch.study.name,
        "seed": run.plan.seed,
        "verdict": verdict(run),
        "workers": run.findings.rows(),
        "planted": len(run.findings.planted),
        "caught": [verdict.name for verdict in run.findings.caught],
        "missed": [verdict.name for verdict in run.findings.missed],
        "wronged": [verdict.name for verdict in run.findings.wronged],
        "kept_out_by_the_test": [verdict.name for verdict in run.findings.kept_out],
        "rules": list(examined.rules),
        "agreement": {"before": _number(examined.agreement_before), "after": _number(examined.agreement_after)},
        "right": {
            "before": examined.right_before,
            "after": examined.right_after,
            "in_the_end": run.findings.right_in_the_end,
        },
        "lost_answers": examined.lost,
        "topped_up": run.topped_up,
        "approved": run.approved,
        "rejected": run.rejected,
        "bonuses": run.bonuses,
        "cents": {
            "quoted": run.quote.total_cents,
            "paid_to_planted": run.findings.paid_to_planted_cents,
            "kept_from_planted": run.findings.kept_from_planted_cents,
            "total": run.books.ledger.total,
        },
        "books": {
            "balanced": run.books.balanced,
            "differences": run.books.differences,
            **asdict(run.books),
        },
        "settled": {"doubtful": len(run.settled.doubtful), "differences": run.settled.differences},
        "notes": list(run.findings.notes),
        "steps": run.steps,
        "seconds": round(run.seconds, 1),
    }


def _number(value: float | None) -> float | None:
    return None if value is None or value != value else value


def terminal(run: Rehearsal) -> Iterator[str]:
    """Lines for a terminal."""
    yield verdict(run)
    yield ""
    yield from _plain(("", ""), facts(run))
    yield ""
    yield from _plain(COLUMNS, worker_lines(run))
    yield ""
    yield from _plain(BOOKS, book_lines(run))
    yield from (f"Note: {note}" for note in run.findings.notes)
    yield from (f"Difference: {difference}" for difference in (*run.books.differences, *run.settled.differences))


def _plain(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    lines = [row for row in (head, *rows) if any(row)]
    widths = [max(len(row[place]) for row in lines) for place in range(len(head))]
    for row in lines:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def markdown(run: Rehearsal) -> str:
    lines = [f"# Rehearsal of {run.plan.study.name}", "", verdict(run), "", *_table(("", ""), facts(run))]
    lines += ["", "## Workers", "", *_table(COLUMNS, worker_lines(run))]
    lines += ["", "## Books", "", *_table(BOOKS, book_lines(run)), "", "## What was done", ""]
    lines += [f"- {step}" for step in (*run.steps, *run.findings.notes)]
    return "\n".join(lines) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return [lines[0], "|" + "---|" * len(head), *lines[1:]]


def html(run: Rehearsal) -> str:
    """A page that stands by itself."""
    title = escape(f"Rehearsal of {run.plan.study.name}")
    steps = "".join(f"<li>{escape(step)}</li>" for step in (*run.steps, *run.findings.notes))
    lines = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{STYLE}</style></head><body><main>",
        f'<h1>{title}</h1><p class="lead">{escape(verdict(run))}</p>',
        _html_table(("What", "How much"), facts(run)),
        f"<h2>Workers</h2>{_html_table(COLUMNS, worker_lines(run))}",
        f"<h2>Books</h2>{_html_table(BOOKS, book_lines(run))}",
        f"<h2>What was done</h2><ol>{steps}</ol></main></body></html>",
    ]
    return "\n".join(lines) + "\n"


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th scope='col'>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def write_report(run: Rehearsal, folder: Path) -> list[Path]:
    """report.md, report.html and report.json in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "report.md": markdown(run),
        "report.html": html(run),
        "report.json": json.dumps(as_json(run), ensure_ascii=False, indent=2, default=str) + "\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]
