"""All that the market knows about a worker, for the worker."""

from dataclasses import asdict
from typing import Any

from annotation.marketplace.books.money import dollars
from annotation.marketplace.models import Worker
from annotation.marketplace.people.bank import bank_of


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
        "bank": asdict(bank) if (bank := bank_of(worker)) else None,
        "assignments": [
            {
                "assignment_id": assignment.assignment_id,
                "hit_id": assignment.hit.hit_id,
                "title": assignment.hit.hit_type.title,
                "requester": assignment.hit.requester.name,
                "state": assignment.state,
                "reward_usd": dollars(assignment.reward_cents),
                "accepted_at": assignment.accepted_at,
                "submitted_at": assignment.submitted_at,
                "approved_at": assignment.approved_at,
                "rejected_at": assignment.rejected_at,
                "ended_at": assignment.ended_at,
                "answer": assignment.answer,
                "feedback": assignment.feedback,
            }
            for assignment in worker.assignments.select_related("hit__hit_type", "hit__requester").order_by(
                "accepted_at"
            )
        ],
        "bonuses": [
            {
                "assignment_id": bonus.assignment.assignment_id,
                "requester": bonus.requester.name,
                "amount_usd": dollars(bonus.cents),
                "reason": bonus.reason,
                "granted_at": bonus.granted_at,
            }
            for bonus in worker.bonus_payments.select_related("assignment", "requester").order_by("granted_at")
        ],
        "payouts": [
            {"amount_usd": dollars(payout.cents), "reference": payout.reference, "at": payout.at}
            for payout in worker.payouts.order_by("at")
        ],
        "qualifications": [
            {
                "name": qualification.qualification_type.name,
                "qualification_type_id": qualification.qualification_type.qualification_type_id,
                "value": qualification.value,
                "status": qualification.status,
                "granted_at": qualification.granted_at,
            }
            for qualification in worker.qualifications.select_related("qualification_type").order_by("granted_at")
        ],
        "qualification_requests": [
            {
                "name": request.qualification_type.name,
                "state": request.state,
                "started_at": request.started_at,
                "submitted_at": request.submitted_at,
                "answer": request.answer,
                "reason": request.reason,
            }
            for request in worker.qualification_requests.select_related("qualification_type").order_by("started_at")
        ],
        "messages": [
            {
                "from": message.requester.name if message.requester else "the marketplace",
                "subject": message.subject,
                "body": message.body,
                "sent_at": message.sent_at,
                "read_at": message.read_at,
            }
            for message in worker.messages.select_related("requester").order_by("sent_at")
        ],
    }
