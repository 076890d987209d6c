"""What the MTurk API calls a question: the address of our own page, or a whole form that needs no server of ours."""

import re
from html import escape

from django.utils.translation import gettext as _

from annotation.judging.html_form import form_html
from annotation.models import Batch, Posting

XSD = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
MOST_BYTES = 65_535
FRAME_HEIGHT = 0  # as high as the window allows
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


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
