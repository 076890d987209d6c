"""What admins do with chosen workers: each action first as a plan with its price, then as background work."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.common.errors import Refused
from annotation.common.money import amount, to_cents
from annotation.crowds.ledger import check_affordable
from annotation.crowds.lookup import MARKETS, market_for
from annotation.crowds.pay.work_done import whole_and_other
from annotation.jobs import start_job
from annotation.models import Batch, Job, Submission, User, Worker

from .workers import Price, newest_submissions, price_of_approval, submissions_of

State = Submission.State
ACTIONS: dict[str, str | Promise] = {
    "approve": gettext_lazy("Approve"),
    "reject": gettext_lazy("Reject"),
    "undo": gettext_lazy("Undo rejection"),
    "bonus": gettext_lazy("Bonus"),
    "message": gettext_lazy("Message"),
    "block": gettext_lazy("Block"),
    "unblock": gettext_lazy("Unblock"),
}


@dataclass(frozen=True)
class ActionPlan:
    """What an action would do, for the person who is about to ask for it."""

    sentence: str
    button: str
    workers: list[Worker]
    submissions: list[Submission]
    price: Price | None = None
    fields: tuple[str, ...] = ()
    reason_label: str = ""
    least_reason: int = 0


def actions_for(batch: Batch) -> list[tuple[str, str | Promise]]:
    """The actions that this batch's market knows; imported answers have no market."""
    if batch.crowd not in MARKETS:
        return []
    market = market_for(batch.crowd, batch.study)
    paid_actions = {"approve", "reject", "bonus", "undo", "message"}
    hidden = (set() if market.pays else paid_actions) | (set() if market.undoes_rejection else {"undo"})
    return [(name, word) for name, word in ACTIONS.items() if name not in hidden]


def plan_action(batch: Batch, action: str, workers: Sequence[Worker]) -> ActionPlan:
    """The plan of an action; Refused when there is nothing to do."""
    if action not in dict(actions_for(batch)):
        raise Refused(
            _("There is no action “%(name)s” here. Known: %(known)s. Nothing was done.")
            % {"name": action[:30], "known": ", ".join(name for name, _word in actions_for(batch))}
        )
    return _PLANS[action](batch, list(workers))


def _approve(batch: Batch, workers: list[Worker]) -> ActionPlan:
    submissions, other = whole_and_other(_unjudged(batch, workers))
    _refuse_empty(submissions, _("What they handed in has no answers with us: the Monitor page tells more."))
    price = price_of_approval(submissions)
    total = amount(price.total_cents, batch.study.currency)
    left_out = ngettext(
        "%(n)d hand-in without its answers is left out.",
        "%(n)d hand-ins without their answers are left out.",
        len(other),
    ) % {"n": len(other)}
    sentences = [_answers(submissions), _("Approving pays the reward; it can't be taken back.")]
    return ActionPlan(
        " ".join([*sentences, left_out] if other else sentences),
        _("Pay %(sum)s") % {"sum": total},
        workers,
        submissions,
        price,
    )


def _reject(batch: Batch, workers: list[Worker]) -> ActionPlan:
    submissions = _unjudged(batch, workers)
    market = market_for(batch.crowd, batch.study)
    undo = _("It can be undone for 30 days.") if market.undoes_rejection else _("This market knows no way back.")
    effect = _("Rejected work is not paid and no longer counts.")
    return ActionPlan(
        f"{_answers(submissions)} {effect} {undo}",
        ngettext("Reject %(n)d answer", "Reject %(n)d answers", len(submissions)) % {"n": len(submissions)},
        workers,
        submissions,
        fields=("reason",),
        reason_label=_("Reason, as the worker reads it"),
        least_reason=market_for(batch.crowd, batch.study).least_reason,
    )


def _undo(batch: Batch, workers: list[Worker]) -> ActionPlan:
    submissions = submissions_of(batch, workers, State.REJECTED)
    _refuse_empty(submissions, _("None of them has rejected work."))
    price = price_of_approval(submissions)
    check_affordable(batch.study, market_for(batch.crowd, batch.study), price.total_cents)
    total = amount(price.total_cents, batch.study.currency)
    return ActionPlan(
        _answers(submissions) + " " + _("Undoing a rejection approves the work, so it is paid and counts."),
        _("Pay %(sum)s") % {"sum": total},
        workers,
        submissions,
        price,
    )


def _bonus(batch: Batch, workers: list[Worker]) -> ActionPlan:
    submissions = newest_submissions(batch, workers)
    _refuse_empty(submissions, _("None of them has handed in work, and a bonus belongs to some."))
    return ActionPlan(
        ngettext(
            "%(n)d worker gets a bonus beside the reward; the market's fee comes on top.",
            "%(n)d workers get a bonus each beside the reward; the market's fee comes on top.",
            len(submissions),
        )
        % {"n": len(submissions)},
        _("Work out the sum"),
        workers,
        submissions,
        fields=("amount", "reason"),
        reason_label=_("Reason, as the worker reads it"),
    )


def _message(batch: Batch, workers: list[Worker]) -> ActionPlan:
    sentence = ngettext("%(n)d worker gets it.", "%(n)d workers get it.", len(workers)) % {"n": len(workers)}
    return ActionPlan(sentence, _("Send"), workers, [], fields=("subject", "reason"), reason_label=_("Message"))


def _block(batch: Batch, workers: list[Worker]) -> ActionPlan:
    return ActionPlan(
        _("Blocked workers can't take your work any more, here and on the market. What they gave stays."),
        ngettext("Block %(n)d worker", "Block %(n)d workers", len(workers)) % {"n": len(workers)},
        workers,
        [],
        fields=("reason",),
        reason_label=_("Reason, for your own record"),
    )


def _unblock(batch: Batch, workers: list[Worker]) -> ActionPlan:
    blocked = [worker for worker in workers if worker.blocked_at]
    if not blocked:
        raise Refused(_("None of them is blocked. Nothing was done."))
    return ActionPlan(
        _("They may take your work again."),
        ngettext("Unblock %(n)d worker", "Unblock %(n)d workers", len(blocked)) % {"n": len(blocked)},
        blocked,
        [],
    )


_PLANS: dict[str, Callable[[Batch, list[Worker]], ActionPlan]] = {
    "approve": _approve,
    "reject": _reject,
    "undo": _undo,
    "bonus": _bonus,
    "message": _message,
    "block": _block,
    "unblock": _unblock,
}


def _unjudged(batch: Batch, workers: list[Worker]) -> list[Submission]:
    submissions = submissions_of(batch, workers, State.SUBMITTED)
    _refuse_empty(submissions, _("None of them has work that waits for a verdict."))
    return submissions


def _refuse_empty(submissions: list[Submission], why: str) -> None:
    if not submissions:
        raise Refused(_("%(why)s Nothing was done.") % {"why": why})


def _answers(submissions: Sequence[Submission]) -> str:
    if len(submissions) == 1:
        return _("1 answer of 1 worker.")
    people = len({submission.worker_id for submission in submissions})
    return ngettext("%(n)d answers of %(people)d worker.", "%(n)d answers of %(people)d workers.", people) % {
        "n": len(submissions),
        "people": people,
    }


def bonus_price(batch: Batch, plan: ActionPlan, text: str) -> Price:
    """What a bonus of so much for each costs; Refused for what is no amount."""
    try:
        cents = to_cents(text)
    except ValueError as problem:
        raise Refused(_("%(problem)s Nothing was spent.") % {"problem": problem}) from None
    if cents < 1:
        raise Refused(_("A bonus is at least 0.01. Nothing was spent."))
    fee = market_for(batch.crowd, batch.study).bonus_fee_cents(cents)
    n = len(plan.submissions)
    check_affordable(batch.study, market_for(batch.crowd, batch.study), n * (cents + fee))
    return Price(n, n, cents * n, fee * n)


def reason_given(text: str, least: int) -> str:
    """The reason as typed; Refused where it is too short for the market."""
    reason = text.strip()[:4000]
    if len(reason) < max(1, least):
        raise Refused(_("A reason of at least %(n)d characters is needed. Nothing was done.") % {"n": max(1, least)})
    return reason


def fingerprint(plan: ActionPlan) -> str:
    """Tells whether a plan for everybody in a list is still about the same people and the same work."""
    keys = [[worker.pk for worker in plan.workers], [submission.pk for submission in plan.submissions]]
    return hashlib.sha256(repr(keys).encode()).hexdigest()[:32]


def start_action(batch: Batch, action: str, workers: Sequence[Worker], form: Mapping[str, str], user: User) -> Job:
    """Write the job down. Who is concerned is fixed here, so that nobody is judged unseen."""
    plan = plan_action(batch, action, workers)
    if form.get("everybody") and form.get("seen") != fingerprint(plan):
        raise Refused(_("Meanwhile the list has changed. Nothing was done: look at it again."))
    reason = form.get("reason", "").strip()[:4000]
    if "reason" in plan.fields:
        reason_given(reason, plan.least_reason)
    options = {
        "batch": batch.pk,
        "submissions": [submission.pk for submission in plan.submissions],
        "workers": [worker.pk for worker in plan.workers],
        "reason": reason,
        "subject": form.get("subject", "").strip()[:200],
    }
    if action == "bonus":
        options["cents"] = bonus_price(batch, plan, form.get("amount", "")).reward_cents // len(plan.submissions)
    return start_job(batch.study, action, options, user)
