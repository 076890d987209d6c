"""What people at work are shown stays as it was when their batch opened: SCUs, checks and instructions."""

from django.db import transaction

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
