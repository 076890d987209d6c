"""The demo's batch on the marketplace: published, half done by a simulated crowd, and partly paid."""

from django.conf import settings

from annotation.crowds.collect import collect
from annotation.crowds.launch.publish import publish
from annotation.crowds.pay.approve import approve, bonus
from annotation.crowds.terms import terms_of
from annotation.models import Batch, Submission

from .characters import parse_crowd, people_of
from .crowd import Crowd, Tell
from .marks import marker_for
from .truth import truth_of

CROWD = "careful=2,average=3,fast-and-careless=1"
EACH = 4
"""Tasks that each of them does: half of the demo's batch."""
LEFT_TO_REVIEW = 8
BONUS_CENTS = 50
THANKS = "Thank you for careful work."


def begin(batch: Batch, *, seed: int = 0, tell: Tell = lambda line: None) -> None:
    """Publish the batch, let the crowd do its share, approve all but the last, and thank the first with a bonus."""
    published = publish(batch)
    tell(f"Published: {published.postings} HITs at {settings.MTURK_ENDPOINT_URL}.")
    judged = batch.study.batches.filter(protocol=batch.protocol, round=1).exclude(pk=batch.pk)
    people, truth = people_of(parse_crowd(CROWD), seed), truth_of(batch, seed, judged)
    crowd = Crowd(people, settings.MTURK_ENDPOINT_URL, truth, at_once=2, mark=marker_for(batch))
    crowd.work(people, terms_of(batch).title, limit=EACH, tell=tell)
    collect(batch)
    waiting = list(Submission.objects.filter(posting__batch=batch, state=Submission.State.SUBMITTED).order_by("pk"))
    paid = waiting[:-LEFT_TO_REVIEW]
    approve(paid, None)
    for submission in paid[:1]:
        submission.refresh_from_db()
        bonus(submission, BONUS_CENTS, THANKS, None)
    tell(f"{len(waiting)} answers handed in, {len(paid)} of them paid; the others wait to be looked at.")
