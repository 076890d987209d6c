"""Marks on simulated people, so that nobody takes them for workers: in tables, exports, lists and on every page."""

from collections.abc import Callable

from django.db import connection

from annotation.models import Batch, Study, Worker


def mark_simulated(study: Study, crowd: str, external_id: str) -> Worker:
    """The study's worker behind this id, marked by the pseudonym that everybody sees; made where there is none."""
    pseudonym = study.pseudonym(crowd, external_id).replace("w-", Worker.SIMULATED, 1)
    worker, _is_new = Worker.objects.update_or_create(
        study=study, crowd=crowd, external_id=external_id, defaults={"pseudonym": pseudonym}
    )
    return worker


def marker_for(batch: Batch) -> Callable[[str], None]:
    """Marks whoever of a crowd gets a task of this batch, before they open it. Called from the crowd's threads."""
    study, crowd = batch.study, batch.crowd

    def mark(external_id: str) -> None:
        try:
            mark_simulated(study, crowd, external_id)
        finally:
            connection.close()

    return mark
