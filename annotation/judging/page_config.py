"""What the script of a work page is told: addresses, the draft so far, and its sentences in the reader's language."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.common.drafts import draft_texts, now_ms
from annotation.judging.drafts import draft_state
from annotation.judging.leases import lease_time
from annotation.judging.pace import Place
from annotation.models import Assignment


def account_urls(assignment: Assignment) -> dict[str, str]:
    """Where the page of a signed-in annotator sends and links."""
    key = assignment.key
    return {
        "task": reverse("task", args=[key]),
        "draft": reverse("draft", args=[key]),
        "submit": reverse("submit", args=[key]),
        "ahead": reverse("ahead", args=[key]),
        "receipt": reverse("receipt", args=[key]),
        "revise": reverse("revise", args=[key]),
        "undo": reverse("undo", args=[key]),
        "advice": reverse("advice", args=[key]),
        "release": reverse("release", args=[key]),
        "instructions": reverse("instructions", args=[assignment.task.batch_id]),
        "signIn": reverse("sign-in"),
    }


def page_config(
    assignment: Assignment,
    answers: Mapping[str, Any],
    mode: str,
    submit_key: str,
    urls: Mapping[str, str],
    place: Place | None = None,
) -> dict[str, Any]:
    """Read by static/annotation/judging/engine.js. It holds nothing that the page itself doesn't show."""
    state = draft_state(assignment, 0, is_held=True)
    seconds = int(lease_time().total_seconds()) if assignment.is_ahead else state.seconds_left
    return {
        "key": assignment.key,
        "mode": mode,
        "protocol": assignment.task.batch.protocol,
        "submitKey": submit_key,
        "csrfCookie": settings.CSRF_COOKIE_NAME,
        "now": now_ms(),
        "version": state.version,
        "secondsLeft": seconds if mode == "work" else None,
        "place": {"number": place.number, "of": place.of, "seconds": place.seconds} if place else None,
        "answers": answers,
        "preferences": assignment.worker.preferences,
        "urls": urls,
    }


def page_texts(urls: Mapping[str, str]) -> dict[str, str]:
    """The script's sentences. A page that is swapped in goes on with those that are there."""
    return texts() if "signIn" in urls else {**texts(), **market_texts()}


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
        **draft_texts(),
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
        "place": _("Task {n} of {all}"),
        "timeLeft": _("about {n} min left"),
        "receipt": _("Receipt"),
        "lookAgain": _("Look again"),
        "takeBack": _("Take it back"),
        "sentLater": _("Your last task is kept on this device and is sent by itself: leave this page open."),
        "notTaken": _("Your last task was not taken: {sentence}"),
        "openAgain": _("Open it again"),
        "takenMeanwhile": _(
            "That task went to somebody else meanwhile. What you typed there is kept; here is another."
        ),
        "noneAhead": _("The next task could not be loaded yet: it comes after Submit."),
        "undone": _("Undone"),
        "nothingToUndo": _("Nothing to undo"),
        "allAnswered": _("All answered. Enter submits."),
        "evidenceFirst": _("First word: {word}. Choose the last word."),
        "evidenceAdded": _("Marked: {words}"),
        "evidenceRemoved": _("Mark removed"),
        "evidenceChoose": _("Choose the first word: arrow keys move, Enter chooses, Escape ends it."),
        "evidenceNotYet": _(
            "Evidence belongs to a statement that you marked as present: answer it, then press the pencil or E."
        ),
        "keysTaken": _(
            "Each answer needs one key of its own that does nothing else on this page. Nothing was changed."
        ),
        "evidenceRemove": _("Remove the mark “{words}”"),
        "searchNone": _("Not found"),
        "flagged": _("Flagged. The researchers will read it."),
        "unflagged": _("The flag is taken back."),
        "complete": _("complete"),
        "open": _("open"),
    }
