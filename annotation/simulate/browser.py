"""A worker's browser: sends requests, keeps cookies for the site it signed in to, and follows redirects.

What stands in a frame from another site is opened without cookies, as browsers do that block third-party ones.
"""

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlencode, urljoin

from annotation.errors import Refused

from .pages import Form, Page

TIMEOUT = 90.0
MOST = 20 * 2**20
RELOADS = 2  # of a page that a busy server did not give


class Unreachable(Refused):
    """A server didn't answer."""

    status = 503


class Browser:
    """Requests with cookies, or without (`private`)."""

    def __init__(self, *, cookies: bool = True, timeout: float = TIMEOUT) -> None:
        handlers: list[Any] = [urllib.request.ProxyHandler({})]
        if cookies:
            handlers.append(urllib.request.HTTPCookieProcessor(CookieJar()))
        self._opener = urllib.request.build_opener(*handlers)
        self._timeout = timeout
        self.requests = 0

    def get(self, url: str) -> Page:
        for _reload in range(RELOADS):
            page = self._page(urllib.request.Request(url))  # noqa: S310  only addresses that our own servers gave
            if page.status < 500:
                return page
            time.sleep(1)
        return self._page(urllib.request.Request(url))  # noqa: S310

    def post(self, url: str, fields: Mapping[str, str], *, referer: str = "") -> Page:
        body = urlencode(list(fields.items())).encode()
        headers = {"Referer": referer or url, "Origin": _origin(url)}
        return self._page(urllib.request.Request(url, body, headers, method="POST"))  # noqa: S310

    def send_form(self, form: Form, more: Mapping[str, str] | None = None) -> Page:
        """What a click on the form's button sends."""
        return self.post(form.action, {**form.fields, **(more or {})})

    def call(self, method: str, url: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Any:
        """A script's request: JSON out, (status, JSON) back."""
        sent = {"Content-Type": "application/json", "Accept": "application/json", **(headers or {})}
        content = None if method == "GET" else json.dumps(body).encode()
        request = urllib.request.Request(url, content, sent, method=method)  # noqa: S310
        status, _url, text = self._send(request)
        try:
            return status, json.loads(text)
        except ValueError:
            return status, {"sentence": text[:200]}

    def _page(self, request: urllib.request.Request) -> Page:
        status, url, text = self._send(request)
        return Page.read(url, status, text)

    def _send(self, request: urllib.request.Request) -> tuple[int, str, str]:
        self.requests += 1
        request.add_header("User-Agent", "Pyramidion-simulated-worker")
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return answer.status, answer.url, answer.read(MOST).decode("utf-8", "replace")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.url or request.full_url, error.read(MOST).decode("utf-8", "replace")
        except (urllib.error.URLError, http.client.HTTPException, OSError) as problem:
            raise Unreachable(f"{_origin(request.full_url)} doesn't answer: {problem}.") from None


def _origin(url: str) -> str:
    return urljoin(url, "/").rstrip("/")
