"""Random sequences of what annotators and machines do: what a page shows as saved is what the server has, and no answer
and no mark belongs to another statement than the one it was given for.

Answers, undo, evidence, two tabs, reloads, a slow network, none, and kill -9, in an order drawn from a seed. A plain
model in Python says what must come of it.
"""

import json
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.annotation.judging.crash_site import Site
from tests.browser.helpers import ready

SHOWN = """() => [...document.querySelectorAll('.item')].map((item) => [
  item.querySelector('input:checked')?.value ?? '',
  [...item.querySelectorAll('.mark')].map((mark) => mark.textContent)])"""
SAME = f"(expected) => JSON.stringify(({SHOWN})()) === expected"
PLACE = "(selector) => [...document.querySelectorAll('.item')].findIndex((item) => item.matches(selector))"
Mark = tuple[int, int]


@dataclass
class Content:
    """What is drafted for one statement."""

    value: str = ""
    marks: list[Mark] = field(default_factory=list)

    def copy(self) -> "Content":
        return Content(self.value, list(self.marks))


@dataclass
class Tab:
    """A page with what it can undo, the statement it answered last, and its line to the network."""

    page: Page
    undoable: list[tuple[int, Content]] = field(default_factory=list)
    decided: int | None = None

    def __post_init__(self) -> None:
        self.line = self.page.context.new_cdp_session(self.page)
        self.line.send("Network.enable")

    def place(self, selector: str = ".active") -> int:
        return self.page.evaluate(PLACE, selector)

    def network(self, *, latency: int = 0, offline: bool = False) -> None:
        line = {"offline": offline, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1}
        self.line.send("Network.emulateNetworkConditions", line)


class Desk:
    """Two tabs at one task of a site that may be killed."""

    def __init__(self, site: Site, browser: Browser, session: str, seed: int) -> None:
        self.site, self.draw = site, Random(seed)
        self.context = browser.new_context()
        self.context.add_cookies([{"name": "sessionid", "value": session, "url": site.address}])
        page = self.context.new_page()
        page.goto(site.address)
        page.get_by_role("button", name="Start").click()
        ready(page)
        self.key = re.search(r"/work/(\w+)/", page.url)[1]
        self.tabs = [Tab(page), Tab(self.context.new_page())]
        self.tabs[1].page.goto(page.url)
        ready(self.tabs[1].page)
        self.tab = self.tabs[0]
        self.words = [word.strip() for word in page.locator("[data-w]").all_text_contents()]
        self.contents = [Content() for _ in page.locator(".item").all()]
        self.is_up = True

    def steps(self) -> list[Callable[[], None]]:
        steps = [self.answer] * 5 + [self.undo] * 2 + [self.mark] * 3 + [self.switch] * 2
        return [*steps, self.slow, self.offline, self.reload, self.reload, self.kill, self.heal]

    # What annotators do

    def answer(self) -> None:
        value, place = self.draw.choice("01"), self.tab.place()
        self.tab.page.keyboard.press("np"[int(value)])
        if place < 0:  # everything was answered when the page was loaded: no statement is outlined, no key answers
            return
        self.store(place, Content(value, self.contents[place].marks))
        self.tab.decided = place

    def undo(self) -> None:
        self.tab.page.keyboard.press("u")
        if self.tab.undoable:
            place, before = self.tab.undoable.pop()
            self.contents[place] = before
            self.tab.decided = None

    def mark(self) -> None:
        page, decided = self.tab.page, self.tab.decided
        subject = decided if decided is not None and self.contents[decided].value else self.tab.place()
        page.keyboard.press("e")
        if subject < 0 or self.contents[subject].value != "1":
            expect(page.locator("#marking")).to_be_hidden()
            return
        assert self.tab.place(".marking") == subject
        ends = []
        for _ in range(2):
            for _ in range(self.draw.randrange(3)):
                page.keyboard.press("ArrowRight")
            ends.append(page.evaluate("Number(document.querySelector('.cursor').dataset.w)"))
            page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        first, last = sorted(ends)
        apart = [(begin, end) for begin, end in self.contents[subject].marks if end < first or last < begin]
        self.store(subject, Content("1", sorted([*apart, (first, last)])))

    def store(self, place: int, content: Content) -> None:
        self.tab.undoable.append((place, self.contents[place].copy()))
        self.contents[place] = content

    def switch(self) -> None:
        self.tab = self.tabs[1 - self.tabs.index(self.tab)]
        self.tab.page.bring_to_front()

    def reload(self) -> None:
        if not self.is_up:
            return
        self.tab.network(latency=self.draw.choice([0, 600]))
        self.tab.page.reload()
        self.tab.undoable, self.tab.decided = [], None

    # What machines do

    def slow(self) -> None:
        self.tab.network(latency=600)

    def offline(self) -> None:
        self.tab.network(offline=True)

    def kill(self) -> None:
        if self.is_up:
            self.site.kill()
            self.is_up = False

    def heal(self) -> None:
        if not self.is_up:
            self.site.start()
            self.is_up = True
        for tab in self.tabs:
            tab.network()
            tab.page.evaluate("window.dispatchEvent(new Event('online'))")
        self.check_saved()

    # What must come of it

    def expected(self) -> list[list]:
        return [
            [content.value, [" ".join(self.words[a : b + 1]) for a, b in content.marks] if content.value == "1" else []]
            for content in self.contents
        ]

    def check_shown(self) -> None:
        text = json.dumps(self.expected(), separators=(",", ":"), ensure_ascii=False)
        for tab in self.tabs:
            try:
                tab.page.wait_for_function(SAME, arg=text, timeout=5000)
            except Exception:
                assert tab.page.evaluate(SHOWN) == self.expected(), self.tabs.index(tab)

    def check_saved(self) -> None:
        for tab in self.tabs:
            expect(tab.page.locator("#save-state")).to_have_attribute("data-kind", "saved", timeout=15_000)
        fields = [item.get_attribute("data-field") for item in self.tab.page.locator(".item").all()]
        items = json.loads(self.row("SELECT draft FROM annotation_assignment WHERE key = ?", self.key)[0][0]).get(
            "items", {}
        )
        drafts = [items.get(name, {}) for name in fields]
        saved = [(draft.get("value") or "", [tuple(mark) for mark in draft.get("evidence", [])]) for draft in drafts]
        assert saved == [(content.value, content.marks) for content in self.contents]

    def row(self, query: str, *values: object) -> list[tuple]:
        database = sqlite3.connect(self.site.env["DATABASE_URL"].removeprefix("sqlite:///"))
        try:
            return database.execute(query, values).fetchall()
        finally:
            database.close()

    def submit(self) -> None:
        """Everything answered and sent: each judgment has the value and the words of its own statement."""
        for place, content in enumerate(self.contents):
            if not content.value:
                self.tab.page.locator(".item").nth(place).get_by_role("radio").nth(1).check()
                content.value = "0"
        self.tab.page.locator("#submit").click()
        received = self.tab.page.get_by_text(f"Received, thank you: {len(self.contents)} answers are stored.")
        expect(received).to_be_visible(timeout=20_000)
        rows = self.row(
            "SELECT value, j.extra, s.text FROM annotation_judgment j "
            "JOIN annotation_assignment a ON a.id = assignment_id JOIN annotation_summary s ON s.id = summary_id "
            "WHERE key = ? ORDER BY position",
            self.key,
        )
        judged = [
            [f"{value:g}", [json.loads(text)[a:b] for a, b in json.loads(extra or "{}").get("evidence", [])]]
            for value, extra, text in rows
        ]
        assert judged == self.expected()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("site"))
    site.ask("tables")
    site.sessions = site.ask("make")["sessions"]
    database = sqlite3.connect(Path(site.env["DATABASE_URL"].removeprefix("sqlite:///")))
    database.execute("""UPDATE annotation_batch SET options = '{"order": "natural", "evidence": true}'""")
    database.commit()
    database.close()
    site.start()
    yield site
    site.kill()


@pytest.mark.parametrize("seed", range(3))
def test_what_is_shown_as_saved_is_what_the_server_has(site, browser, seed):
    desk = Desk(site, browser, site.sessions[seed], seed)
    done = []
    try:
        for _ in range(30):
            step = desk.draw.choice(desk.steps())
            done.append(step.__name__)
            step()
            desk.check_shown()
        desk.heal()
        desk.check_shown()
        desk.submit()
    except BaseException as error:
        error.add_note(" ".join(done))
        raise
    finally:
        if not desk.is_up:
            site.start()
        desk.context.close()
