"""Making batches: the tasks of a protocol, with its options checked and completed."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.common.errors import Refused
from annotation.guidance.pinning import pin
from annotation.models import Assignment, Batch, Study, Summary, Task

from .selection import Selection, choose

EVERYTHING = Selection()
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
    judged: Selection = EVERYTHING,
    quota_by_group: Mapping[str, int] | None = None,
) -> Batch:
    """A batch with all its tasks, `quota` answers each. Refused says what is wrong; then nothing is made.

    `options` are the protocol's (docs/protocols); what they leave open takes its default, and all are stored. Summaries
    of a group of systems may ask for another number of answers.
    """
    try:
        kind = protocols.get(protocol)
        complete = kind.options(options or {})
    except ValueError as error:
        raise Refused(_("%(error)s No batch was made.") % {"error": error}) from error
    for number in (quota, *(quota_by_group or {}).values()):
        _check_quota(number)
    chosen = choose(study, judged)
    if chosen is not None:
        complete["judged"] = judged.stored()
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
        batch.chosen = chosen
        tasks = kind.tasks(batch, quota)
        _set_quotas(study, tasks, quota_by_group or {})
        if not tasks:
            raise Refused(
                _("“%(study)s” has nothing to judge by %(protocol)s yet. No batch was made.")
                % {"study": study, "protocol": kind.title}
            )
        Task.objects.bulk_create(tasks, batch_size=2000)
        if state != Batch.State.DRAFT:
            pin(batch)
        _tell_the_planner()
    return batch


def rename_batch(batch: Batch, name: str) -> None:
    """Another name, which no other batch of the study has."""
    name = name.strip()[:200]
    if not name:
        raise Refused(_("A batch needs a name. Nothing was changed."))
    try:
        with transaction.atomic():
            Batch.objects.filter(pk=batch.pk).update(name=name)
    except IntegrityError:
        raise Refused(
            _("“%(study)s” has a batch named “%(name)s” already. Nothing was changed: choose another name.")
            % {"study": batch.study, "name": name}
        ) from None


def delete_draft(batch: Batch) -> None:
    """Take a batch away that nobody has worked on and no market has seen."""
    with transaction.atomic():
        batch = Batch.objects.select_for_update().get(pk=batch.pk)
        has_work = Assignment.objects.filter(task__batch=batch).exists()
        if batch.state != Batch.State.DRAFT or has_work or batch.postings.exists() or batch.entries.exists():
            raise Refused(
                _("“%(batch)s” is no draft any more: what people did and what was promised is kept. Close it instead.")
                % {"batch": batch}
            )
        batch.delete()


def _check_quota(quota: int) -> None:
    if quota < 1:
        raise Refused(_("The quota is %(n)d, but a task needs at least 1 answer. No batch was made.") % {"n": quota})
    if quota > MOST_QUOTA:
        raise Refused(_("A task takes at most %(most)d answers. No batch was made.") % {"most": MOST_QUOTA})


def _set_quotas(study: Study, tasks: list[Task], quota_by_group: Mapping[str, int]) -> None:
    """Each group's own number of answers, where a task judges a single summary."""
    if not quota_by_group:
        return
    groups = dict(Summary.objects.filter(document__study=study).values_list("pk", "system__group"))
    if unknown := set(quota_by_group) - set(groups.values()):
        raise Refused(
            _("This study has no group of systems “%(group)s”. No batch was made.") % {"group": min(unknown)[:60]}
        )
    for task in tasks:
        if task.summary_id is None:
            raise Refused(_("Answers per group need tasks of single summaries. No batch was made."))
        task.quota = quota_by_group.get(groups[task.summary_id], task.quota)


def _tell_the_planner() -> None:
    """PostgreSQL looks at new rows within a minute; until then it would sort a whole batch to hand out one task."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE annotation_task")
