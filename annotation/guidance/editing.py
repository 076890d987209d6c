"""Setting up guidance: the rules of practice, and its items, checked before they are kept."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Max
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.common import clock
from annotation.common.errors import BadAnswers, Refused
from annotation.common.parsing import parse_int
from annotation.common.text import Text, glimpse
from annotation.models import Consent, GuidanceText, PracticeItem, PracticePlan, PracticeRun, Study, Summary
from annotation.protocols import Protocol

from . import Kind, newest_text

LETTERS, FEW_LETTERS, MANY = 60, 20, 500


@dataclass(frozen=True)
class GuidancePage:
    """What the admin's page shows for one protocol."""

    protocol: Protocol
    protocols: list[tuple[str, str]]  # name, title
    instructions: GuidanceText | None
    consent: GuidanceText | None
    agreed: int  # workers who agreed to the newest consent text
    plan: PracticePlan | None
    items: list[PracticeItem]
    passed: int
    failed: int
    summaries: list[tuple[int, str]]


def guidance_page(study: Study, name: str) -> GuidancePage:
    """One protocol's guidance; without a name, the first one that the study has a batch of."""
    name = name or study.batches.order_by("pk").values_list("protocol", flat=True).first() or "litepyramid"
    try:
        protocol = protocols.get(name)
    except ValueError as error:
        raise Refused(str(error)) from None
    consent = newest_text(study, Kind.CONSENT)
    plan = PracticePlan.objects.filter(study=study, protocol=name).first()
    tests = PracticeRun.objects.filter(plan=plan, kind="test") if plan else PracticeRun.objects.none()
    passed = tests.filter(passed=True).values("worker").distinct().count()
    summaries = Summary.objects.filter(document__study=study).order_by("document__sort_key", "system__name")
    rows = summaries.values_list("pk", "document__doc_id", "system__name", "text")
    return GuidancePage(
        protocol=protocol,
        protocols=[(key, str(entry.title)) for key, entry in protocols.PROTOCOLS.items()],
        instructions=newest_text(study, Kind.INSTRUCTIONS, name),
        consent=consent,
        agreed=Consent.objects.filter(text=consent).count() if consent else 0,
        plan=plan,
        items=list(plan.items.filter(retired_at=None).select_related("summary__document", "summary__system"))
        if plan
        else [],
        passed=passed,
        failed=tests.values("worker").distinct().count() - passed,
        summaries=_options(list(rows)),
    )


def _options(rows: list[tuple[int, str, str, Text]]) -> list[tuple[int, str]]:
    """The summaries to choose from, by their beginnings; shorter where there are thousands of them."""
    length = FEW_LETTERS if len(rows) > MANY else LETTERS
    return [(key, f"{doc} · {system}: {glimpse(text, length)}") for key, doc, system, text in rows]


def set_rules(study: Study, form: Mapping[str, str]) -> PracticePlan:
    """Keep a protocol's rules. Raises BadAnswers for a pass mark or a number of tries that makes no sense."""
    protocol = _protocol(form.get("protocol", ""))
    share, tries = _number(form.get("pass_mark"), _("pass mark")) / 100, _number(form.get("tries"), _("tries"))
    if not 0 < share <= 1:
        raise BadAnswers(_("The pass mark must lie above 0 % and at most at 100 %. Nothing was changed."))
    if tries != int(tries) or not 1 <= tries <= 100:
        raise BadAnswers(_("The number of tries must be a whole number from 1 to 100. Nothing was changed."))
    rules = {"tutorial": "required" if form.get("tutorial") else "optional", "pass_mark": share, "tries": int(tries)}
    rules["test_required"] = bool(form.get("test_required"))
    return PracticePlan.objects.update_or_create(study=study, protocol=protocol.name, defaults=rules)[0]


def add_item(study: Study, form: Mapping[str, str]) -> PracticeItem:
    """Append an item to the tutorial or the test. Raises BadAnswers when something is missing."""
    protocol = _protocol(form.get("protocol", ""))
    kind, question = form.get("kind", ""), form.get("question", "").strip()
    summary = Summary.objects.filter(document__study=study, pk=parse_int(form.get("summary", ""))).first()
    if kind not in PracticeItem.Kind.values or not question or summary is None:
        raise BadAnswers(_("An item needs a summary of this study and a question. Nothing was added."))
    expected = _number(form.get("expected"), _("expected answer"))
    tolerance = max(0.0, _number(form.get("tolerance") or "0", _("tolerance")))
    _check_expected(protocol, expected)
    protocol.check_practice(summary, question)
    plan, _made = PracticePlan.objects.get_or_create(study=study, protocol=protocol.name)
    last = plan.items.filter(kind=kind).aggregate(n=Max("order"))["n"]
    return PracticeItem.objects.create(
        plan=plan,
        kind=kind,
        order=0 if last is None else last + 1,
        summary=summary,
        question=question,
        expected=expected,
        tolerance=tolerance,
        reason=form.get("reason", "").strip(),
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


def _protocol(name: str) -> Protocol:
    try:
        return protocols.get(name)
    except ValueError as error:
        raise BadAnswers(f"{error} " + _("Nothing was changed.")) from None


def _number(text: str | None, name: str) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = float("nan")
    if value != value or abs(value) == float("inf"):
        raise BadAnswers(
            _("The %(what)s is “%(found)s”, but must be a number. Nothing was changed.") % {"what": name, "found": text}
        )
    return value


LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")


def set_language(study: Study, code: str) -> None:
    """Keep the language of the study's texts, such as "de" or "pt-BR"; empty: not said. Raises BadAnswers."""
    code = code.strip()
    if code and not LANGUAGE.fullmatch(code):
        raise BadAnswers(
            _("“%(code)s” is no code of a language. Nothing was changed: write one such as de or pt-BR.")
            % {"code": code[:40]}
        )
    study.language = code
    study.save(update_fields=["language"])
