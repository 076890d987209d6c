"""Prolific's words for things, and ours: states, completion codes, categories, the body of a study."""

import base64
import hashlib
import re
from collections.abc import Sequence
from difflib import get_close_matches
from math import ceil
from typing import Any

from django.utils.translation import gettext as _

from annotation.crowds.base import OUTCOMES
from annotation.models import Posting, Submission

LEAST_REASON = 100
"""Characters of a rejection's message, by the API reference."""
CATEGORIES = (
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
)
POSTING_STATES: dict[str, str] = {
    "UNPUBLISHED": Posting.State.PLANNED,
    "SCHEDULED": Posting.State.OPEN,
    "PUBLISHING": Posting.State.OPEN,
    "ACTIVE": Posting.State.OPEN,
    "PAUSED": Posting.State.PAUSED,
    "AWAITING REVIEW": Posting.State.EXPIRED,
    "COMPLETED": Posting.State.CLOSED,
}
SUBMISSION_STATES: dict[str, str] = {
    "RESERVED": Submission.State.STARTED,
    "ACTIVE": Submission.State.STARTED,
    "AWAITING REVIEW": Submission.State.SUBMITTED,
    "APPROVED": Submission.State.APPROVED,
    "PARTIALLY APPROVED": Submission.State.APPROVED,
    "REJECTED": Submission.State.REJECTED,
    "RETURNED": Submission.State.RETURNED,
    "TIMED OUT": Submission.State.RETURNED,
    "SCREENED OUT": Submission.State.RETURNED,
}
# What Prolific does with a submission that ends with the code: no code approves or rejects by itself.
_CODES: dict[str, tuple[str, list[dict[str, str]]]] = {
    "done": ("COMPLETED", [{"action": "MANUALLY_REVIEW"}]),
    "screened_out": (
        "OTHER",
        [{"action": "REQUEST_RETURN", "return_reason": "There was no task for you in this study."}],
    ),
    "failed_checks": ("FAILED_ATTENTION_CHECK", [{"action": "MANUALLY_REVIEW"}]),
    "left_early": (
        "OTHER",
        [
            {
                "action": "REQUEST_RETURN",
                "return_reason": "Not all tasks were done. Return it, and those that are done are paid as a bonus.",
            }
        ],
    ),
}


def submission_state(status: str) -> str:
    """Our state for a submission's status there; one we don't know yet is not confirmed."""
    return SUBMISSION_STATES.get(status.upper().replace("-", " ").replace("_", " "), Submission.State.STARTED)


def codes_of(posting: Posting) -> dict[str, str]:
    """The completion codes of a posting by outcome: those of its terms, otherwise drawn from its token."""
    codes = posting.batch.terms.get("codes") or {}
    return {outcome: codes.get(outcome) or _code(posting, outcome) for outcome in OUTCOMES}


def _code(posting: Posting, outcome: str) -> str:
    digest = hashlib.blake2b(f"{outcome}:{posting.token}".encode(), key=posting.batch.study.salt[:64].encode())
    return "C" + base64.b32encode(digest.digest()[:5]).decode()[:8]


def read_reason(reason: str) -> tuple[str, str]:
    """ "LOW_EFFORT: what was wrong" in category and message; OTHER without one."""
    category, colon, message = reason.partition(":")
    if colon and category.strip().upper() in CATEGORIES:
        return category.strip().upper(), message.strip()
    return "OTHER", reason.strip()


def study_body(
    posting: Posting, address: str, blocked: Sequence[str], known_filters: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """A study as the API takes it."""
    terms = posting.batch.terms
    tasks = int(terms.get("tasks_per_participant") or 1)
    body: dict[str, Any] = {
        "name": terms.get("title") or posting.batch.name,
        "internal_name": posting.token,
        "description": terms.get("description") or posting.batch.name,
        "external_study_url": address,
        "prolific_id_option": "url_parameters",
        "completion_codes": [
            {"code": code, "code_type": _CODES[outcome][0], "actions": _CODES[outcome][1]}
            for outcome, code in codes_of(posting).items()
        ],
        "total_available_places": posting.places,
        "estimated_completion_time": max(1, ceil(float(terms.get("minutes") or 1) * tasks)),
        "reward": posting.reward_cents,
        "device_compatibility": terms.get("devices") or ["desktop", "tablet", "mobile"],
        "filters": [*filters(terms, blocked), *prescreeners(terms, known_filters)],
    }
    if terms.get("duration_seconds"):
        body["maximum_allowed_time"] = max(2, ceil(int(terms["duration_seconds"]) / 60))
    return body


def filters(terms: dict[str, Any], blocked: Sequence[str]) -> list[dict[str, Any]]:
    """Who may take part, by participant groups: those of the terms, and those we keep out ourselves."""
    lists = {
        "participant_group_allowlist": list(terms.get("groups_allow") or []),
        "participant_group_blocklist": [*(terms.get("groups_block") or []), *blocked],
    }
    return [{"filter_id": name, "selected_values": groups} for name, groups in lists.items() if groups]


def prescreeners(terms: dict[str, Any], known_filters: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The terms' prescreeners as the API takes them; ValueError says which one it doesn't know."""
    by_name = {row["filter_id"]: row for row in known_filters}
    return [_prescreener(line, by_name) for line in terms.get("prescreeners") or []]


def _prescreener(line: str, by_name: dict[str, dict[str, Any]]) -> dict[str, Any]:
    name, _colon, accepted = (part.strip() for part in line.partition(":"))
    row = by_name.get(name)
    if row is None:
        near = ", ".join(get_close_matches(name, by_name, n=5, cutoff=0.4)) or ", ".join(sorted(by_name)[:10])
        raise ValueError(_("Prolific has no filter “%(name)s”; near it: %(near)s.") % {"name": name[:60], "near": near})
    if row.get("type") == "range":
        return {"filter_id": name, "selected_range": _range(line, accepted, row)}
    choices = {str(label).casefold(): str(key) for key, label in (row.get("choices") or {}).items()}
    keys = set(choices.values())
    words = [word.strip() for word in accepted.split(",") if word.strip()]
    values = [choices.get(word.casefold(), word) for word in words]
    if unknown := [word for word, value in zip(words, values, strict=True) if value not in keys]:
        known = ", ".join(list((row.get("choices") or {}).values())[:10])
        raise ValueError(
            _("Prolific's filter “%(name)s” has no choice “%(word)s”; it has %(known)s.")
            % {"name": name, "word": unknown[0][:40], "known": known}
        )
    return {"filter_id": name, "selected_values": values}


def _range(line: str, accepted: str, row: dict[str, Any]) -> dict[str, int]:
    ends = re.fullmatch(r"(\d{1,6})\s*[-–]\s*(\d{1,6})", accepted)
    low, high = (int(ends[1]), int(ends[2])) if ends else (1, 0)
    if low > high or low < int(row.get("min", low)) or high > int(row.get("max", high)):
        raise ValueError(
            _("“%(line)s” is no range: write two numbers from %(min)s to %(max)s, such as 18-65.")
            % {"line": line[:60], "min": row.get("min", "–"), "max": row.get("max", "–")}
        )
    return {"lower": low, "upper": high}
