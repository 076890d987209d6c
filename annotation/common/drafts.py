"""Drafts as data: `{"version": n, "items": {field: {"value": …, "at": milliseconds, "version": n, …}}}`.

Between two tabs or devices the later change of a field wins, by the time it was made, not the time it came in.
`version` counts the writes, so that a page learns what others changed since it last looked.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from django.utils.translation import gettext as _

from annotation.common import clock
from annotation.common.errors import BadAnswers
from annotation.common.middleware import strip_unreadable

FIELD = re.compile(r"[\w:.\-]{1,100}")
MOST_BYTES = 256 * 1024
MOST_ITEMS = 500


@dataclass(frozen=True)
class Change:
    """One field's new content: "value", and whatever is kept beside it."""

    field: str
    content: Mapping[str, Any]
    at: int  # when it was made: milliseconds since 1970, by the server's clock as the page knows it


def merge_draft(draft: Mapping[str, Any], changes: Sequence[Change]) -> dict[str, Any] | None:
    """The draft with the changes; None when nothing in them is new. Raises BadAnswers when it is too large."""
    version, items = draft.get("version", 0), dict(draft.get("items", {}))
    latest = now_ms()
    news: dict[str, dict[str, Any]] = {}
    for change in changes:
        at = min(change.at, latest)  # a clock that runs ahead must not win for ever
        previous = news.get(change.field) or items.get(change.field)
        if previous is None or at >= previous["at"]:
            news[change.field] = {**change.content, "at": at, "version": version + 1}
    news = {name: entry for name, entry in news.items() if not _is_same(entry, items.get(name))}
    if not news:
        return None
    items.update(news)
    if len(items) > MOST_ITEMS or len(json.dumps(items)) > MOST_BYTES:
        raise BadAnswers(_("This draft is too large to be kept. What was saved before is still here."))
    return {**draft, "version": version + 1, "items": items}


def _is_same(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> bool:
    """A repeated change (a retry) is no news."""
    return old is not None and {**new, "version": 0} == {**old, "version": 0}


def news_since(draft: Mapping[str, Any], seen_version: int) -> dict[str, Any]:
    """What changed since the version that a page had seen."""
    return {name: entry for name, entry in draft.get("items", {}).items() if entry["version"] > seen_version}


def now_ms() -> int:
    return int(clock.now().timestamp() * 1000)


# What a page sends


def read_body(request: HttpRequest) -> dict[str, Any]:
    """What the page sent. A character that no text has is dropped: the other changes must not be lost with it."""
    try:
        body = strip_unreadable(json.loads(request.body))
    except (ValueError, RecursionError, RequestDataTooBig):  # not JSON, nested without end, or far too long
        body = None
    if not isinstance(body, dict):
        raise _unreadable()
    return body


def read_changes(body: Mapping[str, Any]) -> list[Change]:
    changes = body.get("changes")
    return [_change(change) for change in changes] if isinstance(changes, list) else []


def read_seen(body: Mapping[str, Any]) -> int:
    seen_version = body.get("seen")
    return seen_version if type(seen_version) is int else 0


def _change(change: Any) -> Change:
    is_change = isinstance(change, dict) and isinstance(change.get("content"), dict) and type(change.get("at")) is int
    if not is_change or not FIELD.fullmatch(str(change.get("field", ""))):
        raise _unreadable()
    content = {name: cell for name, cell in change["content"].items() if name not in ("at", "version")}
    return Change(str(change["field"]), content, change["at"])


def _unreadable() -> BadAnswers:
    return BadAnswers(_("The page sent something that can’t be read. What was saved before is still here."))


def draft_texts() -> dict[str, str]:
    """How a page tells that what was done is kept, in the reader's language (static/annotation/judging/status.js)."""
    return {
        "saved": _("Saved"),
        "saving": _("Saving…"),
        "offline": _("Offline, kept on this device"),
        "back": _("Connected again. Everything is saved."),
        "offlineLong": _(
            "The server can’t be reached. Go on working: your answers are kept on this device and saved by themselves "
            "when it is back."
        ),
        "signedOut": _("You are signed out. Your work is kept on this device, and this page goes on by itself once"),
        "signInAgain": _("you sign in again in another tab"),
        "notYours": _("Another account is signed in now. Sign in as before in another tab; your work is kept here."),
    }
