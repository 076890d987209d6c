"""Setting up guidance: the rules of practice, and its items, checked before they are kept."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Max
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.common import clock
from annotation.common.errors import BadAnswers, Refused
from annotation.common.parsing import parse_int
from annotation.models import Consent, GuidanceText, PracticeItem, PracticePlan, PracticeRun, Study, Summary
from annotation.protocols import Protocol

from . import Kind, newest_text


@dataclass(frozen=True)
class GuidancePage:
    """What the admin's page shows for one protocol."""

    protocol: str
    about: Protocol
    known: list[tuple[str, str]]  # name, title
    instructions: GuidanceText | None
    consent: GuidanceText | None
    agreed: int  # workers who agreed to the newest consent text
    plan: PracticePlan | None
    items: list[PracticeItem]
    passed: int
    failed: int
    summaries: list[tuple[int, str]]


def guidance_page(study: Study, protocol: str) -> GuidancePage:
    """One protocol's guidance; without a name, the first one that the study has a batch of."""
    protocol = protocol or study.batches.order_by("pk").values_list("protocol", flat=True).first() or "litepyramid"
    try:
        about = protocols.get(protocol)
    except ValueError as error:
        raise Refused(str(error)) from None
    consent = newest_text(study, Kind.CONSENT)
    plan = PracticePlan.objects.filter(study=study, protocol=protocol).first()
    tests = PracticeRun.objects.filter(plan=plan, kind="test") if plan else PracticeRun.objects.none()
    passed = tests.filter(passed=True).values("worker").distinct().count()
    summaries = Summary.objects.filter(document__study=study).order_by("document__doc_id", "system__name")
    rows = summaries.values_list("pk", "document__doc_id", "system__name")
    return GuidancePage(
        protocol=protocol,
        about=about,
        known=[(name, str(other.title)) for name, other in protocols.PROTOCOLS.items()],
        instructions=newest_text(study, Kind.INSTRUCTIONS, protocol),
        consent=consent,
        agreed=Consent.objects.filter(text=consent).count() if consent else 0,
        plan=plan,
        items=list(plan.items.filter(retired_at=None).select_related("summary__document", "summary__system"))
        if plan
        else [],
        passed=passed,
        failed=tests.values("worker").distinct().count() - passed,
        summaries=[
            (key, f"{doc} · {system}")
            for key, doc, system in rows.values_list("pk", "document__doc_id", "system__name")
        ],
    )


def set_rules(study: Study, given: Mapping[str, str]) -> PracticePlan:
    """Keep a protocol's rules. Raises BadAnswers for a pass mark or a number of tries that makes no sense."""
    protocol = given.get("protocol", "")
    _known(protocol)
    share, tries = _number(given.get("pass_mark"), _("pass mark")) / 100, _number(given.get("tries"), _("tries"))
    if not 0 < share <= 1:
        raise BadAnswers(_("The pass mark must lie above 0 % and at most at 100 %. Nothing was changed."))
    if tries != int(tries) or not 1 <= tries <= 100:
        raise BadAnswers(_("The number of tries must be a whole number from 1 to 100. Nothing was changed."))
    tutorial = "required" if given.get("tutorial") else "optional"
    plan, _made = PracticePlan.objects.update_or_create(
        study=study,
        protocol=protocol,
        defaults={
            "tutorial": tutorial,
            "test_required": bool(given.get("test_required")),
            "pass_mark": share,
            "tries": int(tries),
        },
    )
    return plan


def add_item(study: Study, given: Mapping[str, str]) -> PracticeItem:
    """Append an item to the tutorial or the test. Raises BadAnswers when something is missing."""
    protocol, kind, question = given.get("protocol", ""), given.get("kind", ""), given.get("question", "").strip()
    about = _known(protocol)
    key = given.get("summary", "")
    summary = Summary.objects.filter(document__study=study, pk=parse_int(key)).first()
    if kind not in PracticeItem.Kind.values or not question or summary is None:
        raise BadAnswers(_("An item needs a summary of this study and a question. Nothing was added."))
    expected = _number(given.get("expected"), _("expected answer"))
    tolerance = max(0.0, _number(given.get("tolerance") or "0", _("tolerance")))
    _check_expected(about, expected)
    plan, _made = PracticePlan.objects.get_or_create(study=study, protocol=protocol)
    last = plan.items.filter(kind=kind).aggregate(n=Max("order"))["n"]
    return PracticeItem.objects.create(
        plan=plan,
        kind=kind,
        order=0 if last is None else last + 1,
        summary=summary,
        question=question,
        expected=expected,
        tolerance=tolerance,
        reason=given.get("reason", "").strip(),
    )


def retire_item(study: Study, item_id: int) -> PracticeItem:
    """Take an item out of use; its answers stay."""
    item = PracticeItem.objects.filter(plan__study=study, pk=item_id).select_related("plan").first()
    if item is None:
        raise Refused(_("There is no such item in this study. Nothing was changed."))
    item.retired_at = clock.now()
    item.save(update_fields=["retired_at"])
    return item


def _check_expected(protocol: Protocol, expected: float) -> None:
    values = protocol.expected_values()
    if values and expected not in map(float, values):
        raise BadAnswers(
            _("The expected answer must be %(choices)s: nobody could give another. Nothing was added.")
            % {"choices": _either(values)}
        )


def _either(values: list[str]) -> str:
    *first, last = values
    return _("%(first)s or %(last)s") % {"first": ", ".join(first), "last": last} if first else last


def _known(protocol: str) -> Protocol:
    try:
        return protocols.get(protocol)
    except ValueError as error:
        raise BadAnswers(f"{error} " + _("Nothing was changed.")) from None


def _number(text: str | None, what: str) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = float("nan")
    if value != value or abs(value) == float("inf"):
        raise BadAnswers(
            _("The %(what)s is “%(found)s”, but must be a number. Nothing was changed.") % {"what": what, "found": text}
        )
    return value
