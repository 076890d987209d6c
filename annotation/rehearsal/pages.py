"""What a worker's browser sees of a page: its forms, frames and links, and the items to answer."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

from lxml import html

MARKS = "data-mark-field"  # a text whose words can be marked
SIDE = "data-side"  # a text that stands for the answers of one sign: "1" or "-1"
CLASS = 'contains(concat(" ", normalize-space(@class), " "), " {} ")'
OPEN_QUESTIONS = '//*[@id="practice"]//*[@role="radiogroup"][.//input[@type="radio" and not(@disabled)]]'
PROSE, QUIET = CLASS.format("prose"), CLASS.format("quiet")


@dataclass(frozen=True)
class Form:
    action: str
    fields: dict[str, str]
    """What would be sent without touching anything: hidden and filled-in fields."""
    method: str = "POST"


@dataclass(frozen=True)
class Item:
    """One thing to answer, as it stands on the page."""

    field: str
    unit: str
    text: str
    """The summary it is about."""
    values: list[float]
    sides: tuple[str, str] | None = None
    """The two texts to choose between, where there are two: that of the higher and that of the lower answers."""
    marks: str = ""
    """What its words are marked as, where an answer can be told by places in the summary."""
    severities: tuple[tuple[float, str], ...] = ()
    """What an answer is called as a mark."""


@dataclass(frozen=True)
class Page:
    """A page that arrived."""

    url: str
    status: int
    body: str
    forms: list[Form]
    frames: list[str]
    links: list[str]
    items: list[Item]
    practice: Form | None
    """Of the tutorial or the qualification test."""
    questions: list[Item]
    """To be answered in that form."""
    config: dict[str, Any]
    text: str
    prose: str
    """The first text set to be read."""
    words: list[tuple[int, int]] = field(default_factory=list)
    """The words that can be marked, by their places."""
    mark_field: str = ""
    """How the names of fields for marks begin."""

    def form(self, path: str) -> Form | None:
        """The first form whose address has this path."""
        return next((form for form in self.forms if path in form.action), None)

    @classmethod
    def read(cls, url: str, status: int, body: str) -> "Page":
        document = html.document_fromstring(body if body.strip() else "<p>", html.HTMLParser(remove_comments=True))
        fieldsets = [_item(fieldset) for fieldset in document.xpath("//fieldset[not(ancestor::template)]")]
        return cls(
            url,
            status,
            body,
            forms=[_form(url, form) for form in document.forms],
            frames=[urljoin(url, address) for address in document.xpath("//iframe/@src")],
            links=[urljoin(url, address) for address in document.xpath("//a/@href")],
            items=[item for item in fieldsets if item.values],
            practice=next((_form(url, form) for form in document.forms if form.get("id") == "practice"), None),
            questions=[_question(document, group) for group in document.xpath(OPEN_QUESTIONS)],
            config=_config(document.xpath('//script[@type="application/json"]/text()')),
            text=_plain(document.xpath("//text()[not(ancestor::script or ancestor::style)]")),
            prose=next((prose.text_content() for prose in document.xpath(f"//*[{PROSE}]")), ""),
            words=[_place(word) for word in document.xpath(f"//*[@{MARKS}]//*[@data-start]")],
            mark_field=next(iter(document.xpath(f"//@{MARKS}")), ""),
        )


def _form(url: str, form: Any) -> Form:
    return Form(urljoin(url, form.get("action", "")), dict(form.form_values()), form.method)


def _question(document: Any, group: Any) -> Item:
    """A question of the tutorial or the test, with the prose before it as its text."""
    radios = group.xpath('.//input[@type="radio"]')
    statement = document.get_element_by_id(group.get("aria-labelledby")).text_content()
    prose = group.xpath(f"preceding::*[{PROSE}][1]//text()")
    values = [_number(radio.get("value", "")) for radio in radios]
    return Item(radios[0].get("name", ""), _plain([statement]), _plain(prose), values)


def _item(fieldset: Any) -> Item:
    """A fieldset with radio buttons or a number to enter; the prose before it is its text."""
    radios = [
        radio
        for radio in fieldset.xpath('.//input[@type="radio"]')
        if next(radio.iterancestors("fieldset")) is fieldset
    ]
    legend = "".join(fieldset.xpath(f".//legend//text()[not(ancestor::*[{QUIET}])]"))
    texts = fieldset.xpath(f"(preceding::* | ancestor::*)[{PROSE}][last()]")
    numbers = fieldset.xpath('.//input[@type="number"][@min][@max]')
    return Item(
        fieldset.get("data-field") or next((field.get("name", "") for field in (*radios, *numbers)), ""),
        _plain([fieldset.get("data-title") or legend]),
        _plain([texts[0].get("data-plain") or " ".join(texts[0].xpath(".//text()"))] if texts else []),
        [_number(radio.get("value", "on")) for radio in radios] or _range(numbers),
        _sides(fieldset.getroottree().getroot()),
        fieldset.get("data-marks", ""),
        tuple(
            (_number(radio.get("value")), radio.get("data-severity"))
            for radio in radios
            if "data-severity" in radio.attrib
        ),
    )


def _place(word: Any) -> tuple[int, int]:
    return int(word.get("data-start")), int(word.get("data-end"))


def _sides(document: Any) -> tuple[str, str] | None:
    texts = {prose.get(SIDE): _plain(prose.xpath(".//text()")) for prose in document.xpath(f"//*[@{SIDE}]")}
    return (texts["1"], texts["-1"]) if set(texts) == {"1", "-1"} else None


def _range(numbers: list[Any]) -> list[float]:
    """The whole numbers that a field for a number takes."""
    return [float(n) for field in numbers[:1] for n in range(int(field.get("min")), int(field.get("max")) + 1)]


def _plain(texts: list[str]) -> str:
    return " ".join(" ".join(texts).split())


def _config(scripts: list[str]) -> dict[str, Any]:
    config: dict[str, Any] = {}
    for script in scripts:
        try:
            content = json.loads(script)
        except ValueError:
            continue
        config |= content if isinstance(content, dict) else {}
    return config


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return {"p": 1.0, "n": 0.0}.get(text.strip().lower(), 0.0)
