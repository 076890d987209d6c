"""A request that spends, once for its key: sent again after a lost answer, it answers with the job that there is."""

from collections.abc import Callable
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from ninja import Header, Schema, Status

from annotation.api.access import token_of
from annotation.api.jobs import job_for_caller
from annotation.api.middleware import tag_of
from annotation.api.problems import Problem
from annotation.common.errors import Refused
from annotation.crowds.console.program_requests import Start
from annotation.jobs import start_once
from annotation.models import Job, Study

Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[!-~]{1,64}$",
        description="A word of your own for this request: sent again with it, nothing is done twice",
    ),
]


def answer_once(
    request: HttpRequest, response: HttpResponse, study: Study, key: str, data: Schema, ask: Callable[[Start], Job]
) -> Any:
    """202 with the job: a new one, or the one that this key has started before. A refusal changes nothing."""
    digest = tag_of(f"{request.path} {data.model_dump_json()}".encode())
    job = _earlier(study, key, digest)
    if job is None:
        try:
            job = ask(lambda name, options: _start(request, study, key, name, {**options, "request": digest}))
        except Refused as refusal:
            job = _earlier(study, key, digest)  # the same request may have come in between
            if job is None:
                raise Problem(503 if refusal.status == 503 else 409, str(refusal), "refused") from None
    response["Location"] = f"/api/v1/studies/{study.slug}/jobs/{job.pk}"
    return Status(202, job_for_caller(request, study, job.pk))


def _earlier(study: Study, key: str, digest: str) -> Job | None:
    job = Job.objects.filter(study=study, request_key=key).first()
    return job and _same(job, digest)


def _start(request: HttpRequest, study: Study, key: str, name: str, options: dict[str, Any]) -> Job:
    return _same(start_once(study, key, name, options, token_of(request).user), options["request"])


def _same(job: Job, digest: str) -> Job:
    if job.options.get("request") != digest:
        sentence = gettext("This Idempotency-Key stands for another request of this study. Nothing was changed.")
        raise Problem(409, sentence, "key-taken")
    return job
