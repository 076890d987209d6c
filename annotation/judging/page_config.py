"""What the script of a work page is told: addresses, the draft so far, and its sentences in the reader's language."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.judging.drafts import draft_state, now_ms
from annotation.models import Assignment


def account_urls(assignment: Assignment) -> dict[str, str]:
    """Where the page of a signed-in annotator sends and links."""
    key = assignment.key
    return {
        "draft": reverse("draft", args=[key]),
        "submit": reverse("submit", args=[key]),
        "receipt": reverse("receipt", args=[key]),
        "advice": reverse("advice", args=[key]),
        "release": reverse("release", args=[key]),
        "instructions": reverse("instructions", args=[assignment.task.batch_id]),
        "signIn": reverse("sign-in"),
    }


def page_config(
    assignment: Assignment, answers: Mapping[str, Any], mode: str, submit_key: str, urls: Mapping[str, str]
) -> dict[str, Any]:
    """Read by static/annotation/judging/engine.js. It holds nothing that the page itself doesn't show."""
    state = draft_state(assignment, 0, is_held=True)
    return {
        "key": assignment.key,
        "mode": mode,
        "submitKey": submit_key,
        "csrfCookie": settings.CSRF_COOKIE_NAME,
        "now": now_ms(),
        "version": state.version,
        "secondsLeft": state.seconds_left if mode == "work" else None,
        "answers": answers,
        "urls": urls,
        "texts": texts() if "signIn" in urls else {**texts(), **market_texts()},
    }


def market_texts() -> dict[str, str]:
    """Sentences that read otherwise for somebody whom a market sent."""
    return {
        "expired": _(
            "Your place was given to somebody else while you were away. Nothing is lost: hand in as usual, and if the "
            "market confirms it, it counts."
        ),
        "released": _("You stopped here. What you saved is kept, and you can go on with it."),
    }


def texts() -> dict[str, str]:
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
        "sending": _("Sending…"),
        "sendingOffline": _(
            "The server can’t be reached. Your answers are kept on this device and will be sent by themselves: "
            "leave this page open."
        ),
        "expired": _(
            "Your hold on this task has ended and somebody else has the place. Nothing is lost: you can still "
            "submit, and your answers are kept as surplus."
        ),
        "released": _("You gave this task back. What you saved is kept; if you submit it, it counts as surplus."),
        "missing": _("{n} of {all} have no answer yet. The first one is marked."),
        "missingOne": _("One of {all} has no answer yet. It is marked."),
        "progress": _("{n} of {all}"),
        "active": _("{time} active"),
        "lease": _("held for {n} min"),
        "undone": _("Undone"),
        "nothingToUndo": _("Nothing to undo"),
        "allAnswered": _("All answered. Enter submits."),
        "evidenceFirst": _("First word: {word}. Choose the last word."),
        "evidenceAdded": _("Marked: {words}"),
        "evidenceRemoved": _("Mark removed"),
        "evidenceChoose": _("Choose the first word: arrow keys move, Enter chooses, Escape goes back."),
        "evidenceRemove": _("Remove the mark “{words}”"),
        "searchNone": _("Not found"),
        "fold": _("Fold"),
        "unfold": _("Unfold"),
        "complete": _("complete"),
        "open": _("open"),
    }
