"""What a study trusts: the filter in force, the judgments that count under it, and the human scores they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Min
from django.utils.translation import gettext, gettext_noop

from analysis.lazy import pandas as pd
from analysis.sentence import Sentence, join_sentences
from analysis.tables.batches import BatchChoice, choose_batches, none_of_them, rater_name
from analysis.tables.csv_formulas import defuse
from annotation.common.errors import Refused
from annotation.models import REFERENCE_GROUP, Assignment, Batch, FilterDecision, Study, Worker
from annotation.models.work import MODEL_ROLE, counted
from annotation.tables.frames import judgments_frame, scus_frame
from annotation.tables.judgments import judgments_table
from annotation.tables.stream import Column, Row, Table

if TYPE_CHECKING:
    from analysis.filters import Decision

# Which human measure leads, when there are several.
MEASURES = ("litepyramid_recall", "relevance", "coherence", "preference_win_rate")
REASONS = ("rule", "reason", "evidence", "settings")
JUDGMENT = ("assignment_id", "system", "unit")  # what names a judgment of a study
Reasons = tuple[str, ...]


def of_systems(frame: pd.DataFrame) -> pd.DataFrame:
    """A table without the rows about rated references."""
    return frame[frame["group"] != REFERENCE_GROUP] if "group" in frame else frame


def of_people(judgments: pd.DataFrame) -> pd.DataFrame:
    """Judgments without those that models gave (role `model`)."""
    return judgments[judgments["role"] != MODEL_ROLE] if "role" in judgments else judgments


def systems_judgments(study: Study) -> pd.DataFrame:
    """What people say of the systems' summaries. Rated references are left out: a worker rates them in every group."""
    return of_people(of_systems(judgments_frame(study)))


def models_judgments(study: Study) -> pd.DataFrame:
    """What models say of them."""
    judgments = of_systems(judgments_frame(study))
    return judgments[judgments["role"] == MODEL_ROLE]


def batch_judgments(batch: Batch) -> pd.DataFrame:
    """The judgments of one batch that count, without rated references."""
    judgments = systems_judgments(batch.study)
    if judgments.empty:
        return judgments
    assignments = set(Assignment.objects.counted().filter(task__batch=batch).values_list("key", flat=True))
    return judgments[judgments["assignment_id"].isin(assignments)]


def chosen_judgments(study: Study) -> BatchChoice:
    """The systems' judgments that count under the study's batch rule; what it sets aside is told."""
    return choose(study, systems_judgments(study))


def choose(study: Study, judgments: pd.DataFrame) -> BatchChoice:
    """What the study's batch rule leaves of these judgments of it."""
    if study.batch_rule != Study.BatchRule.CHOSEN or judgments.empty:
        return choose_batches(judgments, study.batch_rule, order=batches_in_order(study))
    names = [name for name in chosen_batches(study) if name in set(judgments["batch"])]
    if not names:
        sentence = Sentence(gettext_noop("None of the batches that were chosen has judgments."))
        return BatchChoice(judgments.iloc[:0], none_of_them(judgments), study.batch_rule, sentence)
    return choose_batches(judgments, names, order=batches_in_order(study))


def chosen_batches(study: Study) -> list[str]:
    return list(study.batches.filter(is_chosen=True).order_by("pk").values_list("name", flat=True))


def batches_in_order(study: Study) -> list[str]:
    """The study's batches by their first answer, then by when they were made: the last one is the latest."""
    work = Assignment.objects.filter(counted(), task__batch__study=study)
    first = dict(work.values_list("task__batch").annotate(at=Min("submitted_at")).order_by())
    pairs = list(study.batches.order_by("pk").values_list("pk", "name"))
    return [name for _, name in sorted(pairs, key=lambda pair: (first.get(pair[0]) is None, first.get(pair[0])))]


def rule_decides(study: Study) -> bool:
    """Whether the batch rule can change anything: some are chosen, or somebody judged a document in several."""
    if study.batch_rule == Study.BatchRule.CHOSEN:
        return True
    work = (
        Assignment.objects.filter(counted(), task__batch__study=study).exclude(task__batch__role=MODEL_ROLE).order_by()
    )
    several = work.values("worker", "task__document").annotate(n=Count("task__batch", distinct=True))
    return several.filter(n__gt=1).exists()


@dataclass(frozen=True)
class Trusted:
    """What the batch rule and a filter leave of the judgments."""

    judgments: pd.DataFrame
    decision: FilterDecision | None
    """The filter in force; None: every answer counts."""
    choice: BatchChoice
    """What the batch rule left, before the filter."""
    drops: tuple[Decision, ...] = ()
    """Who was left out, where and why, in the rules' order."""


def trusted_judgments(study: Study) -> Trusted:
    """The judgments that count under the batch rule and the filter in force; AnalysisError where it doesn't apply."""
    return apply_filter(study.filter_in_force(), chosen_judgments(study))


def apply_filter(decision: FilterDecision | None, choice: BatchChoice) -> Trusted:
    """What a decision leaves of these judgments. Raises AnalysisError where a rule of it doesn't apply."""
    if decision is None or choice.judgments.empty:
        return Trusted(choice.judgments, decision, choice)
    from analysis.filters import apply_rules

    result = apply_rules(choice.judgments, decision.rules, seed=decision.seed)
    return Trusted(result.kept, decision, choice, result.decisions)


def human_scores(study: Study, judgments: pd.DataFrame) -> pd.DataFrame:
    """What these judgments give every summary, a row per measure."""
    from analysis.aggregate import aggregate

    # SCUs that a later version of the list left out keep their judgments, but no longer make the score.
    in_force = judgments[judgments["retired"] != 1] if "retired" in judgments else judgments
    scores = aggregate(in_force, scus=scus_frame(study))
    if "group" in scores and scores["group"].isna().any():  # of a system that is in no judgment's own row
        groups = dict(study.systems.values_list("name", "group"))
        scores["group"] = scores["group"].where(scores["group"].notna(), scores["system"].map(groups))
    return scores


def measures_of(human: pd.DataFrame) -> list[str]:
    """The human measures of a scores table, the leading one first."""
    return sorted(set(human["metric"]), key=lambda name: (MEASURES.index(name) if name in MEASURES else 99, name))


def filter_sentence(trusted: Trusted, human: str) -> str:
    """How the judgments behind a measure were chosen and filtered, and what the filter did to agreement."""
    sentences = [_rules_sentence(trusted.decision), _effect(trusted, human), trusted.choice.sentence]
    spoken = [sentence for sentence in sentences if sentence]
    return join_sentences(spoken) if spoken else ""


def _rules_sentence(decision: FilterDecision | None) -> Sentence | None:
    if decision is None:
        return None
    template = gettext_noop("The judgments were filtered by %(rules)s, seed %(seed)s.")
    return Sentence(template, {"rules": str(decision), "seed": decision.seed})


def _effect(trusted: Trusted, human: str) -> Sentence | None:
    """What the filter did to the answers of the protocol that a measure comes from."""
    from analysis.filters import filter_effect
    from analysis.report import judgments_behind
    from analysis.tables import AnalysisError

    everything = trusted.choice.judgments
    if trusted.decision is None or everything.empty:
        return None
    protocol = judgments_behind(everything, human)["protocol"].iloc[0]
    rows = everything[everything["protocol"] == protocol]
    level = "nominal" if rows["value"].isin([0, 1]).all() else "interval"
    try:
        effect = filter_effect(rows, trusted.decision.rules, seed=trusted.decision.seed, level=level)
    except AnalysisError:  # a rule that fits the whole study, but not this protocol alone
        return None
    return effect.sentence() if effect else None


@dataclass(frozen=True)
class Filtered:
    """The trusted judgments as streams: what is kept, and what is dropped with the reason. The filter is worked out
    once: its rules look at all judgments together."""

    study: Study
    raw_workers: bool = False

    @cached_property
    def decision(self) -> FilterDecision | None:
        return self.study.filter_in_force()

    @cached_property
    def trusted(self) -> Trusted:
        return apply_filter(self.decision, chosen_judgments(self.study))

    def sentence(self, human: str) -> str:
        """How the judgments behind a measure were chosen and filtered, for the methods of a report."""
        return "" if self.decision is None and self.choice is None else filter_sentence(self.trusted, human)

    @cached_property
    def choice(self) -> BatchChoice | None:
        """None where no batch rule sets anything apart; then the streams need no look at all judgments."""
        return self.trusted.choice if rule_decides(self.study) else None

    @cached_property
    def human_scores(self) -> pd.DataFrame:
        """One row per summary and measure, as the Report page has them; empty while nobody has judged."""
        if self.trusted.judgments.empty:
            return pd.DataFrame(columns=["doc_id", "system", "metric", "value"])
        return human_scores(self.study, self.trusted.judgments)

    @cached_property
    def drops(self) -> _Drops:
        return _Drops(() if self.decision is None else self.trusted.drops)

    def defused_scores(self) -> pd.DataFrame:
        """The human scores with names as a CSV file holds them."""
        frame = self.human_scores
        names = [name for name in ("doc_id", "system", "group", "metric", "scheme") if name in frame]
        return frame.assign(**{name: [defuse(str(cell)) for cell in frame[name]] for name in names})

    @cached_property
    def has_retired(self) -> bool:
        """Whether judgments carry the column `retired`: a later list of SCUs left some out."""
        return self.study.documents.filter(units__retired_in__isnull=False).exists()

    def kept(self) -> Table:
        """People's judgments of the systems' summaries, without checks and rated references, as scores take them."""
        source = judgments_table(self.study, raw_workers=self.raw_workers, name="judgments_kept")
        return Table(source.name, source.columns, source.total, lambda: self._chunks(source, want_kept=True))

    def dropped(self) -> Table:
        source = judgments_table(self.study, raw_workers=self.raw_workers, name="judgments_dropped")
        # As `python -m analysis filter` writes them: a column of the study's own gives way to one of the same name.
        columns = {column.name: column for column in source.columns} | {name: Column(name) for name in REASONS}

        def chunks() -> Iterator[list[Row]]:
            return iter(()) if self.decision is None and not self._set_aside else self._chunks(source, want_kept=False)

        return Table(source.name, tuple(columns.values()), source.total, chunks)

    @cached_property
    def _set_aside(self) -> dict[tuple[str, ...], Reasons]:
        """The judgments that the batch rule sets aside, each with the cells of its reason."""
        if self.choice is None:
            return {}
        columns = [self.choice.set_aside[name] for name in (*JUDGMENT, *REASONS)]
        return {row[: len(JUDGMENT)]: row[len(JUDGMENT) :] for row in zip(*columns, strict=True)}

    def _chunks(self, source: Table, *, want_kept: bool) -> Iterator[list[Row]]:
        names, group, check = source.names, source.reader("group"), source.reader("is_check")
        role = source.reader("role")
        fate_of, place = self._fates(source), names.index("worker_id")
        for rows in source.chunks():
            chosen_rows: list[Row] = []
            for row in rows:
                if check(row) or group(row) == REFERENCE_GROUP or role(row) == MODEL_ROLE:
                    continue
                rater, reasons = fate_of(row)
                cells = (*row[:place], rater, *row[place + 1 :]) if rater else row
                if want_kept and reasons is None:
                    chosen_rows.append(cells)
                elif reasons is not None and not want_kept:
                    whole = dict(zip(names, cells, strict=True)) | dict(zip(REASONS, _cells(reasons), strict=True))
                    chosen_rows.append(tuple(whole.values()))
            yield chosen_rows

    def _fates(self, source: Table) -> Callable[[Row], tuple[str, Reasons | Decision | None]]:
        """Tells of a row the rater's name, where it isn't the worker's, and why it is left out; None: it counts."""
        drops, set_aside, raters = self.drops, self._set_aside, self.choice.raters if self.choice else {}
        pseudonyms = self._pseudonyms if self.raw_workers else {}
        doc, system, worker, batch = map(source.reader, ("doc_id", "system", "worker_id", "batch"))
        key = [source.reader(name) for name in JUDGMENT]

        def fate_of(row: Row) -> tuple[str, Reasons | Decision | None]:
            if set_aside and (reasons := set_aside.get(tuple(read(row) for read in key))):
                return "", reasons
            workers, rater = pseudonyms.get(worker(row), (worker(row),)), ""
            for name in workers if raters else ():
                if first := raters.get((name, batch(row))):
                    rater, workers = rater_name(worker(row), first), (rater_name(name, first),)
            return rater, drops.of(workers, doc(row), system(row))

        return fate_of

    @cached_property
    def _pseudonyms(self) -> dict[str, tuple[str, ...]]:
        """What a raw id is called in the decisions; two crowds may know somebody by the same id."""
        pseudonyms: dict[str, tuple[str, ...]] = {}
        for raw, pseudonym in Worker.objects.filter(study=self.study).values_list("external_id", "pseudonym"):
            pseudonyms[raw] = (*pseudonyms.get(raw, ()), pseudonym)
        return pseudonyms


def _cells(reasons: Reasons | Decision) -> Reasons:
    """The cells of the columns in REASONS."""
    if isinstance(reasons, tuple):
        return reasons
    from analysis.filters.base import as_json

    return reasons.rule, reasons.reason, as_json(reasons.evidence), as_json(reasons.settings)


class _Drops:
    """The first decision that drops a judgment: rules come one after the other, and what is gone stays gone."""

    def __init__(self, drops: tuple[Decision, ...]) -> None:
        self.everywhere: dict[str, tuple[int, Decision]] = {}
        self.items: dict[tuple[str, str, str], tuple[int, Decision]] = {}
        for number, drop in enumerate(drops):
            entry, item = (number, drop), drop.item
            if not item:
                self.everywhere.setdefault(drop.worker_id, entry)
            elif set(item) == {"doc_id", "system"}:
                self.items.setdefault((drop.worker_id, item["doc_id"], item["system"]), entry)
            else:
                raise Refused(gettext("A rule decides by %(names)s, which exports can't tell.") % {"names": str(item)})

    def of(self, workers: tuple[str, ...], doc: str, system: str) -> Decision | None:
        entries: list[Any] = [self.everywhere.get(worker) for worker in workers]
        entries += [self.items.get((worker, doc, system)) for worker in workers]
        return min((entry for entry in entries if entry), key=lambda entry: entry[0], default=(0, None))[1]
