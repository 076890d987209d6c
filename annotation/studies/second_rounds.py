"""The second round: contested answers go back to those who gave them, beside the others'. Both rounds are kept."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from analysis.lazy import pandas as pd
from annotation import protocols
from annotation.common.errors import Refused
from annotation.models import Batch, Judgment, SecondLook, Study, Task, Worker
from annotation.protocols.descriptions import ContestedRule

ROUND_OF = "round_of"


class NothingContested(Refused):
    sentence = "No answer is contested by this rule, so there is nothing to look at again. No batch was made."


@dataclass(frozen=True)
class Contested:
    """What a second round of a batch would ask."""

    rows: pd.DataFrame  # the judgments to look at again, with `reason`
    answers: int  # judgments of the first round
    units: int  # contested (summary, unit) pairs
    workers: int
    unreachable: int  # of them: imported workers, whom nobody can ask again
    thresholds: dict[str, float]

    @property
    def looks(self) -> int:
        return len(self.rows)


def rule_of(batch: Batch) -> ContestedRule:
    """The rule of the batch's protocol; Refused where its answers are not looked at again."""
    protocol = protocols.get(batch.protocol)
    if protocol.contested_rule is None:
        raise Refused(
            _("Answers by %(protocol)s have no second round. Nothing was changed.") % {"protocol": protocol.title}
        )
    return protocol.contested_rule


def read_thresholds(batch: Batch, form: Mapping[str, Any]) -> dict[str, float]:
    """The rule's thresholds: as given, else the batch's option `second_round`, else the default. Raises Refused."""
    thresholds = {**rule_of(batch).thresholds, **batch.options.get("second_round", {})}
    for name in thresholds:
        text = form.get(name, "")
        try:
            thresholds[name] = float(text) if text not in ("", None) else float(thresholds[name])
        except ValueError:
            raise Refused(_("%(name)s is “%(found)s”, but must be a number.") % {"name": name, "found": text}) from None
    if any(value < 0 for value in thresholds.values()) or thresholds.get("majority", 0.5) >= 1:
        raise Refused(_("A threshold must not be negative, and a majority lies below 1. Nothing was changed."))
    return thresholds


def find_contested(batch: Batch, thresholds: Mapping[str, float]) -> Contested:
    """Apply the rule to the batch's counted answers."""
    frame = answers_frame([batch])
    rows = rule_of(batch).apply(frame, **thresholds)
    return Contested(
        rows=rows,
        answers=len(frame),
        units=len(rows[["doc_id", "system", "unit"]].drop_duplicates()),
        workers=rows["worker"].nunique(),
        unreachable=len(_unreachable(rows)),
        thresholds=dict(thresholds),
    )


def _unreachable(rows: pd.DataFrame) -> set[int]:
    concerned = Worker.objects.filter(pk__in=set(rows["worker"].tolist()), crowd=Worker.IMPORTED, user=None)
    return set(concerned.values_list("pk", flat=True))


def answers_frame(batches: list[Batch]) -> pd.DataFrame:
    """The counted answers of some batches as a judgments table; `system` is the summary's number, `judgment` the row's.

    Who rated a summary twice in a round (the reference stands in every group) counts with the last answer.
    """
    fields = {
        "judgment": "pk",
        "doc_id": "summary__document__doc_id",
        "document": "summary__document_id",
        "system": "summary_id",
        "unit": "unit",
        "worker_id": "assignment__worker__pseudonym",
        "worker": "assignment__worker_id",
        "value": "value",
        "round": "assignment__task__batch__round",
    }
    rows = (
        Judgment.objects.counted()
        .filter(assignment__task__batch__in=batches, is_check=False)
        .order_by("submitted_at", "pk")
    )
    frame = pd.DataFrame.from_records(list(rows.values_list(*fields.values())), columns=list(fields))
    frame["system"] = frame["system"].astype(str)
    key = ["round", "doc_id", "system", "unit", "worker_id"]
    return frame.drop_duplicates(key, keep="last").sort_values("judgment", ignore_index=True)


def second_round_of(batch: Batch) -> Batch | None:
    return Batch.objects.filter(study_id=batch.study_id, round=batch.round + 1, options__round_of=batch.pk).first()


def open_second_round(batch: Batch, thresholds: Mapping[str, float], *, seed: int = 0) -> Batch:
    """A batch of second looks: one task per concerned worker and document, reserved for that worker, open at once.

    Raises Refused while the first round goes on, when there is a second one already, or nothing is contested.
    """
    if batch.state == Batch.State.OPEN:
        raise Refused(_("The first round is still open: close or pause it, then look at what is contested."))
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=batch.study_id)
        if second_round_of(batch):
            raise Refused(_("This batch has its second round already. Nothing was changed."))
        contested = find_contested(batch, thresholds)
        rows = contested.rows[~contested.rows["worker"].isin(_unreachable(contested.rows))]
        if not contested.looks:
            raise NothingContested
        if rows.empty:
            raise Refused(_("These answers were imported, so nobody can be asked again. No batch was made."))
        second = Batch.objects.create(
            study_id=batch.study_id,
            name=_free_name(batch),
            protocol=batch.protocol,
            role=batch.role,
            round=batch.round + 1,
            crowd=batch.crowd,
            state=Batch.State.OPEN,
            scale_min=batch.scale_min,
            scale_max=batch.scale_max,
            is_chosen=batch.is_chosen,
            options={**batch.options, ROUND_OF: batch.pk, "thresholds": dict(thresholds), "seed": seed},
        )
        _make_tasks(second, rows, answers_frame([batch]), seed)
    return second


def _free_name(batch: Batch) -> str:
    name = _("%(name)s, second round") % {"name": batch.name[:150]}
    names = set(Batch.objects.filter(study_id=batch.study_id).values_list("name", flat=True))
    return next(free_name for n in range(1, 1000) if (free_name := name if n == 1 else f"{name} ({n})") not in names)


def _make_tasks(batch: Batch, rows: pd.DataFrame, answers: pd.DataFrame, seed: int) -> None:
    values: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for row in answers.to_dict("records"):
        values.setdefault((row["system"], row["unit"]), []).append((row["judgment"], row["value"]))
    rows_of_task: dict[tuple[int, int], list[dict[Hashable, Any]]] = {}
    for row in rows.sort_values(["document", "worker", "system", "judgment"]).to_dict("records"):
        rows_of_task.setdefault((row["document"], row["worker"]), []).append(row)
    last_parts: dict[int, int] = {}
    for (document, worker), looks in rows_of_task.items():
        part_number = last_parts[document] = last_parts.get(document, -1) + 1
        task = Task.objects.create(batch=batch, document_id=document, part=part_number, reserved_for_id=worker, quota=1)
        SecondLook.objects.bulk_create(
            SecondLook(
                task=task,
                judgment_id=row["judgment"],
                order=order,
                others=_other_values(values[row["system"], row["unit"]], row["judgment"], seed),
            )
            for order, row in enumerate(looks, start=1)
        )


def _other_values(answers: list[tuple[int, float]], own_judgment: int, seed: int) -> list[float]:
    """The others' values, shuffled, so that their order tells nobody apart."""
    values = [float(value) for judgment, value in answers if judgment != own_judgment]
    Random(f"{seed}:{own_judgment}").shuffle(values)
    return values


@dataclass(frozen=True)
class RoundReport:
    """Agreement before and after, and what became of the contested answers."""

    before: list[dict[str, Any]]  # fields of analysis.agreement.AgreementResult
    after: list[dict[str, Any]]
    looks: int
    n_answered: int
    revised: int
    remarks: list[dict[str, Any]]

    @property
    def confirmed(self) -> int:
        return self.n_answered - self.revised

    @property
    def pairs(self) -> list[tuple[Any, Any]]:
        return list(zip(self.before, self.after, strict=True))


def round_report(first: Batch, second: Batch, *, resamples: int = 1000, seed: int = 0) -> RoundReport:
    """Krippendorff's alpha of the first round, and of each worker's last answers; pooled, and for each dimension."""
    frame = answers_frame([first, second])
    start = frame[frame["round"] == first.round]
    looks = SecondLook.objects.filter(task__batch=second).values_list(
        "judgment__summary", "judgment__unit", "judgment__assignment__worker__pseudonym", "judgment__value"
    )
    firsts = {(str(summary), unit, worker): value for summary, unit, worker, value in looks}
    answers = frame[frame["round"] == second.round]
    revised = sum(
        value != firsts.get((system, unit, worker))
        for system, unit, worker, value in zip(
            answers["system"], answers["unit"], answers["worker_id"], answers["value"], strict=True
        )
    )
    return RoundReport(
        before=_agreements(first, start, resamples, seed),
        after=_agreements(first, frame, resamples, seed),
        looks=len(firsts),
        n_answered=len(answers),
        revised=revised,
        remarks=_remarks(second),
    )


def _agreements(batch: Batch, frame: pd.DataFrame, resamples: int, seed: int) -> list[dict[str, Any]]:
    from analysis.agreement import agreement

    protocol = protocols.get(batch.protocol)
    results = agreement(frame, level=protocol.level, ci=resamples, cluster="doc_id", seed=seed)
    if protocol.rates_dimensions:
        results += agreement(frame, level=protocol.level, by="unit", ci=resamples, cluster="doc_id", seed=seed)
    return [asdict(result) for result in results]


def _remarks(batch: Batch) -> list[dict[str, Any]]:
    rows = Judgment.objects.filter(
        assignment__task__batch=batch, is_current=True, extra__remark__isnull=False
    ).select_related("summary__document", "summary__system", "assignment__worker")
    return [
        {
            "worker": row.assignment.worker.pseudonym,
            "doc_id": row.summary.document.doc_id,
            "system": row.summary.system.name,
            "unit": row.unit,
            "value": row.value,
            "remark": (row.extra or {})["remark"],
        }
        for row in rows.order_by("pk")
    ]


@dataclass(frozen=True)
class RoundLine:
    """A first-round batch in the overview."""

    batch: Batch
    second: Batch | None


def first_rounds(study: Study) -> list[RoundLine]:
    """The batches that a second round can follow: two queries."""
    names = [protocol.name for protocol in protocols.among(protocols.judging()) if protocol.contested_rule]
    batches = list(study.batches.filter(protocol__in=names).order_by("pk"))
    seconds = {batch.options.get(ROUND_OF): batch for batch in batches if ROUND_OF in batch.options}
    return [RoundLine(batch, seconds.get(batch.pk)) for batch in batches if ROUND_OF not in batch.options]


@dataclass(frozen=True)
class RoundPage:
    """What the page of one batch shows."""

    rule: str | Promise
    contested: Contested
    second: Batch | None
    report: RoundReport | None
    before: list[dict[str, Any]]
    reasons: dict[str, int]


def round_page(batch: Batch, thresholds: Mapping[str, float]) -> RoundPage:
    contested, second = find_contested(batch, thresholds), second_round_of(batch)
    frame = answers_frame([batch])
    return RoundPage(
        rule=rule_of(batch).explanation,
        contested=contested,
        second=second,
        report=round_report(batch, second) if second else None,
        before=_agreements(batch, frame, 1000, 0) if second is None and frame["worker_id"].nunique() > 1 else [],
        reasons={str(reason): int(n) for reason, n in contested.rows["reason"].value_counts().items()},
    )
