"""What the MTurk API calls a question: the address of our own page, or a whole form that needs no server of ours.

A form (HTMLQuestion) is the same for everybody who takes the task, so its order follows from the task and not from the
worker; its fields have opaque names, and `form_answers` finds the items behind them when the answers come back.
"""

import hashlib
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.guidance import newest_text
from annotation.markdown import render_markdown
from annotation.models import Assignment, Batch, Posting, Task

XSD = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
MOST_BYTES = 65_535
FRAME_HEIGHT = 0  # as high as the window allows
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
PREVIEW_ID = "ASSIGNMENT_ID_NOT_AVAILABLE"


def question_for(posting: Posting, address: str) -> str:
    """The XML that is posted: our own page at this address, or a form, by the batch's terms."""
    if posting.batch.terms["question"] == "external":
        return external_question(address)
    assert posting.task is not None
    return html_question(form_html(posting.task))


def external_question(url: str) -> str:
    return (
        f'<ExternalQuestion xmlns="{XSD}/2006-07-14/ExternalQuestion.xsd"><ExternalURL>{escape(url)}</ExternalURL>'
        f"<FrameHeight>{FRAME_HEIGHT}</FrameHeight></ExternalQuestion>"
    )


def html_question(html: str) -> str:
    content = NOT_IN_XML.sub("", html).replace("]]>", "]]]]><![CDATA[>")
    return (
        f'<HTMLQuestion xmlns="{XSD}/2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[{content}]]></HTMLContent>'
        f"<FrameHeight>{FRAME_HEIGHT}</FrameHeight></HTMLQuestion>"
    )


def form_html(task: Task) -> str:
    """The self-contained page of one task: texts, form and style in one, nothing loaded from anywhere."""
    batch = task.batch
    with translation.override(settings.LANGUAGE_CODE):
        context = {
            **protocols.of(batch).page(form_twin(task), {}),
            "instructions": _instructions(batch),
            "preview_id": PREVIEW_ID,
        }
        html = render_to_string(f"annotation/crowd_form/{batch.protocol}.html", context)
    return re.sub(r"\n\s*", "\n", html)


def _instructions(batch: Batch) -> str:
    text = newest_text(batch.study, "instructions", batch.protocol)
    return render_markdown(text.body) if text else ""


def form_twin(task: Task) -> Assignment:
    """A stand-in for whoever fills the form in: it lays the page out, and is never saved."""
    return Assignment(task=task, seed=form_seed(task))


def form_seed(task: Task) -> int:
    """What a form's order follows from: the same for all groups of one document."""
    parts = (task.batch.options.get("seed", 0), "form", task.document_id, task.summary_id or "")
    return int.from_bytes(hashlib.blake2b(":".join(map(str, parts)).encode(), digest_size=8).digest()) >> 1


def form_answers(assignment: Assignment, answer: Mapping[str, Any]) -> dict[str, Any]:
    """The answers of a form under the names that the assignment's own items have."""
    protocol = protocols.of(assignment.task.batch)
    twins = protocol.items(form_twin(assignment.task))
    named = {
        item.field: answer.get(twin.field, "") for item, twin in zip(protocol.items(assignment), twins, strict=True)
    }
    return {**answer, **named}


def size_problem(batch: Batch) -> str:
    """A sentence when the form of some task is larger than the API takes; empty when all fit."""
    worst, name = 0, ""
    tasks = batch.tasks.select_related("batch__study", "document", "summary").order_by("pk")
    for task in tasks.iterator(chunk_size=200):
        size = len(html_question(form_html(task)).encode())
        if size > worst:
            worst, name = size, task.document.doc_id
    if worst <= MOST_BYTES:
        return ""
    return _(
        "The form for document %(name)s has %(size)s bytes, but a question has at most %(most)s. Shorten the "
        "instructions or the group size, or let workers come to this site (question “external”)."
    ) % {"name": name, "size": f"{worst:,}", "most": f"{MOST_BYTES:,}"}
