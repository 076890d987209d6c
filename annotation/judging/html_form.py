"""A task as one page that needs no server of ours: the form that a market shows by itself.

It is the same for everybody who takes the task, so its order follows from the task and not from the worker; its fields
have opaque names, and `form_answers` finds the items behind them when the answers come back.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation

from annotation import protocols
from annotation.common.markdown import render_markdown
from annotation.guidance.pinning import instructions_of
from annotation.models import Assignment, Batch, Task

PREVIEW_ID = "ASSIGNMENT_ID_NOT_AVAILABLE"  # what the MTurk API calls nobody's assignment: the form is off then


def form_html(task: Task) -> str:
    """The self-contained page of one task: texts, form and style in one, nothing loaded from anywhere."""
    batch = task.batch
    with translation.override(settings.LANGUAGE_CODE):
        context = {
            **protocols.of(batch).page(form_twin(task), {}),
            "instructions": _instructions(batch),
            "preview_id": PREVIEW_ID,
        }
        html = render_to_string(f"annotation/judging/html_form/{batch.protocol}.html", context)
    return re.sub(r"\n\s*", "\n", html)


def _instructions(batch: Batch) -> str:
    text = instructions_of(batch)
    return render_markdown(text.body) if text else ""


def form_twin(task: Task) -> Assignment:
    """A stand-in for whoever fills the form in: it lays the page out, and is never saved."""
    return Assignment(task=task, seed=form_seed(task))


def form_seed(task: Task) -> int:
    """What a form's order follows from: the same for all groups of one document."""
    keys = (task.batch.options.get("seed", 0), "form", task.document_id, task.summary_id or "")
    return int.from_bytes(hashlib.blake2b(":".join(map(str, keys)).encode(), digest_size=8).digest()) >> 1


def form_answers(assignment: Assignment, answer: Mapping[str, Any]) -> dict[str, Any]:
    """The answers of a form under the names that the assignment's own items have."""
    protocol = protocols.of(assignment.task.batch)
    twins = protocol.items(form_twin(assignment.task))
    names = {twin.field: item.field for item, twin in zip(protocol.items(assignment), twins, strict=True)}
    own_fields = {field: answer.get(name, "") for name, field in names.items()}
    return {**{_renamed(name, names): value for name, value in answer.items()}, **own_fields}


def _renamed(name: str, names: Mapping[str, str]) -> str:
    """What belongs to an item beside its answer has the item's name with a colon and more."""
    field, colon, what = name.partition(":")
    return names.get(field, field) + colon + what
