"""Many annotators at once, over real connections, from one thread: they take, look and submit without thinking."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

FORM = "application/x-www-form-urlencoded"
CSRF = "c" * 32
FIELD = re.compile(rb'name="answer:([^"]+)"')
KEY = re.compile(rb'"key": "(\w+)"')


@dataclass
class Answer:
    """What came back for one request."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Tally:
    """What all annotators saw."""

    latencies: list[float] = field(default_factory=list)
    """Seconds per request."""
    tasks: list[float] = field(default_factory=list)
    """Seconds per task, from asking for it to the receipt."""
    acknowledged: dict[str, dict[str, str]] = field(default_factory=dict)
    """The answers that the site said it has, by assignment."""
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0
    processor: float = 0.0
    """Seconds of processor time that the web server and PostgreSQL took for it."""
    generator: float = 0.0
    """The same for this process, which asks."""
    elsewhere: float = 0.0
    """The same for whatever else the machine did."""

    @property
    def per_second(self) -> float:
        return len(self.tasks) / self.seconds if self.seconds else 0.0

    @property
    def processor_ms(self) -> float:
        """Milliseconds of processor time a task."""
        return 1000 * self.processor / len(self.tasks) if self.tasks else 0.0

    @property
    def generator_ms(self) -> float:
        return 1000 * self.generator / len(self.tasks) if self.tasks else 0.0

    @property
    def p95(self) -> float:
        ordered = sorted(self.latencies)
        return ordered[int(0.95 * (len(ordered) - 1))] if ordered else float("inf")


class Browser:
    """One person's connection: kept open, made again when it was lost."""

    def __init__(self, port: int, cookie: str, tally: Tally) -> None:
        self.port, self.tally = port, tally
        self.cookie = f"{cookie}; csrftoken={CSRF}"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"", kind: str = FORM) -> Answer:
        """One request; OSError when the connection breaks before the answer is whole."""
        began = time.perf_counter()
        head = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"Cookie: {self.cookie}"]
        if method == "POST":
            head += [f"Content-Type: {kind}", f"Content-Length: {len(body)}", f"X-CSRFToken: {CSRF}"]
        try:
            answer = await asyncio.wait_for(self._exchange("\r\n".join(head).encode() + b"\r\n\r\n" + body), 60)
        except (OSError, EOFError, TimeoutError, ValueError):
            self.close()
            raise OSError("the connection broke") from None
        self.tally.latencies.append(time.perf_counter() - began)
        return answer

    async def _exchange(self, request: bytes) -> Answer:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        writer.write(request)
        await writer.drain()
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while size := int((await reader.readline()).strip(), 16):
                body += await reader.readexactly(size)
                await reader.readline()
            await reader.readline()
        else:
            body = await reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close":
            self.close()
        return Answer(int(first.split()[1]), headers, body)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


Turn = Callable[[Browser, int], Awaitable[bool]]
"""Does one task; False when there is none left."""


def crowd(port: int, cookies: list[str], turn: Turn, limit: float) -> Tally:
    """Let everybody work until no task is left or the time is up."""
    return asyncio.run(_crowd(port, cookies, turn, limit))


async def _crowd(port: int, cookies: list[str], turn: Turn, limit: float) -> Tally:
    tally, end, began = Tally(), time.perf_counter() + limit, time.perf_counter()

    async def work(number: int, cookie: str) -> None:
        browser = Browser(port, cookie, tally)
        while time.perf_counter() < end:
            start = time.perf_counter()
            try:
                if not await turn(browser, number):
                    break
                tally.tasks.append(time.perf_counter() - start)
            except OSError as error:
                tally.errors.append(str(error))
        browser.close()

    await asyncio.gather(*(work(number, cookie) for number, cookie in enumerate(cookies)))
    tally.seconds = time.perf_counter() - began
    return tally


def our_flow(batch: int, units: list[str]) -> Turn:
    """A LitePyramid task of our own as a browser does it: the next one is loaded beside this one, and the submit says
    that it is in hand. Two requests a task; a person's first one is taken and looked at besides, and after the last one
    the receipt is."""
    in_hand: dict[int, Task | None] = {}

    async def turn(browser: Browser, number: int) -> bool:
        task = in_hand.pop(number) if number in in_hand else await _taken(browser, batch)
        if task is None:
            return False
        ahead = await _ahead(browser, task)
        answers = _answers(task, units, number)
        letter = {"answers": answers, "submit_key": task.key, "straight_on": True, "ahead": ahead.key if ahead else ""}
        reply = await _submit(browser, task, letter)
        browser.tally.acknowledged[task.key] = answers
        if ahead and reply["next_key"] == ahead.key:
            in_hand[number] = ahead
        elif reply["next"]:
            in_hand[number] = await _page(browser, reply["next"])
        else:  # none is left
            in_hand[number] = None
            await browser.ask("GET", reply["receipt"])
        return True

    return turn


@dataclass(frozen=True)
class Task:
    """A task whose page a browser has."""

    key: str
    fields: list[str]


async def _taken(browser: Browser, batch: int) -> Task | None:
    lease = await browser.ask("POST", f"/work/batch/{batch}/")
    place = lease.headers.get("location", "")
    if lease.status == 302 and place.startswith("/work/"):
        return await _page(browser, place)
    if lease.status in (409, 302):
        return None
    raise OSError(f"take: {lease.status}")


async def _page(browser: Browser, place: str) -> Task:
    page = await browser.ask("GET", place)
    if page.status != 200:
        raise OSError(f"page: {page.status}")
    return Task(place.split("/")[2], _fields(page))


async def _ahead(browser: Browser, task: Task) -> Task | None:
    page = await browser.ask("POST", f"/work/{task.key}/ahead/", b"{}", "application/json")
    if page.status not in (200, 204):
        raise OSError(f"ahead: {page.status}")
    return Task(KEY.findall(page.body)[0].decode(), _fields(page)) if page.status == 200 else None


def _fields(page: Answer) -> list[str]:
    return [name.decode() for name in dict.fromkeys(FIELD.findall(page.body))]


def _answers(task: Task, units: list[str], number: int) -> dict[str, str]:
    if len(task.fields) != len(units):
        raise OSError(f"page: {len(task.fields)} questions")
    return {name: str((number + position) % 2) for position, name in enumerate(task.fields)}


async def _submit(browser: Browser, task: Task, letter: dict[str, object]) -> Any:
    submitted = await browser.ask("POST", f"/work/{task.key}/submit/", json.dumps(letter).encode(), "application/json")
    if submitted.status != 200:
        raise OSError(f"submit: {submitted.status}")
    return json.loads(submitted.body)


def our_pages(batch: int, units: list[str]) -> Turn:
    """The same page by page, as without script: take, look, submit, see the receipt."""

    async def turn(browser: Browser, number: int) -> bool:
        task = await _taken(browser, batch)
        if task is None:
            return False
        answers = _answers(task, units, number)
        reply = await _submit(browser, task, {"answers": answers, "submit_key": task.key})
        browser.tally.acknowledged[task.key] = answers
        if (receipt := await browser.ask("GET", reply["receipt"])).status != 200:
            raise OSError(f"receipt: {receipt.status}")
        return True

    return turn


def turkle_task(batch: int, units: list[str]) -> Turn:
    """The same task in Turkle as a browser does it: accept, the page, the form in its frame, submit, the list."""

    async def turn(browser: Browser, number: int) -> bool:
        lease = await browser.ask("GET", f"/batch/{batch}/accept_next_task/")
        place = lease.headers.get("location", "")
        if lease.status != 302:
            raise OSError(f"take: {lease.status}")
        if not place.startswith("/task/"):
            return False
        task, assignment = place.split("/")[2], place.split("/")[4]
        for page in (place, f"/task/{task}/assignment/iframe/{assignment}/"):
            if (await browser.ask("GET", page)).status != 200:
                raise OSError("page")
        body = "&".join(f"{unit}={(number + position) % 2}" for position, unit in enumerate(units)).encode()
        submitted = await browser.ask("POST", place, body)
        if submitted.status != 302:
            raise OSError("submit")
        if (await browser.ask("GET", submitted.headers["location"])).status != 200:
            raise OSError("list")
        return True

    return turn
