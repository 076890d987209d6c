"""The record in sentences: who did what to which batch, with names and amounts, from what a line of the log keeps."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common.labels import label
from annotation.common.money import amount, to_cents
from annotation.models import AuditEvent, Study

from .audit_log import ACTION_LABELS

Facts = Mapping[str, str]


@dataclass(frozen=True)
class RecordLine:
    event: AuditEvent
    sentence: str


def record_lines(study: Study, events: Iterable[AuditEvent]) -> list[RecordLine]:
    """Each line with its sentence; a batch that is gone is called by its number."""
    batches = {str(pk): name for pk, name in study.batches.values_list("pk", "name")}
    return [RecordLine(event, _sentence(event, batches, study.currency)) for event in events]


def _sentence(event: AuditEvent, batches: Mapping[str, str], currency: str) -> str:
    facts = {name.removeprefix("form."): str(value) for name, value in event.facts.items()}
    number = facts.get("batch_id", "")
    facts["batch"] = batches.get(number, number)
    for name in ("reward", "amount", "budget", "wage"):
        facts[name] = _money(facts.get(name, ""), currency)
    facts["total"] = amount(int(total), currency) if (total := facts.get("total", "")).isdecimal() else ""
    write = SENTENCES.get(event.action)
    return (write(facts) if write else "") or str(ACTION_LABELS.get(event.action, event.action))


def _money(text: str, currency: str) -> str:
    try:
        return amount(to_cents(text), currency) if text else ""
    except ValueError:
        return ""


def _edited(facts: Facts) -> str:
    if "delete" in facts:
        return _("Deleted the draft %(batch)s") % facts
    return _("Renamed a batch to “%(name)s”") % facts if facts.get("name") else ""


def _launched(facts: Facts) -> str:
    if facts["reward"] and facts["total"]:
        return _("Launched “%(batch)s” at %(reward)s a task, %(total)s with fees") % facts
    return _("Launched “%(batch)s”") % facts


def _workers(facts: Facts) -> str:
    n = len([name for name in facts.get("worker", "").split(", ") if name])
    words = {
        **{"approve": _("Approved the work"), "reject": _("Rejected the work"), "message": _("Wrote a message")},
        **{"block": _("Blocked people"), "exclude": _("Kept people from further batches")},
        "bonus": _("Paid a bonus of %(amount)s each") % facts if facts["amount"] else _("Paid a bonus"),
    }
    if facts.get("action") not in words:
        return ""
    people = ngettext("%(n)d person in “%(batch)s”", "%(n)d people in “%(batch)s”", n)
    return f"{words[facts['action']]}: {people % {'n': n, 'batch': facts['batch']}}"


def _steered(facts: Facts) -> str:
    words = {
        **{"collect": _("Collected"), "approve": _("Approved all"), "expire": _("Expired"), "close": _("Closed")},
        **{"top-up": _("Asked for more answers"), "settle": _("Settled"), "pause": _("Paused"), "resume": _("Resumed")},
    }
    done = words.get(facts.get("action", ""))
    if not done:
        return ""
    return f"{done}: “{facts['batch']}”" + (f", {facts['total']}" if facts["total"] else "")


def _limits(facts: Facts) -> str:
    parts = []
    if facts["budget"]:
        parts.append(_("the budget to %(budget)s") % facts)
    if facts["wage"]:
        parts.append(_("the minimum wage to %(wage)s an hour") % facts)
    return _("Set %(what)s") % {"what": _(" and ").join(parts)} if parts else ""


def _state(facts: Facts) -> str:
    words = {"open": _("Opened “%(batch)s”"), "paused": _("Paused “%(batch)s”"), "closed": _("Closed “%(batch)s”")}
    return words.get(facts.get("state", ""), "") % facts


def _member(facts: Facts) -> str:
    if facts.get("remove"):
        return _("Took %(name)s out of the study") % facts if facts.get("name") else ""
    if not facts.get("name"):
        return ""
    return _("Gave %(name)s the role %(role)s") % {"name": facts["name"], "role": label(facts.get("role", ""))}


def _filter(facts: Facts) -> str:
    if facts.get("undo"):
        return _("Undid a filter")
    return _("Applied the filter %(rules)s") % facts if facts.get("rules") else ""


def _metrics(facts: Facts) -> str:
    if facts.get("model"):
        return _("Had %(kind)s trained as “%(model)s”") % {"kind": facts.get("kind", ""), "model": facts["model"]}
    names = ", ".join(filter(None, (facts.get("set"), facts.get("metric"), facts.get("more"))))
    return _("Had metrics computed: %(names)s") % {"names": names} if names else ""


def _renamed_study(facts: Facts) -> str:
    return _("Renamed the study to “%(name)s”") % facts if facts.get("name") else ""


def _made(facts: Facts) -> str:
    if not facts.get("name"):
        return ""
    sentence = _("Made the batch “%(name)s”") % facts
    answers = _(", %(quota)s answers a task") % facts if facts.get("quota") else ""
    return sentence + answers


SENTENCES: dict[str, Callable[[Facts], str]] = {
    "POST new-batch": _made,
    "POST collect": _made,
    "POST edit-batch": _edited,
    "POST launch": _launched,
    "POST batch-act": _steered,
    "POST crowd-workers-do": _workers,
    "POST ledger": _limits,
    "POST batch-state": _state,
    "POST members": _member,
    "POST quality-decide": _filter,
    "POST metrics": _metrics,
    "POST edit-study": _renamed_study,
    "POST add-system": lambda facts: _("Added the system “%(name)s”") % facts if facts.get("name") else "",
}
