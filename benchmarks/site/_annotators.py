"""Many annotators at once, over real connections, from one thread: they take, look and submit without thinking."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

FORM = "application/x-www-form-urlencoded"
CSRF = "c" * 32
FIELD = re.compile(rb'name="answer:([^"]+)"')


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

    @property
    def per_second(self) -> float:
        return len(self.tasks) / self.seconds if self.seconds else 0.0

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


def our_task(batch: int, units: list[str]) -> Turn:
    """A LitePyramid task of our own as a browser does it: take, look, submit, see the receipt."""

    async def turn(browser: Browser, number: int) -> bool:
        lease = await browser.ask("POST", f"/work/batch/{batch}/")
        place = lease.headers.get("location", "")
        if lease.status != 302 or not place.startswith("/work/"):
            if lease.status in (409, 302):
                return False
            raise OSError(f"take: {lease.status}")
        key = place.split("/")[2]
        page = await browser.ask("GET", place)
        if page.status != 200:
            raise OSError(f"page: {page.status}")
        fields = list(dict.fromkeys(FIELD.findall(page.body)))
        if len(fields) != len(units):
            raise OSError(f"page: {len(fields)} questions")
        answers = {name.decode(): str((number + position) % 2) for position, name in enumerate(fields)}
        body = json.dumps({"answers": answers, "submit_key": key}).encode()
        submitted = await browser.ask("POST", f"{place}submit/", body, "application/json")
        if submitted.status != 200:
            raise OSError(f"submit: {submitted.status}")
        browser.tally.acknowledged[key] = answers
        if (receipt := await browser.ask("GET", json.loads(submitted.body)["receipt"])).status != 200:
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
