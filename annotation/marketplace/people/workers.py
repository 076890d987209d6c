"""What requesters do about workers: block them, write to them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.common import clock
from annotation.marketplace.checks import check_length
from annotation.marketplace.errors import BadParameter, WorkerDoesNotExist
from annotation.marketplace.models import Assignment, Requester, Worker, WorkerBlock

from . import notices

MOST_WORKERS = 100


def any_worker(worker_id: str) -> Worker:
    worker = Worker.objects.filter(worker_id=worker_id).first()
    if worker is None:
        raise WorkerDoesNotExist(f"Worker {worker_id} does not exist.")
    return worker


def block_worker(requester: Requester, worker_id: str, reason: str) -> WorkerBlock:
    """From now on this worker neither sees nor takes the requester's HITs. Blocking again renews the reason."""
    check_length("Reason", reason, 4096)
    block, _ = WorkerBlock.objects.update_or_create(
        requester=requester,
        worker=any_worker(worker_id),
        defaults={"reason": reason},
        create_defaults={"reason": reason, "created_at": clock.now()},
    )
    return block


def unblock_worker(requester: Requester, worker_id: str) -> None:
    """Take a block away; without one, nothing changes."""
    WorkerBlock.objects.filter(requester=requester, worker=any_worker(worker_id)).delete()


@dataclass(frozen=True)
class UnreachedWorker:
    """A worker whom a message did not reach, and why."""

    worker_id: str
    reason: str


def notify_workers(requester: Requester, worker_ids: Sequence[str], subject: str, text: str) -> list[UnreachedWorker]:
    """Write to workers whose work the requester has judged before. Returns those it did not reach."""
    check_length("Subject", subject, 200)
    check_length("MessageText", text, 4096)
    if not 1 <= len(worker_ids) <= MOST_WORKERS:
        raise BadParameter(f"WorkerIds has {len(worker_ids)} entries; 1 to {MOST_WORKERS} are allowed.")
    workers_by_id = {worker.worker_id: worker for worker in Worker.objects.filter(worker_id__in=worker_ids)}
    judged_assignments = Assignment.objects.filter(
        worker__in=workers_by_id.values(), hit__requester=requester, state__in=["Approved", "Rejected"]
    )
    reachable = set(judged_assignments.values_list("worker__worker_id", flat=True))
    unreached = []
    with transaction.atomic():
        for worker_id in dict.fromkeys(worker_ids):
            if worker_id in reachable:
                notices.tell_worker(workers_by_id[worker_id], subject, text, requester)
            elif worker_id in workers_by_id:
                unreached.append(UnreachedWorker(worker_id, "You have not approved or rejected work of this worker."))
            else:
                unreached.append(UnreachedWorker(worker_id, "This worker does not exist."))
    return unreached
