"""Calls to Prolific's REST API: which address, whose token, how long to wait, and what an error means.

What may be repeated is repeated: reads, and whatever the server turned away unread (429). A call that may have taken
effect is not: MarketUnreachable says so, and the callers look before they ask again.
"""

import logging
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import requests
from django.conf import settings
from django.utils.translation import gettext as _

from annotation.crowds.base import MarketRefused, MarketUnreachable

ROOT = "/api/v1"
ATTEMPTS = 4
LONGEST_WAIT = 30.0
PAGE_SIZE = 100
MOST_PAGES = 1000
log = logging.getLogger(__name__)


class NotFound(MarketRefused):
    """Prolific knows no such thing."""


class Api:
    """One connection, kept for the calls of one job. The token is sent to the allowed address and shown nowhere."""

    def __init__(self, token: str) -> None:
        self.root = allowed_url() + ROOT
        if not token:
            raise MarketRefused(
                _(
                    "There is no token for Prolific: give the study one on the Launch page, or set PROLIFIC_TOKEN for "
                    "the whole site. Nothing was spent."
                )
            )
        self.session = requests.Session()
        self.session.headers.update({"Authorization": f"Token {token}"})

    def get(self, path: str, **query: Any) -> Any:
        return self._ask("GET", path, params=query)

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Every result of a list, page by page."""
        for page in range(1, MOST_PAGES + 1):
            answer = self.get(path, **query, page=page, page_size=PAGE_SIZE)
            yield from answer.get("results") or []
            if not ((answer.get("_links") or {}).get("next") or {}).get("href"):
                return

    def post(self, path: str, body: dict[str, Any] | None = None) -> Any:
        return self._ask("POST", path, json=body or {})

    def post_with_header(self, path: str, body: dict[str, Any], header: str) -> tuple[Any, str]:
        """The same, with a header of the answer."""
        answer = self._answer("POST", path, json=body)
        return _json(answer), answer.headers.get(header, "")

    def patch(self, path: str, body: dict[str, Any]) -> Any:
        """Sets values, so it may be repeated."""
        return self._ask("PATCH", path, json=body)

    def delete(self, path: str, body: dict[str, Any] | None = None) -> Any:
        return self._ask("DELETE", path, json=body or {})

    def _ask(self, method: str, path: str, **arguments: Any) -> Any:
        return _json(self._answer(method, path, **arguments))

    def _answer(self, method: str, path: str, **arguments: Any) -> requests.Response:
        for attempt in range(1, ATTEMPTS + 1):
            answer = self._send(method, path, **arguments)
            if answer is not None and answer.status_code < 400:
                return answer
            if answer is not None and not _may_repeat(method, answer):
                raise _problem(answer)
            if answer is None and method == "POST":
                raise MarketUnreachable(_("Prolific does not answer. Whether the call took effect is not known."))
            if attempt < ATTEMPTS:
                time.sleep(_pause(answer, attempt))
        if answer is None:
            raise MarketUnreachable(_("Prolific does not answer. Nothing here was changed; try again later."))
        raise _problem(answer)

    def _send(self, method: str, path: str, **arguments: Any) -> requests.Response | None:
        """The answer; None when there was none, though the call may have arrived. MarketRefused when it can't have."""
        timeout = (settings.PROLIFIC_TIMEOUT_SECONDS, settings.PROLIFIC_TIMEOUT_SECONDS)
        try:
            answer = self.session.request(method, self.root + path, timeout=timeout, allow_redirects=False, **arguments)
        except requests.ConnectionError as error:
            log.warning("Prolific %s %s: %s", method, path, type(error).__name__)
            if _never_arrived(error):
                raise MarketUnreachableUnsent from None
            return None
        except requests.RequestException as error:
            log.warning("Prolific %s %s: %s", method, path, type(error).__name__)
            return None
        if answer.status_code >= 400:
            log.warning("Prolific %s %s: status %s", method, path, answer.status_code)
        return answer


class MarketUnreachableUnsent(MarketUnreachable):
    """There was no connection at all, so the call has surely not taken effect."""

    def __init__(self) -> None:
        super().__init__(_("Prolific can't be reached. Nothing was done there; try again later."))


def allowed_url() -> str:
    """The API's address, if it is on the allow-list. MarketRefused otherwise: the token goes nowhere else."""
    url, url_parts = settings.PROLIFIC_URL, urlsplit(settings.PROLIFIC_URL)
    plain = url_parts.scheme in ("http", "https") and not (url_parts.username or url_parts.password or url_parts.query)
    if not plain or url not in [allowed.rstrip("/") for allowed in settings.PROLIFIC_ALLOWED_URLS]:
        raise MarketRefused(
            _("The address %(url)s is not in PROLIFIC_ALLOWED_URLS, so it is not called. Nothing was spent.")
            % {"url": f"{url_parts.scheme}://{url_parts.hostname}"}
        )
    return url


def _never_arrived(error: requests.ConnectionError) -> bool:
    """No connection came about (refused, unknown host, no route), as against one that broke."""
    reason = getattr(error.args[0], "reason", None) if error.args else None
    return isinstance(error, requests.ConnectTimeout) or type(reason).__name__ in (
        "NewConnectionError",
        "NameResolutionError",
        "ConnectTimeoutError",
    )


def _may_repeat(method: str, answer: requests.Response) -> bool:
    return answer.status_code == 429 or (answer.status_code >= 500 and method != "POST")


def _pause(answer: requests.Response | None, attempt: int) -> float:
    retry_after = answer.headers.get("Retry-After", "") if answer is not None else ""
    return min(LONGEST_WAIT, float(retry_after) if retry_after.isdigit() else 0.5 * 2**attempt)


def _json(answer: requests.Response) -> Any:
    if not answer.content:
        return {}
    try:
        return answer.json()
    except ValueError:
        raise MarketUnreachable(
            _("Prolific's answer can't be read. Whether the call took effect is not known.")
        ) from None


def _problem(answer: requests.Response) -> MarketRefused | MarketUnreachable:
    status = answer.status_code
    if status == 429:
        return MarketUnreachable(_("Prolific asks us to slow down. Nothing was done by this call; try again later."))
    if status >= 500:
        return MarketUnreachable(
            _("Prolific has a fault (%(status)d). Whether the call took effect is not known.") % {"status": status}
        )
    if status in (401, 403):
        return MarketRefused(
            _("Prolific does not accept our token, or it may not do this: %(detail)s Nothing was spent.")
            % {"detail": _detail(answer)}
        )
    kind = NotFound if status == 404 else MarketRefused
    return kind(_("Prolific refused this: %(detail)s Nothing was spent.") % {"detail": _detail(answer)})


def _detail(answer: requests.Response) -> str:
    """What Prolific says is wrong, in one line: its errors are a text, or texts by field."""
    try:
        error = answer.json().get("error", {})
    except (ValueError, AttributeError):
        error = {}
    detail = error.get("detail") or error.get("title") or "" if isinstance(error, dict) else error
    sentence = " ".join(_texts(detail)).strip() or f"status {answer.status_code}"
    return sentence[:300] + ("" if sentence.endswith(".") else ".")


def _texts(detail: Any) -> Iterator[str]:
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield f"{name}: {' '.join(_texts(inner))}"
    elif isinstance(detail, list):
        for inner in detail:
            yield from _texts(inner)
    else:
        yield str(detail)
