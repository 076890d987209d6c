"""One simulated worker at the marketplace: joins, finds work, takes it, works in the frame, hands in."""

import hashlib
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, quote_plus, urljoin, urlsplit

from django.conf import settings

from annotation.common.errors import Refused

from .browser import Browser
from .characters import Person
from .pages import Page
from .task import NotAdmitted, TaskPage, Trouble
from .truth import Truth

MOST_LATE = 120.0  # seconds that a late worker is waited for


class MarketWorker:
    """A person with a browser and an account at the marketplace."""

    def __init__(
        self,
        person: Person,
        market: str,
        truth: Truth,
        *,
        stop: threading.Event | None = None,
        mark: Callable[[str], None] = lambda worker_id: None,
    ) -> None:
        self.mark = mark
        self.person, self.market, self.truth = person, market.rstrip("/"), truth
        self.stop = stop or threading.Event()
        self.browser = Browser()
        self.worker_id = ""
        self.outcomes: list[str] = []
        """Of each task that was taken: handed in, returned, abandoned, late, refused, or not admitted by the test."""
        self.enlisted = self.looked = False

    # The market's own pages

    def enlist(self) -> None:
        """Join, or sign in where the account is there already. Once is enough; a busy market is asked again."""
        for pause in (0.0, 2.0, 5.0):
            if self.enlisted:
                return
            time.sleep(pause)
            page = self._join()
            self.enlisted = page.status == 200
        if not self.enlisted:
            raise Refused(f"{self.person.name} can't join the marketplace (status {page.status}): {page.text[-300:]}")

    def _join(self) -> Page:
        password = password_of(self.person.name)
        page = self.browser.get(f"{self.market}/join/")
        if page.form("/join/"):
            facts = {"username": self.person.name, "password": password, "country": "US", "is_adult": "on"}
            page = self.browser.send_form(_form(page, "/join/"), facts)
        if page.status == 200:
            return page
        form = _form(self.browser.get(f"{self.market}/sign-in/"), "/sign-in/")
        return self.browser.send_form(form, {"username": self.person.name, "password": password})

    def work(self, title: str, max_tasks: int) -> None:
        """Take and do HITs of this title, one after the other, until none is left."""
        for _turn in range(max_tasks):
            if self.stop.is_set() or "not admitted" in self.outcomes:
                return
            page = self.take(title)
            if page is None:
                return
            self.outcomes.append(self.do(page, len(self.outcomes)))
            if self.outcomes[-1] == "refused":
                return

    def take(self, title: str) -> Page | None:
        """Find the HITs, look at one in preview the first time, accept one; None when there is none left."""
        hits_page = self.browser.get(f"{self.market}/hits/?only=yes&q={quote_plus(title)}")
        if not self.looked:
            self.looked = True
            for link in hits_page.links:
                if urlsplit(link).path.startswith("/hits/") and urlsplit(link).path != "/hits/":
                    self.preview(self.browser.get(link))
                    break
        form = hits_page.form("/groups/")
        if form is None:
            return None
        page = self.browser.send_form(form)
        return page if "/work/" in page.url and page.frames else None

    def preview(self, page: Page) -> None:
        """A look at a HIT before it is taken: whoever only looks is unknown to the site, and nothing can be sent."""
        for address in page.frames:
            preview = Browser(cookies=False).get(address)
            if preview.status != 200:
                raise Trouble(f"The preview answers {preview.status}: {preview.text[:200]}")

    def do(self, page: Page, number: int) -> str:
        """The task that was taken, by this person's habits."""
        parameters = {name: values[0] for name, values in parse_qs(urlsplit(page.frames[0]).query).items()}
        if (worker_id := parameters.get("workerId", self.worker_id)) != self.worker_id:
            self.mark(worker_id)
            self.worker_id = worker_id
        try:
            return self._do(page, number)
        except Trouble as trouble:
            self.browser.send_form(_form(page, "/return/"))  # as the page asks: somebody else may do it
            return "not admitted" if isinstance(trouble, NotAdmitted) else "refused"

    def _do(self, page: Page, number: int) -> str:
        kind = self.person.character
        task = TaskPage(page.frames[0], self.person, self.truth)
        task.open()
        task.draft(len(task.items) // 2)
        if self.person.draw("leaves", number).random() < kind.leaves:
            if self.person.draw("returns", number).random() < 0.5:
                self.browser.send_form(_form(page, "/return/"))
                return "returned"
            return "abandoned"
        if kind.is_late:
            self._wait(page)
        task.submit(kind.clicks)
        return "handed in" if task.hand_in(kind.clicks) else "late" if kind.is_late else "refused"

    def _wait(self, page: Page) -> None:
        """Until the market's time for this assignment is up."""
        status, state = self.browser.call("GET", urljoin(page.url, "state/"))
        seconds_left = float(state.get("seconds_left") or 0) if status == 200 else 0.0
        end = time.monotonic() + min(seconds_left + 1, MOST_LATE)
        while time.monotonic() < end and not self.stop.is_set():
            time.sleep(0.2)


def _form(page: Page, path: str) -> Any:
    form = page.form(path)
    if form is None:
        raise Refused(f"The page {page.url} has no form for {path} (status {page.status}): {page.text[:200]}")
    return form


def password_of(name: str) -> str:
    """The same for the same name on this site, so that a second rehearsal signs in again."""
    return hashlib.blake2b(f"{settings.SECRET_KEY}:{name}".encode(), digest_size=16).hexdigest()
