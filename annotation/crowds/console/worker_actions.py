"""What admins do with chosen workers: each action first as a plan with its price, then as background work."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.common.errors import Refused
from annotation.common.money import amount, to_cents
from annotation.crowds.lookup import MARKETS, market_for
from annotation.jobs import start_job
from annotation.models import Batch, Job, Submission, User, Worker

from .workers import Price, last_turns, price_of_approval, turns_of

State = Submission.State
VERBS: dict[str, str | Promise] = {
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
    turns: list[Submission]
    price: Price | None = None
    fields: tuple[str, ...] = ()
    reason_label: str = ""
    least: int = 0


def verbs_for(batch: Batch) -> list[tuple[str, str | Promise]]:
    """The actions that this batch's market knows; imported answers have no market."""
    if batch.crowd not in MARKETS:
        return []
    market = market_for(batch.crowd)
    paid = {"approve", "reject", "bonus", "undo", "message"}
    hidden = (set() if market.pays else paid) | (set() if market.undoes_rejection else {"undo"})
    return [(name, word) for name, word in VERBS.items() if name not in hidden]


def plan_action(batch: Batch, verb: str, workers: Sequence[Worker]) -> ActionPlan:
    """The plan of an action; Refused when there is nothing to do."""
    if verb not in dict(verbs_for(batch)):
        raise Refused(
            _("There is no action “%(name)s” here. Known: %(known)s. Nothing was done.")
            % {"name": verb[:30], "known": ", ".join(name for name, _word in verbs_for(batch))}
        )
    return _PLANS[verb](batch, list(workers))


def _approve(batch: Batch, workers: list[Worker]) -> ActionPlan:
    turns = _some(turns_of(batch, workers, State.SUBMITTED), _("None of them has work that waits for a verdict."))
    price = price_of_approval(turns)
    total = amount(price.total_cents, batch.study.currency)
    return ActionPlan(
        _answers(turns) + " " + _("Approving pays the reward; it can't be taken back."),
        _("Pay %(sum)s") % {"sum": total},
        workers,
        turns,
        price,
    )


def _reject(batch: Batch, workers: list[Worker]) -> ActionPlan:
    turns = _some(turns_of(batch, workers, State.SUBMITTED), _("None of them has work that waits for a verdict."))
    market = market_for(batch.crowd)
    undo = _("It can be undone for 30 days.") if market.undoes_rejection else _("This market knows no way back.")
    effect = _("Rejected work is not paid and no longer counts.")
    return ActionPlan(
        f"{_answers(turns)} {effect} {undo}",
        ngettext("Reject %(n)d answer", "Reject %(n)d answers", len(turns)) % {"n": len(turns)},
        workers,
        turns,
        fields=("reason",),
        reason_label=_("Reason, as the worker reads it"),
        least=market_for(batch.crowd).least_reason,
    )


def _undo(batch: Batch, workers: list[Worker]) -> ActionPlan:
    turns = _some(turns_of(batch, workers, State.REJECTED), _("None of them has rejected work."))
    price = price_of_approval(turns)
    total = amount(price.total_cents, batch.study.currency)
    return ActionPlan(
        _answers(turns) + " " + _("Undoing a rejection approves the work, so it is paid and counts."),
        _("Pay %(sum)s") % {"sum": total},
        workers,
        turns,
        price,
    )


def _bonus(batch: Batch, workers: list[Worker]) -> ActionPlan:
    turns = _some(last_turns(batch, workers), _("None of them has handed in work, and a bonus belongs to some."))
    return ActionPlan(
        ngettext(
            "%(n)d worker gets a bonus beside the reward; the market's fee comes on top.",
            "%(n)d workers get a bonus each beside the reward; the market's fee comes on top.",
            len(turns),
        )
        % {"n": len(turns)},
        _("Work out the sum"),
        workers,
        turns,
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
    blocked = [one for one in workers if one.blocked_at]
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


def _some(turns: list[Submission], otherwise: str) -> list[Submission]:
    if not turns:
        raise Refused(_("%(why)s Nothing was done.") % {"why": otherwise})
    return turns


def _answers(turns: Sequence[Submission]) -> str:
    if len(turns) == 1:
        return _("1 answer of 1 worker.")
    people = len({turn.worker_id for turn in turns})
    return ngettext("%(n)d answers of %(people)d worker.", "%(n)d answers of %(people)d workers.", people) % {
        "n": len(turns),
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
    fee = market_for(batch.crowd).bonus_fee_cents(cents)
    return Price(len(plan.turns), len(plan.turns), cents * len(plan.turns), fee * len(plan.turns))


def start_action(batch: Batch, verb: str, workers: Sequence[Worker], given: Mapping[str, str], user: User) -> Job:
    """Write the job down. Who is concerned is fixed here, so that nobody is judged unseen."""
    plan = plan_action(batch, verb, workers)
    reason = given.get("reason", "").strip()[:4000]
    if "reason" in plan.fields and len(reason) < max(1, plan.least):
        raise Refused(
            _("A reason of at least %(n)d characters is needed. Nothing was done.") % {"n": max(1, plan.least)}
        )
    options = {
        "batch": batch.pk,
        "submissions": [turn.pk for turn in plan.turns],
        "workers": [worker.pk for worker in plan.workers],
        "reason": reason,
        "subject": given.get("subject", "").strip()[:200],
    }
    if verb == "bonus":
        options["cents"] = bonus_price(batch, plan, given.get("amount", "")).reward_cents // len(plan.turns)
    return start_job(batch.study, verb, options, user)
