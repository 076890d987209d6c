"""What the libraries say to people: a template with values, so that a page can say it in the reader's language.

Neither `analysis` nor `scoring` knows a language but English. A `Sentence` is the finished English text wherever a text
is expected (command line, JSON, files); a page translates its template and fills in the values anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Value = str | int
"""What fills a hole: a name or a number as it stands, a `Grouped` number, or a `Sentence` that is translated too."""


class Grouped(int):
    """A number with a mark between its thousands: 1,234 in English."""

    def __str__(self) -> str:
        return f"{int(self):,}"


class Sentence(str):
    """An English text that remembers its template (with holes: `%(name)s`; a per cent sign is `%%`) and its values.

    The template stands in the call as one literal: `annotation`'s `makemessages` reads it there.
    """

    template: str
    values: Mapping[str, Value]

    def __new__(cls, template: str, values: Mapping[str, Value] | None = None) -> Sentence:
        text = super().__new__(cls, template % (values or {}))
        text.template, text.values = template, values or {}
        return text

    def __getnewargs__(self) -> tuple[str, Mapping[str, Value]]:  # type: ignore[override]
        """Copies and other processes get the template, not the finished text."""
        return self.template, self.values

    def as_json(self) -> dict[str, Any]:
        """Template and values as JSON keeps them."""
        return {"template": self.template, "values": {name: _as_json(value) for name, value in self.values.items()}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Sentence:
        """The sentence that `as_json` wrote down."""
        return cls(data["template"], {name: _from_json(value) for name, value in data["values"].items()})


def _as_json(value: Value) -> Any:
    if isinstance(value, Sentence):
        return value.as_json()
    return {"grouped": int(value)} if isinstance(value, Grouped) else str(value)


def _from_json(data: Any) -> Value:
    if isinstance(data, str):
        return data
    return Grouped(data["grouped"]) if "grouped" in data else Sentence.from_json(data)


def join_sentences(sentences: Iterable[str], separator: str = " ") -> Sentence:
    """Several sentences as one text."""
    values = {str(number): sentence for number, sentence in enumerate(sentences)}
    return Sentence(separator.join(f"%({name})s" for name in values), values)


def some_of(names: Sequence[str], limit: int = 4) -> str:
    """The first few names, and how many more there are."""
    first = ", ".join(names[:limit])
    if len(names) <= limit:
        return first
    return Sentence("%(names)s and %(n)s more", {"names": first, "n": len(names) - limit})
