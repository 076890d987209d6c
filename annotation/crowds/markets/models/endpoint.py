"""Calls to an endpoint that speaks the chat completions API: which address, whose key, how long to wait.

What the server turned away (429, 5xx) and what never reached it is waited out and asked again. A call whose answer was
lost on the way may have been billed: it is asked again only where the endpoint is said to bill a repeated
Idempotency-Key once; otherwise AnswerLost leaves it to a person.
"""

import json
import threading
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from analysis.lazy import Lazy
from annotation.common.errors import Refused
from annotation.crowds.base import MarketRefused, MarketUnreachable
from annotation.crowds.ledger.crash_points import point

if TYPE_CHECKING:
    import httpx2
    import openai
else:
    httpx2, openai = Lazy("httpx2"), Lazy("openai")

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
NO_LIST = (400, 404, 405, 501)  # endpoints that don't tell which models they have
MOST_NAMES = 10


class RequestRefused(MarketRefused):
    """The endpoint takes calls, but not this one: it may be too long for the model. Nothing was spent by it."""


class AnswerLost(Refused):
    """The call was sent and its answer did not arrive whole: nobody knows whether it was billed."""

    status = 503


class Stopped(Refused):
    """The run ended while the call waited for its turn: nothing was sent."""


class Endpoint:
    """One address, and a client for the calls of one run. The key is sent there and nowhere else, and never shown."""

    def __init__(self, address: str, *, repeats: bool = False) -> None:
        self.address, self.key = allowed_address(address)
        self.repeats = repeats
        self.over = threading.Event()

    @cached_property
    def client(self) -> "openai.OpenAI":
        # A redirect would carry texts to an address that nobody allowed.
        return openai.OpenAI(
            base_url=self.address,
            api_key=self.key or "none",
            organization="",
            project="",
            timeout=settings.MODEL_TIMEOUT_SECONDS,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(follow_redirects=False),
        )

    def check_model(self, name: str) -> None:
        """Refused, in one sentence, for a wrong key or a model that the endpoint doesn't have."""
        try:
            names = sorted(model.id for model in self.client.models.list())
        except openai.APIStatusError as error:
            if error.status_code in NO_LIST:
                return
            raise _refusal(error, self.host) from None
        except (openai.APIConnectionError, openai.APIResponseValidationError, ValueError):
            raise self._silent() from None
        if name not in names:
            known = ", ".join(names[:MOST_NAMES]) or _("none")
            raise MarketRefused(
                _("%(host)s has no model “%(name)s”. It has: %(known)s. Nothing was spent.")
                % {"host": self.host, "name": name[:80], "known": known}
            )

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    def ask(self, request: dict[str, Any], token: str) -> dict[str, Any]:
        """The answer, whole. MarketRefused: nothing was spent; MarketUnreachable: neither, and it is long silent."""
        until, pause = time.monotonic() + settings.MODEL_PATIENCE_SECONDS, FIRST_PAUSE
        while True:
            if self.over.is_set():
                raise Stopped
            try:
                point("judge:sent")
                return self._send(request, token)
            except openai.APIStatusError as error:
                if not _is_passing(error.status_code):
                    raise _refusal(error, self.host) from None
                wait = _retry_after(error) or pause
            except openai.APIConnectionError as error:
                if not _never_arrived(error) and not self.repeats:
                    raise AnswerLost(_("The answer was lost on its way; it may have been billed.")) from None
                wait = pause
            if time.monotonic() + wait > until:
                raise self._silent()
            self.over.wait(wait)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _send(self, request: dict[str, Any], token: str) -> dict[str, Any]:
        headers = {"Idempotency-Key": token}
        response = self.client.chat.completions.with_raw_response.create(**request, extra_headers=headers)
        point("judge:answered")
        try:
            body = json.loads(response.http_response.text)
        except ValueError:
            body = None
        return body if isinstance(body, dict) else {"body": response.http_response.text[:100_000]}

    def _silent(self) -> MarketUnreachable:
        return MarketUnreachable(
            _("%(host)s does not answer. What was answered before is kept; go on later.") % {"host": self.host}
        )


def allowed_address(address: str) -> tuple[str, str]:
    """The address with its key, if the operator allows it. MarketRefused otherwise: texts and keys go nowhere else."""
    address = address.strip().rstrip("/")
    parts = urlsplit(address)
    is_plain = parts.scheme in ("http", "https") and not (parts.username or parts.password or parts.query)
    allowed = [allowed_url.rstrip("/") for allowed_url in settings.MODEL_ENDPOINTS]
    if not is_plain or address not in allowed:
        raise MarketRefused(
            _("The endpoint %(endpoint)s is not in MODEL_ENDPOINTS, so it is not called. Nothing was spent.")
            % {"endpoint": f"{parts.scheme}://{parts.hostname}"}
        )
    keys = dict(zip(allowed, settings.MODEL_API_KEYS, strict=False))
    key = keys.get(address, "")
    return address, "" if key == "-" else key


def _is_passing(status: int) -> bool:
    return status in (408, 409, 425, 429) or status >= 500


def _never_arrived(error: "openai.APIConnectionError") -> bool:
    """Whether no connection was made, so that nothing can have been asked."""
    return isinstance(error.__cause__, (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout))


def _retry_after(error: "openai.APIStatusError") -> float | None:
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "")))
    except ValueError:
        return None


def _refusal(error: "openai.APIStatusError", host: str) -> MarketRefused | MarketUnreachable:
    if error.status_code in (401, 403):
        return MarketRefused(_("%(host)s refuses the key: look at MODEL_API_KEYS. Nothing was spent.") % {"host": host})
    if _is_passing(error.status_code):
        return MarketUnreachable(
            _("%(host)s is busy or broken just now. Nothing was spent; try again.") % {"host": host}
        )
    kind = RequestRefused if error.status_code in (400, 413, 422) else MarketRefused
    return kind(
        _("%(host)s refuses the call (%(status)s): %(reason)s. Nothing was spent by it.")
        % {"host": host, "status": error.status_code, "reason": _reason(error)[:300].rstrip(".")}
    )


def _reason(error: "openai.APIStatusError") -> str:
    body = error.body if isinstance(error.body, dict) else {}
    return str(body.get("message") or body.get("error") or error.response.reason_phrase)
