"""All that the market knows about a worker, for the worker."""

from typing import Any

from annotation.marketplace.books.money import dollars
from annotation.marketplace.models import Worker


def everything_about(worker: Worker) -> dict[str, Any]:
    """Plain values, in a constant number of queries."""
    account = worker.account
    return {
        "worker": {
            "worker_id": worker.worker_id,
            "name": account.username if account else "",
            "email": account.email if account else "",
            "country": worker.country,
            "subdivision": worker.subdivision,
            "adult_content": worker.is_adult,
            "masters": worker.is_master,
            "joined_at": worker.joined_at,
            "approved": worker.approved_count,
            "rejected": worker.rejected_count,
            "earned_usd": dollars(worker.earned_cents),
            "paid_out_usd": dollars(worker.paid_out_cents),
        },
        "assignments": [
            {
                "assignment_id": one.assignment_id,
                "hit_id": one.hit.hit_id,
                "title": one.hit.hit_type.title,
                "requester": one.hit.requester.name,
                "state": one.state,
                "reward_usd": dollars(one.reward_cents),
                "accepted_at": one.accepted_at,
                "submitted_at": one.submitted_at,
                "approved_at": one.approved_at,
                "rejected_at": one.rejected_at,
                "ended_at": one.ended_at,
                "answer": one.answer,
                "feedback": one.feedback,
            }
            for one in worker.assignments.select_related("hit__hit_type", "hit__requester").order_by("accepted_at")
        ],
        "bonuses": [
            {
                "assignment_id": one.assignment.assignment_id,
                "requester": one.requester.name,
                "amount_usd": dollars(one.cents),
                "reason": one.reason,
                "granted_at": one.granted_at,
            }
            for one in worker.bonus_payments.select_related("assignment", "requester").order_by("granted_at")
        ],
        "payouts": [
            {"amount_usd": dollars(one.cents), "reference": one.reference, "at": one.at}
            for one in worker.payouts.order_by("at")
        ],
        "qualifications": [
            {
                "name": one.qualification_type.name,
                "qualification_type_id": one.qualification_type.qualification_type_id,
                "value": one.value,
                "status": one.status,
                "granted_at": one.granted_at,
            }
            for one in worker.qualifications.select_related("qualification_type").order_by("granted_at")
        ],
        "qualification_requests": [
            {
                "name": one.qualification_type.name,
                "state": one.state,
                "started_at": one.started_at,
                "submitted_at": one.submitted_at,
                "answer": one.answer,
                "reason": one.reason,
            }
            for one in worker.qualification_requests.select_related("qualification_type").order_by("started_at")
        ],
        "messages": [
            {
                "from": one.requester.name if one.requester else "the marketplace",
                "subject": one.subject,
                "body": one.body,
                "sent_at": one.sent_at,
                "read_at": one.read_at,
            }
            for one in worker.messages.select_related("requester").order_by("sent_at")
        ],
    }
