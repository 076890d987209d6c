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
    listing = page(requester, "ListWorkerBlocks", params, rows)
    blocks = [{"WorkerId": block.worker.worker_id, "Reason": block.reason} for block in listing.rows]
    return listing.document("WorkerBlocks", blocks)


@operation("NotifyWorkers")
def notify_workers(requester: Requester, params: Document) -> Document:
    unreached = workers.notify_workers(requester, params["WorkerIds"], params["Subject"], params["MessageText"])
    return {
        "NotifyWorkersFailureStatuses": [
            {
                "NotifyWorkersFailureCode": "HardFailure",
                "NotifyWorkersFailureMessage": worker.reason,
                "WorkerId": worker.worker_id,
            }
            for worker in unreached
        ]
    }
