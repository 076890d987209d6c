"""Making batches: the tasks of a protocol, with its options checked and completed."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.common.errors import Refused
from annotation.models import Batch, Study, Task

MOST_QUOTA = 10_000  # far above any study; the column holds a little more


def create_batch(
    study: Study,
    name: str,
    protocol: str,
    quota: int,
    options: Mapping[str, Any] | None = None,
    *,
    role: str = "crowd",
    crowd: str = "direct",
    state: str = Batch.State.DRAFT,
) -> Batch:
    """A batch with all its tasks, `quota` answers each. Refused says what is wrong; then nothing is made.

    `options` are the protocol's (docs/protocols); what they leave open takes its default, and all are stored.
    """
    try:
        kind = protocols.get(protocol)
        complete = kind.options(options or {})
    except ValueError as error:
        raise Refused(_("%(error)s No batch was made.") % {"error": error}) from error
    if quota < 1:
        raise Refused(_("The quota is %(n)d, but a task needs at least 1 answer. No batch was made.") % {"n": quota})
    if quota > MOST_QUOTA:
        raise Refused(_("A task takes at most %(most)d answers. No batch was made.") % {"most": MOST_QUOTA})
    low, high = kind.scale(complete)
    with transaction.atomic():
        try:
            with transaction.atomic():
                batch = Batch.objects.create(
                    study=study,
                    name=name,
                    protocol=kind.name,
                    role=role,
                    crowd=crowd,
                    state=state,
                    scale_min=low,
                    scale_max=high,
                    options=complete,
                )
        except IntegrityError:
            if not study.batches.filter(name=name).exists():
                raise
            raise Refused(
                _("“%(study)s” has a batch named “%(name)s” already. No batch was made: choose another name.")
                % {"study": study, "name": name}
            ) from None
        tasks = kind.tasks(batch, quota)
        if not tasks:
            raise Refused(
                _("“%(study)s” has nothing to judge by %(protocol)s yet. No batch was made.")
                % {"study": study, "protocol": kind.title}
            )
        Task.objects.bulk_create(tasks, batch_size=2000)
        _tell_the_planner()
    return batch


def _tell_the_planner() -> None:
    """PostgreSQL looks at new rows within a minute; until then it would sort a whole batch to hand out one task."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE annotation_task")
