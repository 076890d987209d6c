"""How far each study and batch is, counted by the database in a fixed number of queries."""

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, Sum

from annotation import protocols
from annotation.models import (
    REFERENCE_GROUP,
    Assignment,
    Batch,
    ContentUnit,
    Judgment,
    Membership,
    Posting,
    Role,
    Study,
    Summary,
    User,
    Worker,
)
from annotation.models.work import MODEL_ROLE, counted

State = Assignment.State


@dataclass(frozen=True)
class BatchProgress:
    batch: Batch
    tasks: int
    places: int  # answers asked for: the sum of the quotas
    submitted: int  # what counts: confirmed, where a market stands between
    leased: int
    unconfirmed: int = 0  # answers we have whose market has not confirmed them
    is_posted: bool = False  # its tasks are taken on a market

    @property
    def percent(self) -> int:
        return 100 * self.submitted // self.places if self.places else 0

    @property
    def protocol_title(self) -> str:
        """In words; an imported batch may have a protocol that nobody knows here."""
        known = protocols.PROTOCOLS.get(self.batch.protocol)
        return str(known.title) if known else self.batch.protocol

    @property
    def is_by_models(self) -> bool:
        """A model judges it: it has a run, and no people to invite."""
        return self.batch.role == MODEL_ROLE and not self.batch.is_direct

    @property
    def may_have_second_round(self) -> bool:
        """Whether people answered something here that they could look at again."""
        known = protocols.PROTOCOLS.get(self.batch.protocol)
        is_first = self.batch.round == 1 and self.batch.role != MODEL_ROLE
        is_judging = known and known.contested_rule and not known.extracts_scus
        return bool(self.submitted and is_judging and is_first)

    @property
    def can_be_copied(self) -> bool:
        """Whether the form could make it again; a second round follows from its first one."""
        is_first = self.batch.round == 1 and self.batch.role != MODEL_ROLE
        return self.batch.protocol in protocols.PROTOCOLS and is_first


@dataclass(frozen=True)
class Card:
    """A study on the home page, as one person sees it."""

    study: Study
    role: str
    batches: list[BatchProgress]

    @property
    def reads(self) -> bool:
        return self.role in (Role.ADMIN, Role.ANALYST)


def batch_progress(studies: list[Study]) -> dict[int, list[BatchProgress]]:
    """Every batch's progress, by study id: two queries, whatever the number of studies."""
    # A task's answers: what is live on it minus what is only leased, or not confirmed by its market.
    is_unconfirmed = Q(state=State.SUBMITTED, submission__isnull=False) & ~counted()
    rows = (
        Assignment.objects.filter(Q(state=State.LEASED) | is_unconfirmed, task__batch__study__in=studies)
        .values_list("task__batch")
        .annotate(
            leased=Count("pk", filter=Q(state=State.LEASED)), unconfirmed=Count("pk", filter=Q(state=State.SUBMITTED))
        )
    )
    counts = {batch: (leased, unconfirmed) for batch, leased, unconfirmed in rows}
    batches = (
        Batch.objects.filter(study__in=studies)
        .annotate(tasks_n=Count("tasks"), places=Sum("tasks__quota"), live=Sum("tasks__live"))
        .annotate(posted=Exists(Posting.objects.filter(batch=OuterRef("pk"))))
        .select_related("study")
        .order_by("pk")
    )
    by_study: dict[int, list[BatchProgress]] = {}
    for batch in batches:
        leased, unconfirmed = counts.get(batch.pk, (0, 0))
        submitted = (batch.live or 0) - leased - unconfirmed
        is_posted = batch.posted and not batch.is_direct
        by_study.setdefault(batch.study_id, []).append(
            BatchProgress(batch, batch.tasks_n, batch.places or 0, submitted, leased, unconfirmed, is_posted)
        )
    return by_study


def home_cards(user: User) -> list[Card]:
    """The person's studies in alphabetical order: four queries, whatever their number."""
    studies = list(Study.objects.visible_to(user).order_by("name"))
    roles = dict(Membership.objects.filter(user=user).values_list("study_id", "role"))
    progress = batch_progress(studies)
    return [Card(study, roles.get(study.pk, Role.ADMIN), progress.get(study.pk, [])) for study in studies]


@dataclass(frozen=True)
class StudyState:
    """What the stepper of a study says."""

    documents: int
    systems: int
    summaries: int
    scus: int
    checks: int
    judgments: int
    workers: int
    metrics: int
    batches: list[BatchProgress]


def study_state(study: Study) -> StudyState:
    """The counts of one study: a fixed number of queries."""
    units = ContentUnit.objects.filter(document__study=study, retired_in=None).aggregate(
        scus=Count("pk", filter=Q(is_check=False)), checks=Count("pk", filter=Q(is_check=True))
    )
    judgments = Judgment.objects.counted().filter(assignment__task__batch__study=study)
    judgments = judgments.exclude(assignment__task__batch__role=MODEL_ROLE)
    return StudyState(
        documents=study.documents.count(),
        systems=study.systems.exclude(group=REFERENCE_GROUP).count(),
        summaries=Summary.objects.filter(document__study=study).exclude(system__group=REFERENCE_GROUP).count(),
        scus=units["scus"],
        checks=units["checks"],
        judgments=judgments.count(),
        workers=_people_at_work(study),
        metrics=study.scores.values("metric").distinct().count(),
        batches=batch_progress([study]).get(study.pk, []),
    )


def _people_at_work(study: Study) -> int:
    workers = Worker.objects.filter(counted("assignments__"), study=study)
    return workers.exclude(assignments__task__batch__role=MODEL_ROLE).distinct().count()


def system_rows(study: Study) -> list[dict[str, object]]:
    """The study's systems with how much each has been judged: two queries."""
    answers = dict(
        Judgment.objects.counted()
        .filter(summary__system__study=study)
        .values_list("summary__system")
        .annotate(n=Count("pk"))
    )
    rows = study.systems.annotate(summaries_n=Count("summaries")).order_by("group", "name")
    return [
        {"name": row.name, "group": row.group, "summaries_n": row.summaries_n, "answers": answers.get(row.pk, 0)}
        for row in rows
    ]
