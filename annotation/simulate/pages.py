"""What a worker's browser sees of a page: its forms, frames and links, and the items to answer."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

VOID = {"input", "br", "img", "meta", "link", "hr", "source", "col", "wbr", "area", "base", "embed", "track"}


@dataclass
class Form:
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    """What would be sent without touching anything: hidden and filled-in fields."""
    choices: dict[str, list[str]] = field(default_factory=dict)
    """Radio buttons and boxes, by name."""
    buttons: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Item:
    """One thing to answer, as it stands on the page."""

    field: str
    unit: str
    text: str
    """The summary it is about."""
    values: list[float]


@dataclass
class Page:
    """A page that arrived."""

    url: str
    status: int
    body: str
    forms: list[Form] = field(default_factory=list)
    frames: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    prose: str = ""
    """The first text set to be read."""

    def form(self, part: str) -> Form | None:
        """The first form whose address has this part."""
        return next((one for one in self.forms if part in one.action), None)

    @classmethod
    def read(cls, url: str, status: int, body: str) -> "Page":
        page = cls(url, status, body)
        reader = _Reader(page)
        reader.feed(body)
        reader.close()
        page.text = " ".join(" ".join(reader.shown).split())
        page.items = [item for item in page.items if item.values]
        for item in page.items:
            item.unit, item.text = " ".join(item.unit.split()), " ".join(item.text.split())
        return page


class _Reader(HTMLParser):
    """Walks through the elements once. Items are fieldsets with radio buttons; the prose before them is their text."""

    def __init__(self, page: Page) -> None:
        super().__init__(convert_charrefs=True)
        self.page = page
        self.open: list[tuple[str, dict[str, str]]] = []
        self.prose: list[str] = []
        self.shown: list[str] = []
        self.is_first_prose = False
        self.item: Item | None = None
        self.has_title = False
        self.script: list[str] | None = None

    def handle_starttag(self, tag: str, pairs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in pairs}
        if tag not in VOID:
            self.open.append((tag, given))
        if "prose" in given.get("class", "").split():
            self.prose, self.is_first_prose = [], not self.page.prose
        handler = getattr(self, f"_{tag}", None)
        if handler is not None:
            handler(given)

    def handle_endtag(self, tag: str) -> None:
        if tag == "fieldset":
            self.item = None
        if tag == "script" and self.script is not None:
            self._keep_config()
        while self.open:
            closed, _given = self.open.pop()
            if closed == tag:
                break

    def handle_data(self, data: str) -> None:
        if self.script is not None:
            self.script.append(data)
            return
        tags = {tag for tag, _given in self.open}
        if tags & {"script", "style"}:
            return
        self.shown.append(data)
        if self._inside("prose"):
            self.prose.append(data)
            if self.is_first_prose:
                self.page.prose += data
        if self.item is not None and "legend" in tags and not self.has_title and not self._inside("quiet"):
            self.item.unit += data

    def _inside(self, name: str) -> bool:
        return any(name in given.get("class", "").split() for _tag, given in self.open)

    def _form(self, given: dict[str, str]) -> None:
        action = urljoin(self.page.url, given.get("action", "") or self.page.url)
        self.page.forms.append(Form(action, given.get("method", "get").lower()))

    def _iframe(self, given: dict[str, str]) -> None:
        self.page.frames.append(urljoin(self.page.url, given.get("src", "")))

    def _a(self, given: dict[str, str]) -> None:
        self.page.links.append(urljoin(self.page.url, given.get("href", "")))

    def _script(self, given: dict[str, str]) -> None:
        if given.get("type") == "application/json":
            self.script = []

    def _keep_config(self) -> None:
        try:
            found = json.loads("".join(self.script or []))
        except ValueError:
            found = None
        if isinstance(found, dict):
            self.page.config.update(found)
        self.script = None

    def _fieldset(self, given: dict[str, str]) -> None:
        self.has_title = bool(given.get("data-title"))
        self.item = Item(given.get("data-field", ""), given.get("data-title", ""), " ".join(self.prose), [])
        self.page.items.append(self.item)

    def _button(self, given: dict[str, str]) -> None:
        if self.page.forms and given.get("name"):
            self.page.forms[-1].buttons.append((given["name"], given.get("value", "")))

    def _textarea(self, given: dict[str, str]) -> None:
        if self.page.forms and given.get("name"):
            self.page.forms[-1].fields[given["name"]] = ""

    def _input(self, given: dict[str, str]) -> None:
        name, kind, value = given.get("name", ""), given.get("type", "text"), given.get("value", "on")
        if self.item is not None and kind == "radio":
            self.item.field = self.item.field or name
            self.item.values += list(_number(value))
        if not self.page.forms or not name:
            return
        form = self.page.forms[-1]
        if kind in ("radio", "checkbox"):
            form.choices.setdefault(name, []).append(value)
            if "checked" in given:
                form.fields[name] = value
        elif kind not in ("submit", "button", "file"):
            form.fields[name] = given.get("value", "")


def _number(text: str) -> Iterator[float]:
    try:
        yield float(text)
    except ValueError:
        yield {"p": 1.0, "n": 0.0}.get(text.strip().lower(), 0.0)
