"""What people at work are shown stays as it was when their batch opened: SCUs, checks and instructions."""

from collections.abc import Iterator

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.models import Batch, GuidanceText

from . import Kind, newest_text


def pin(batch: Batch) -> None:
    """Fix what the batch asks and its instructions; later lists and texts are for later batches.

    A draft whose launch failed takes the newest again.
    """
    with transaction.atomic():
        batch = Batch.objects.select_for_update().get(pk=batch.pk)
        protocols.of(batch).pin(batch)
        if batch.instructions_id is None or batch.state == Batch.State.DRAFT:
            batch.instructions = newest_text(batch.study, Kind.INSTRUCTIONS, batch.protocol)
            batch.save(update_fields=["instructions"])


def instructions_of(batch: Batch) -> GuidanceText | None:
    """The instructions that the batch's people read: those it was opened with, before that the newest."""
    pinned = None if batch.state == Batch.State.DRAFT else batch.instructions
    return pinned or newest_text(batch.study, Kind.INSTRUCTIONS, batch.protocol)


def notes_on_live(batches: QuerySet[Batch]) -> Iterator[SafeString]:
    """For whoever has just written a later version: which of these batches keep theirs, and a way to a new one."""
    live = batches.filter(state__in=[Batch.State.OPEN, Batch.State.PAUSED], round=1).select_related("study")
    for batch in live.distinct().order_by("pk"):
        sentence = _("“%(batch)s” keeps what it was opened with.") % {"batch": batch}
        address = f"{reverse('new-batch', args=[batch.study.slug])}?copy={batch.pk}"
        yield format_html(
            '{} <a href="{}">{}</a>', sentence, address, _("Make a new batch that asks by the later version")
        )
