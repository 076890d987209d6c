"""A task in the frame: opened without cookies, answered through the page's own addresses, handed in on the market."""

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

from annotation.common.errors import Refused

from .browser import Browser, Unreachable
from .characters import Person
from .pages import Form, Item, Page
from .places import mark_of
from .truth import Truth

SENTENCE = re.compile(r"(?<=[.!?])\s+")
MOST_GATES = 200
"""Pages before the task: consent, a tutorial item with its answer, a try of the test."""
PAUSES = (1.0, 4.0)
HAND_IN = "/mturk/externalSubmit"


class Trouble(Refused):
    """The task can't be done; the sentence says what the page said."""


class NotAdmitted(Trouble):
    """All tries of the qualification test are used."""


class TaskPage:
    """One worker's task, be it our page in the market's frame or a form that the market itself serves."""

    def __init__(self, address: str, person: Person, truth: Truth) -> None:
        self.address, self.person, self.truth = address, person, truth
        self.browser = Browser(cookies=False)
        self.query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        self.page: Page | None = None
        self.is_form = False
        """The market serves the whole task (HTMLQuestion): there is nothing to save with us."""
        self.items: list[Item] = []
        self.answers: dict[str, str] = {}
        self.marks: dict[str, tuple[str, dict[str, Any]]] = {}
        """Answers that our page tells by marked words: by the item's field, the mark's own and what it holds."""
        self.seconds: dict[str, float] = {}

    def open(self) -> None:
        """Open the page, past consent, tutorial and test where they are asked for, and think of the answers."""
        page = self._past_gates(self._get(self.address))
        self.page, self.items, self.is_form = page, page.items, "urls" not in page.config
        if not self.items and (units := _writing(page)):
            self.answers = units
            return
        if not self.items:
            raise Trouble(f"There is nothing to answer on {page.url}: {page.text[:200]}")
        for item in self.items:
            values = sorted(item.values)
            truth = self._truth(item, values)
            answer = self.person.answer(truth, values, item.text, item.unit)
            self.answers[item.field] = f"{answer:g}"
            if not self.is_form and (mark := mark_of(page, item, answer, truth, self.person)):
                self.marks[item.field] = mark
            self.seconds[item.field] = self.person.seconds(item.text, item.unit)

    def _past_gates(self, page: Page) -> Page:
        for number in range(MOST_GATES):
            if page.practice is not None:
                answers = {item.field: self._practice_answer(item, number) for item in page.questions}
                page = self._checked(self.browser.send_form(page.practice, answers))
            elif page.items or page.config:
                break
            elif again := next((link for link in page.links if link.endswith("/test/")), ""):
                page = self._get(again)  # not passed, and there is a try left
            elif not page.forms:
                break
            else:
                page = self._checked(self.browser.send_form(page.forms[0]))
        if urlsplit(page.url).path.endswith("/test/"):
            raise NotAdmitted(page.text[:300])
        return page

    def _practice_answer(self, item: Item, number: int) -> str:
        """Each try is thought of anew."""
        values = sorted(item.values)
        return f"{self.person.answer(self._truth(item, values), values, item.text, item.unit, number):g}"

    def _truth(self, item: Item, values: list[float]) -> float:
        if item.sides:
            return self.truth.between(*item.sides, values)
        return self.truth.of(item.text, item.unit, values)

    def draft(self, max_answers: int) -> None:
        """What the page's script does while one works: keep the first answers, and tell how long it took."""
        if self.is_form:
            return
        assert self.page is not None
        now = int(self.page.config["now"])
        changes = [
            {"field": name, "content": content, "at": now + place}
            for place, (name, content) in enumerate(list(self._contents().items())[:max_answers])
        ]
        self._call("PUT", "draft", {"changes": changes, "seen": 0, "signals": self._signals(max_answers)}, 1)

    def _contents(self) -> dict[str, Any]:
        """The answers as our page sends them."""
        return dict(self.marks.get(name) or (name, {"value": value}) for name, value in self.answers.items())

    def submit(self, clicks: int = 1) -> None:
        """Submit to the site; clicked more than once, all at the same moment."""
        if self.is_form:
            return
        assert self.page is not None
        body = {
            "answers": self._contents(),
            "submit_key": self.page.config["submitKey"],
            "signals": self._signals(len(self.answers)),
        }
        replies = self._call("POST", "submit", body, clicks)
        self.page = self._get(urljoin(self.page.url, replies[0]["receipt"]))

    def hand_in(self, clicks: int = 1) -> bool:
        """Hand in on the market: whether it took it."""
        form = self._handing_in()

        def send() -> tuple[int, Any]:
            page = Browser(cookies=False).post(form.action, form.fields, referer=self.address)
            return page.status, page.text

        return any(status == 200 for status, _text in all_at_once(send, clicks))

    def _handing_in(self) -> Form:
        assert self.page is not None
        form = self.page.form(HAND_IN)
        if form is None:
            raise Trouble(f"There is no way back to the market on {self.page.url}: {self.page.text[:200]}")
        if not self.is_form:
            return form
        # The form's own script would fill these in.
        action = self.query.get("turkSubmitTo", "").rstrip("/") + HAND_IN
        return Form(action, {**self.answers, "assignmentId": self.query["assignmentId"]})

    def _signals(self, max_answers: int) -> dict[str, Any]:
        names = list(self.seconds)[:max_answers]
        items = {name: {"seconds": self.seconds[name], "changes": 1} for name in names}
        active = round(sum(self.seconds[name] for name in names), 1)
        return {"load": "simulated", "active": active, "focus_lost": 0, "pastes": 0, "items": items}

    def _call(self, method: str, name: str, body: dict[str, Any], clicks: int) -> list[Any]:
        assert self.page is not None
        url = urljoin(self.page.url, self.page.config["urls"][name])
        replies = all_at_once(lambda: self.browser.call(method, url, body), clicks)
        answers = [answer for status, answer in replies if status == 200]
        if not answers:
            raise Trouble(str(replies[0][1].get("sentence") or replies[0]))
        return answers

    def _get(self, url: str) -> Page:
        return self._checked(self.browser.get(url))

    def _checked(self, page: Page) -> Page:
        if page.status != 200:
            raise Trouble(f"{urlsplit(page.url).path[:40]} answers {page.status}: {page.text[:300]}")
        return page


def all_at_once(send: Callable[[], tuple[int, Any]], clicks: int) -> list[tuple[int, Any]]:
    with ThreadPoolExecutor(clicks) as pool:
        return list(pool.map(lambda _n: patiently(send), range(clicks)))


def patiently(send: Callable[[], tuple[int, Any]]) -> tuple[int, Any]:
    """Send, and again while the server is out of order, as the pages' own scripts do: both sides take it once."""
    for pause in PAUSES:
        try:
            status, answer = send()
        except Unreachable:
            status, answer = 503, {}
        if status < 500:
            return status, answer
        time.sleep(pause)
    return send()


def _writing(page: Page) -> dict[str, str]:
    """SCU extraction: the sentences of the reference, one a line; empty on other pages."""
    if "most" not in page.config and not any("units" in form.fields for form in page.forms):
        return {}
    sentences = [sentence.strip() for sentence in SENTENCE.split(page.prose) if sentence.strip()]
    return {"units": "\n".join(sentences[: int(page.config.get("most", 16))])}
