"""Operations on workers."""

from annotation.marketplace.api.paging import page
from annotation.marketplace.api.registry import operation
from annotation.marketplace.api.render import Document
from annotation.marketplace.models import Requester, WorkerBlock
from annotation.marketplace.people import workers


@operation("CreateWorkerBlock")
def create_worker_block(requester: Requester, params: Document) -> None:
    workers.block_worker(requester, params["WorkerId"], params["Reason"])


@operation("DeleteWorkerBlock")
def delete_worker_block(requester: Requester, params: Document) -> None:
    workers.unblock_worker(requester, params["WorkerId"])


@operation("ListWorkerBlocks")
def list_worker_blocks(requester: Requester, params: Document) -> Document:
    rows = WorkerBlock.objects.select_related("worker").filter(requester=requester)
    found = page(requester, "ListWorkerBlocks", params, rows)
    blocks = [{"WorkerId": one.worker.worker_id, "Reason": one.reason} for one in found.rows]
    return found.document("WorkerBlocks", blocks)


@operation("NotifyWorkers")
def notify_workers(requester: Requester, params: Document) -> Document:
    failed = workers.notify_workers(requester, params["WorkerIds"], params["Subject"], params["MessageText"])
    return {
        "NotifyWorkersFailureStatuses": [
            {
                "NotifyWorkersFailureCode": "HardFailure",
                "NotifyWorkersFailureMessage": one.reason,
                "WorkerId": one.worker_id,
            }
            for one in failed
        ]
    }
