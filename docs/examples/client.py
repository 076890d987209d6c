"""A small typed client for the API: the standard library, nothing else. Copy it, or import it from a clone.

study = Client("https://pyramidion.example.org", token).study("my-study")
for judgment in study.judgments():
    print(judgment["doc_id"], judgment["value"])
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen


class Judgment(TypedDict):
    """One answer of one worker about one unit of one summary."""

    doc_id: str
    system: str | None
    group: str | None
    unit: str
    worker_id: str
    value: float
    assignment_id: str
    batch: int
    protocol: str
    role: str
    round: int
    seconds: float | None
    position: int | None
    is_check: bool | None
    submitted_at: str | None
    revision: int
    state: str
    counts: bool


class Score(TypedDict):
    """What a metric, or the humans, gave a summary; doc_id * is a whole system."""

    document: int | None
    doc_id: str
    system: str
    group: str
    metric: str
    value: float | None


class Job(TypedDict):
    """Background work with its progress."""

    id: int
    kind: str
    state: str
    done: int
    total: int
    message: str


class ApiError(Exception):
    """What the server refused, in its own words."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(f"{status}: {problem.get('detail', 'no reason given')}")
        self.status, self.problem = status, problem


@dataclass
class Client:
    """One server, one token. Waits when told to slow down; fetches nothing twice that has not changed."""

    server: str
    token: str
    _known: dict[str, tuple[str, Any]] = field(default_factory=dict, repr=False)

    def call(self, method: str, path: str, data: Any = None, if_match: str = "", key: str = "") -> Any:
        """One request. `path` begins behind /api/v1; `key` is the Idempotency-Key of a request that spends."""
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        if if_match:
            headers["If-Match"] = if_match
        if key:
            headers["Idempotency-Key"] = key
        if method == "GET" and path in self._known:
            headers["If-None-Match"] = self._known[path][0]
        body = None if data is None else json.dumps(data).encode()
        request = Request(f"{self.server}/api/v1{path}", body, headers, method=method)  # noqa: S310
        try:
            with urlopen(request, timeout=60) as answer:  # noqa: S310
                content = json.load(answer)
                if method == "GET" and answer.headers["ETag"]:
                    self._known[path] = (answer.headers["ETag"], content)
                return content
        except HTTPError as error:
            if error.code == 304:
                return self._known[path][1]
            if error.code == 429:
                time.sleep(int(error.headers["Retry-After"]))
                return self.call(method, path, data, if_match, key)
            raise ApiError(error.code, json.load(error)) from None

    def pages(self, path: str, **options: Any) -> Iterator[Any]:
        """Every item of a list, page after page."""
        after: str | None = ""
        while after is not None:
            query = {**options, **({"after": after} if after else {})}
            page = self.call("GET", f"{path}?{urlencode(query)}" if query else path)
            yield from page["items"]
            after = page["next"]

    def me(self) -> dict[str, Any]:
        return cast(dict[str, Any], self.call("GET", "/me"))

    def studies(self) -> list[dict[str, Any]]:
        return list(self.pages("/studies"))

    def study(self, slug: str) -> Study:
        return Study(self, f"/studies/{slug}")


@dataclass(frozen=True)
class Study:
    """One study's resources."""

    client: Client
    path: str

    def documents(self, **options: Any) -> Iterator[dict[str, Any]]:
        return self.client.pages(f"{self.path}/documents", limit=200, **options)

    def summaries(self, **options: Any) -> Iterator[dict[str, Any]]:
        return self.client.pages(f"{self.path}/summaries", limit=500, **options)

    def scus(self, **options: Any) -> Iterator[dict[str, Any]]:
        return self.client.pages(f"{self.path}/scus", limit=500, **options)

    def judgments(self, **options: Any) -> Iterator[Judgment]:
        return self.client.pages(f"{self.path}/judgments", limit=500, **options)

    def scores(self, **options: Any) -> Iterator[Score]:
        return self.client.pages(f"{self.path}/scores", limit=500, **options)

    def submissions(self, **options: Any) -> Iterator[dict[str, Any]]:
        return self.client.pages(f"{self.path}/submissions", limit=500, **options)

    def spend(self, batch: int, action: str, key: str, most_cents: int, **body: Any) -> Job:
        """`launch`, `verdicts` or `bonuses` of a batch. Sent again with the same key, it is done once."""
        data = {**body, "most_cents": most_cents}
        return self.wait(self.client.call("POST", f"{self.path}/batches/{batch}/{action}", data, key=key))

    def score(self, *metrics: str) -> Job:
        """Score the study with these metrics and wait until it is done."""
        return self.wait(self.client.call("POST", f"{self.path}/metric-runs", {"metrics": list(metrics)}))

    def wait(self, job: Job, seconds: float = 600) -> Job:
        """Ask until a job has ended; ApiError when it failed."""
        end = time.monotonic() + seconds
        while job["state"] in ("waiting", "running"):
            if time.monotonic() > end:
                raise TimeoutError(f"Job {job['id']} is still {job['state']} after {seconds:.0f} s.")
            time.sleep(1)
            job = self.client.call("GET", f"{self.path}/jobs/{job['id']}")
        if job["state"] == "failed":
            raise ApiError(200, {"detail": job["message"]})
        return job

    def report(self) -> dict[str, Any]:
        """The report's words and numbers; waits while it is being made."""
        while "sections" not in (found := self.client.call("GET", f"{self.path}/report")):
            self.wait(found)
        return cast(dict[str, Any], found)
