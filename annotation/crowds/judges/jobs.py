"""A judge's run in the background, and starting it again."""

from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.jobs import Progress, kind, start_job
from annotation.models import Batch, Job, JudgeCall, JudgeRun, User

from .run import RunReport, run_judge

KIND = "judge"


@kind(KIND, money=True)
def judge_job(job: Job, progress: Progress) -> str:
    batch = Batch.objects.select_related("study").filter(study=job.study, pk=job.options.get("batch")).first()
    if batch is None:
        raise Refused(_("There is no such batch in this study. Nothing was done."))
    return report_sentence(run_judge(batch, progress))


def report_sentence(report: RunReport) -> str:
    """What came of a run, and what is left to do."""
    sentences = [_("%(done)d of %(total)d tasks are done.") % {"done": report.done, "total": report.tasks}]
    if report.unanswered:
        sentences.append(
            _("%(n)d items got no answer that could be read, and count as not answered.") % {"n": report.unanswered}
        )
    if report.doubtful:
        sentences.append(_("%(n)d answers were lost on their way and wait for you below.") % {"n": report.doubtful})
    if report.refused:
        sentences.append(
            _("%(n)d tasks were refused by the endpoint: %(problem)s")
            % {"n": report.refused, "problem": report.problem}
        )
    return " ".join(sentences)


def last_run_job(run: JudgeRun) -> Job | None:
    return run.batch.study.jobs.filter(kind=KIND, options__batch=run.batch_id).order_by("-pk").first()


def start_run(run: JudgeRun, user: User | None) -> Job:
    """Begin, or go on. While a run is under way there is no second one."""
    job = last_run_job(run)
    if job is not None and not job.is_over:
        return job
    if run.ended_at:
        raise Refused(_("This run is over: every task has been asked. Nothing was started."))
    return start_job(run.batch.study, KIND, {"batch": run.batch_id}, user)


def decide_doubtful(run: JudgeRun, *, was_billed: bool) -> int:
    """A person has looked at the bill: lost answers are asked for again when the run goes on. How many there were."""
    if (job := last_run_job(run)) is not None and not job.is_over:
        raise Refused(_("The run is under way: stop it first. Nothing was changed."))
    calls = run.calls.filter(state=JudgeCall.State.DOUBTFUL)
    return calls.update(state=JudgeCall.State.LOST, **({} if was_billed else {"micros": 0}))
