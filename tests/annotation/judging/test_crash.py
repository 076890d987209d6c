"""The server is killed with -9 while 20 people work, and started again: nothing acknowledged is lost or doubled."""

import http.client
import json
import re
import threading
import time
from collections import Counter

import pytest

from tests.annotation.judging.crash_site import QUOTA, TASKS, UNITS, Site

TOKEN = "a" * 32  # a CSRF token is any secret that the cookie and the header share


class Person(threading.Thread):
    """Works as the page does: saves each answer, submits, tries again with the same key when nothing comes back."""

    def __init__(self, site: Site, session: str, batch: int, number: int) -> None:
        super().__init__(daemon=True)
        self.site, self.batch, self.number = site, batch, number
        self.cookie = f"sessionid={session}; csrftoken={TOKEN}"
        self.saved: dict[str, dict[str, str]] = {}
        self.submitted: dict[str, dict[str, str]] = {}
        self.failures = 0
        self.fault: Exception | None = None

    def run(self) -> None:
        try:
            while key := self.take():
                self.work(key)
        except Exception as fault:
            self.fault = fault

    def ask(self, method: str, path: str, body: dict | None = None) -> tuple[int, str, str]:
        headers = {"Cookie": self.cookie, "X-CSRFToken": TOKEN, "Content-Type": "application/json"}
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            connection = http.client.HTTPConnection("127.0.0.1", self.site.port, timeout=10)
            try:
                connection.request(method, path, json.dumps(body or {}), headers)
                reply = connection.getresponse()
                text = reply.read().decode()
                if reply.status < 500:
                    return reply.status, reply.getheader("Location") or "", text
            except (OSError, http.client.HTTPException):
                self.failures += 1
            finally:
                connection.close()
            time.sleep(0.05)
        raise AssertionError(f"{method} {path} never got through")

    def take(self) -> str | None:
        status, location, _text = self.ask("POST", f"/work/batch/{self.batch}/")
        return location.split("/")[2] if status == 302 else None

    def work(self, key: str) -> None:
        _status, _location, page = self.ask("GET", f"/work/{key}/")
        answers = {}
        for n, field in enumerate(dict.fromkeys(re.findall(r'data-field="(\w+)"', page))):
            answers[field] = str((self.number + n) % 2)
            change = {"field": field, "content": {"value": answers[field]}, "at": int(time.time() * 1000)}
            if self.ask("PUT", f"/work/{key}/draft/", {"changes": [change]})[0] == 200:
                self.saved.setdefault(key, {})[field] = answers[field]
        letter = {"submit_key": f"{key}-{self.number}", "answers": answers}
        status, _location, text = self.ask("POST", f"/work/{key}/submit/", letter)
        assert status == 200, text
        self.submitted[key] = answers


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path)
    site.ask("tables")
    site.start()
    yield site
    site.kill()


def test_nothing_acknowledged_is_lost_or_doubled_when_the_server_is_killed(site):
    setup = site.ask("make")
    people = [Person(site, session, setup["batch"], n) for n, session in enumerate(setup["sessions"])]
    for person in people:
        person.start()
    for share in (0.2, 0.5):  # killed twice in the middle of the work
        _until(lambda share=share: sum(len(p.submitted) for p in people) >= share * TASKS * QUOTA)
        site.kill()
        time.sleep(0.2)  # everybody runs into the closed door
        site.start()
    for person in people:
        person.join(timeout=120)

    assert [person.fault for person in people if person.fault] == []
    assert sum(person.failures for person in people) > 0, "the kill was noticed by nobody: nothing was tested"
    dump = site.ask("dump")
    assignments = dump["assignments"]
    for person in people:
        for key, saved in person.saved.items():
            assert assignments[key]["draft"] == saved
        for key, answers in person.submitted.items():
            assert assignments[key]["state"] == "submitted"
            assert sorted(assignments[key]["judgments"]) == sorted([f, value, True] for f, value in answers.items())
    # Every place is filled exactly once: 30 tasks × 2 answers × 3 units.
    assert dump["live"] == [QUOTA] * TASKS
    assert Counter(assignment["state"] for assignment in assignments.values()) == {"submitted": TASKS * QUOTA}
    assert sum(len(assignment["judgments"]) for assignment in assignments.values()) == TASKS * QUOTA * UNITS
    assert len({(assignment["task"], assignment["worker"]) for assignment in assignments.values()}) == len(assignments)


def _until(reached) -> None:
    end = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < end, "the work did not get on"
        time.sleep(0.01)
