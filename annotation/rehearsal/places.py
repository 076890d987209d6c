"""Where a simulated worker marks words: whoever sees what is there marks the same words, give or take one."""

from typing import Any

from .characters import Person
from .pages import Item, Page

LONGEST = 4  # words of a mark


def mark_of(page: Page, item: Item, answer: float, truth: float, person: Person) -> tuple[str, dict[str, Any]] | None:
    """The field of a mark on the page and what it holds; None where an answer is told without places."""
    severity = dict(item.severities).get(answer)
    if not item.marks or not severity or not page.words:
        return None
    start, end = _range(person, len(page.words), item, sees_it=answer == truth)
    place = {"start": page.words[start][0], "end": page.words[end][1]}
    return f"{page.mark_field}{item.field}", {"value": item.marks, "severity": severity, **place}


def _range(person: Person, n_words: int, item: Item, *, sees_it: bool) -> tuple[int, int]:
    """The first and the last word."""
    draw = person.draw("place", item.text, item.unit)
    shared = person.draw_for_all("place", item.text, item.unit) if sees_it else draw
    start = shared.randrange(n_words)
    end = start + shared.randrange(LONGEST) + draw.choice([0, 0, 1])
    return start, min(end, n_words - 1)
