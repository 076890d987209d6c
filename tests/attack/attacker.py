"""Somebody who tries everything: hostile values in addresses, forms, headers and bodies; and what must hold."""

import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import urllib3
from lxml import html

from .deployment import Deployment, pool_of
from .prepare_words import HIDDEN

MARK = "<b id=attack>"
TEXTS = [
    MARK,
    f"\"'>{MARK}<script>attack()</script>",
    "' OR 1=1; DROP TABLE annotation_study; --",
    "{{ 7 * 7 }}${7*7}<%= 7 %>%(a)s{0.__class__}",
    "../../../../etc/passwd",
    "\x00",
    "a\r\nSet-Cookie: attack=1\r\n\r\n<b>",
    "\u202eright\u2066 to left\u2069 \ufeff\u200b",
    "\U0001f3d4" * 300,
    "x" * 20_000,
    "=cmd|' /C calc'!A0",
    "NaN",
    "-1",
    "1e309",
    "99999999999999999999999999",
    "2147483648",
    "9223372036854775808",
    "٣",
    "[]",
    '{"$ne": null}',
    "",
    " ",
    "https://evil.example/\\@x",
    "//evil.example/x",
    "javascript:attack()",
    "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
]
NUMBERS = ["0", "1", "2147483647", "2147483648", "9223372036854775808", "1" + "0" * 60]
NAMES = ["page", "q", "sort", "next", "format", "batch", "task", "status", "filter", "offset", "limit", "lang"]
HEADERS = {
    "X-Forwarded-For": "127.0.0.1, \"';--",
    "X-Forwarded-Host": "evil.example",
    "X-Original-URL": "/operator/",
    "Referer": "https://evil.example/",
    "Accept-Language": "de-" + "x" * 500,
    "If-None-Match": '"' + "a" * 4000,
    "Range": "bytes=0-0,5-1,-9999999999999999999",
    "Content-Type": "application/json; charset=utf-7",
    "X-Request-Id": "a\u00e9",
    "HX-Request": "true",
}
TELLTALES = ("Traceback (most recent call last)", "django.db.utils", "psycopg.", "SELECT ", "/site-packages/")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Any
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class Attacker:
    """One product, attacked in one role after another; every answer is held against what must always hold."""

    def __init__(self, deployment: Deployment, host: str, cookie: str, seed: int, come_from: str = "127.0.0.1") -> None:
        self.deployment, self.host, self.cookie = deployment, host, cookie
        self.pool = pool_of(deployment, host, come_from)
        self.random = random.Random(seed)
        self.statuses: Counter[int] = Counter()
        self.problems: list[str] = []
        self.may_see_hidden = False

    def ask(
        self, method: str, path: str, session: str = "", body: bytes | None = None, **headers: str
    ) -> Answer | None:
        """One request through the proxy; None where the proxy closed the connection, which is its right."""
        origin = self.deployment.origin(self.host)
        sent = {"Host": self.deployment.host(self.host), "Referer": f"{origin}/", "Accept-Encoding": "identity"}
        if session:
            sent["Cookie"] = f"{self.cookie}={session}; csrftoken={'c' * 32}; marketplace_csrf={'c' * 32}"
            sent["X-CSRFToken"] = "c" * 32
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            raw = self.pool.request(method, path, body=body, headers=_latin(sent), redirect=False)
        except (urllib3.exceptions.HTTPError, UnicodeEncodeError, ValueError):
            return None
        answer = Answer(raw.status, raw.headers, raw.data)
        self.statuses[answer.status] += 1
        self._check(f"{method} {path[:150]} ({(body or b'')[:150]!r})", answer)
        return answer

    def _check(self, asked: str, answer: Answer) -> None:
        problems = [f"status {answer.status}"] if answer.status >= 500 else []
        text, kind = answer.text, answer.headers.get("Content-Type", "")
        problems += [f"tells {word}" for word in TELLTALES if word in text]
        if HIDDEN in text and not self.may_see_hidden:
            problems.append("shows what is hidden")
        if "text/html" in kind and MARK in text:
            problems.append("writes out markup")
        location = answer.headers.get("Location", "")
        if re.match(r"(https?:)?//(?!(site|market)\.localhost)", location) or location.startswith(
            ("\\", "javascript:")
        ):
            problems.append(f"leads to {location[:80]}")
        cookies = answer.headers.getlist("Set-Cookie")
        problems += [f"sets {value[:60]}" for value in cookies if value and "Secure" not in value]
        problems += ["sets the attacker's cookie"] if any(value.startswith("attack=") for value in cookies) else []
        if "text/html" in kind and answer.status < 400 and "content-security-policy" not in answer.headers:
            problems.append("has no policy")
        self.problems += [f"{asked}: {problem}: {text[:200]!r}" for problem in problems]

    # Addresses

    def address(self, route: str, known: dict[str, list[Any]]) -> str:
        """A route with its places filled: with ids of one's own or another's, or with something hostile."""

        def fill(match: re.Match[str]) -> str:
            kind, name = match[1], match[2]
            values = [str(value) for value in known.get(name, [])]
            hostile = NUMBERS if kind == "int" else [quote(text, safe="") for text in self.random.sample(TEXTS, 3)]
            chosen = values if values and self.random.random() < 0.6 else hostile
            return self.random.choice(chosen)

        path = re.sub(r"<(?:(\w+):)?(\w+)>", fill, route.rpartition(" ")[0])
        return "/" + path

    def query(self) -> str:
        names = self.random.sample(NAMES, 3)
        return urlencode([(name, self.random.choice(TEXTS)) for name in names], errors="replace")

    # Bodies

    def forms_of(self, page: Answer | None, most: int = 3) -> list[tuple[str, list[str]]]:
        """Some forms of a page: where each goes, and its fields. None that would end the attackers' sessions."""
        if page is None or "text/html" not in page.headers.get("Content-Type", "") or not page.body.strip():
            return []
        forms = [form for form in html.fromstring(page.body).forms if "sign-out" not in (form.get("action") or "")]
        chosen = self.random.sample(forms, min(most, len(forms)))
        return [(form.get("action") or "", [name for name in form.fields if name]) for form in chosen]

    def send_forms(self, page: Answer | None, address: str, session: str = "") -> None:
        """Some forms of the page at this address, with hostile values in all their fields."""
        for target, fields in self.forms_of(page):
            where = target if target.startswith("/") else address
            self.ask("POST", where, session, self.body(fields), Content_Type="application/x-www-form-urlencoded")

    def body(self, fields: list[str]) -> bytes:
        names = [*fields, *self.random.sample(NAMES, 2)]
        pairs = [(name, self.random.choice(TEXTS)) for name in names if name != "csrfmiddlewaretoken"]
        return urlencode(pairs, errors="replace").encode() + b"&csrfmiddlewaretoken=" + b"c" * 32

    def json_body(self) -> bytes:
        value = self.random.choice([*TEXTS, None, [], {}, 10**40, -0.0, True, [[[[]]]], {"a": {"b": TEXTS[0]}}])
        names = ["answers", "submit_key", "name", "options", "text", "quota", "changes", "version", "state"]
        body = dict.fromkeys(self.random.sample(names, 3), value)
        wild = [b"", b"null", b"[" * 5000, b'{"a":' * 2000, b"\xff\xfe", b"[1e999]", json.dumps(body).encode()]
        return self.random.choice(wild)

    def bad_header(self) -> dict[str, str]:
        name = self.random.choice(list(HEADERS))
        return {name: HEADERS[name]}

    # Runs

    def until(self, seconds: float, attacks: list[Callable[[], object]]) -> None:
        """Each attack once, and then any of them until the time is over."""
        end = time.monotonic() + seconds
        for attack in self._forever(attacks):
            attack()
            if time.monotonic() > end and self._rounds:
                return

    def _forever(self, attacks: list[Callable[[], object]]) -> Iterator[Callable[[], object]]:
        self._rounds = 0
        while True:
            self.random.shuffle(attacks)
            yield from attacks
            self._rounds += 1


def _latin(headers: dict[str, str]) -> dict[str, str]:
    return {name: value.encode("utf-8", "replace").decode("latin-1") for name, value in headers.items()}
