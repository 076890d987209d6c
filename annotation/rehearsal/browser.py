"""A worker's browser: sends requests, keeps cookies for the site it signed in to, and follows redirects.

What stands in a frame from another site is opened without cookies, as browsers do that block third-party ones.
"""

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urljoin

import requests
from requests.adapters import HTTPAdapter
from requests.cookies import RequestsCookieJar

from annotation.common.errors import Refused

from .pages import Form, Page

TIMEOUT = 90.0
RELOADS = 2  # of a page that a busy server did not give
USER_AGENT = "Pyramidion-simulated-worker"


class Unreachable(Refused):
    """A server didn't answer."""

    status = 503


class NoCookies(HTTPAdapter):
    """Sends no cookies, not even those that a redirect has just set."""

    def add_headers(self, request: requests.PreparedRequest, **_options: Any) -> None:
        request.headers.pop("Cookie", None)


class Browser:
    """Requests with cookies, or without."""

    def __init__(self, *, cookies: bool = True) -> None:
        self._cookies = RequestsCookieJar()
        self._adapter = HTTPAdapter if cookies else NoCookies

    def get(self, url: str) -> Page:
        for _reload in range(RELOADS):
            page = self._page("GET", url)
            if page.status < 500:
                return page
            time.sleep(1)
        return self._page("GET", url)

    def post(self, url: str, fields: Mapping[str, str], *, referer: str = "") -> Page:
        return self._page("POST", url, data=fields, headers={"Referer": referer or url, "Origin": _origin(url)})

    def send_form(self, form: Form, values: Mapping[str, str] | None = None) -> Page:
        """What a click on the form's button sends."""
        fields = {**form.fields, **(values or {})}
        if form.method == "GET":
            return self.get(f"{form.action.partition('?')[0]}?{urlencode(fields)}")
        return self.post(form.action, fields)

    def call(self, method: str, url: str, body: Mapping[str, Any] | None = None) -> tuple[int, Any]:
        """A script's request: JSON out, (status, JSON) back."""
        answer = self._send(method, url, json=body, headers={"Accept": "application/json"})
        try:
            return answer.status_code, answer.json()
        except ValueError:
            return answer.status_code, {"sentence": answer.text[:200]}

    def _page(self, method: str, url: str, **content: Any) -> Page:
        answer = self._send(method, url, **content)
        return Page.read(answer.url, answer.status_code, answer.text)

    def _send(self, method: str, url: str, **content: Any) -> requests.Response:
        """Over a connection of its own: people click minutes apart, and servers hang up in between."""
        with requests.Session() as session:
            session.trust_env = False  # no proxy stands between the two servers
            session.cookies = self._cookies
            session.mount("http://", self._adapter())
            session.mount("https://", self._adapter())
            session.headers["User-Agent"] = USER_AGENT
            try:
                answer = session.request(method, url, timeout=TIMEOUT, **content)
            except requests.RequestException as problem:
                raise Unreachable(f"{_origin(url)} doesn't answer: {problem}.") from None
        answer.encoding = "utf-8"
        return answer


def _origin(url: str) -> str:
    return urljoin(url, "/").rstrip("/")
