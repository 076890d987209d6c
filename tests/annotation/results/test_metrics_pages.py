"""The Metrics pages: choose, score in the background, read the scores, see how one came about."""

import pytest

from annotation.jobs import run_job, start_job
from annotation.models import Job, MetricRun, Role, Score
from annotation.results.scoring_job import score_study
from tests.browser.looking import markup
from tests.factories import make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study():
    return make_study(documents=2, systems=3)


@pytest.fixture
def analyst(client, study):
    client.force_login(make_member(study, Role.ANALYST))
    return client


def test_an_empty_study_says_what_to_do_first(analyst, study):
    page = analyst.get(f"/studies/{study.slug}/metrics/").content.decode()
    assert "No metric yet" in page
    assert "rouge-1-f" in page


def test_a_refused_choice_of_metrics_stays_chosen(analyst, study):
    form = {"metric": ["rouge-1-f", "js-2"], "more": "rouge-9-x"}
    page = markup(analyst.post(f"/studies/{study.slug}/metrics/", form).content.decode())
    assert 'role="alert"' in page
    assert 'value="rouge-1-f" checked' in page
    assert 'value="js-2" checked' in page
    assert 'value="rouge-1-r"><span' in page
    assert 'value="rouge-9-x"' in page


def test_what_a_metric_measures_is_said_in_german(analyst, study):
    page = analyst.get(f"/studies/{study.slug}/metrics/", headers={"accept-language": "de"}).content.decode()
    assert "Überschneidung von n-Grammen (1–4)" in page
    assert "Overlap of n-grams" not in page


def test_chosen_metrics_are_scored_and_carry_their_signature(analyst, study):
    answer = analyst.post(
        f"/studies/{study.slug}/metrics/", {"metric": ["rouge-1-f"], "more": "rouge-2-r[stem], js-1"}, follow=True
    )
    assert "18 scores are stored." in answer.content.decode()  # 3 metrics × 2 documents × 3 systems
    assert set(Score.objects.values_list("metric", flat=True)) == {"rouge-1-f", "rouge-2-r[stem]", "js-1"}
    assert MetricRun.objects.get(metric="rouge-2-r[stem]").signature.startswith("rouge-2-r|stem:")


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({}, "Choose at least one metric"),
        ({"more": "roug-1"}, "rouge-1-r"),
        ({"more": "rouge-1-f[colour=red]"}, "colour"),
        ({"more": "rouge-1-f[stem"}, "rouge-1-f[stem"),
    ],
)
def test_a_wrong_choice_is_answered_with_a_sentence_and_starts_nothing(analyst, study, form, sentence):
    answer = analyst.post(f"/studies/{study.slug}/metrics/", form)
    assert answer.status_code == 409
    assert sentence in answer.content.decode()
    assert not Job.objects.exists()


def test_scoring_again_replaces_a_metrics_scores(study):
    assert score_study(study, ["rouge-1-f"]) == 6
    assert score_study(study, ["rouge-1-f"]) == 6
    assert Score.objects.count() == 6


def test_a_metric_page_sorts_and_explains(analyst, study):
    score_study(study, ["rouge-1-f"])
    page = analyst.get(f"/studies/{study.slug}/metrics/rouge-1-f/?sort=system").content.decode()
    assert 'aria-sort="ascending"' in page
    assert page.index("system0") < page.index("system2")
    assert "<svg" in page
    explained = analyst.get(
        f"/studies/{study.slug}/metrics/rouge-1-f/explain/?doc=doc0&system=system0"
    ).content.decode()
    assert "<mark" in explained
    missing = analyst.get(f"/studies/{study.slug}/metrics/rouge-1-f/explain/?doc=doc0&system=nobody")
    assert "no such summary" in missing.content.decode()


def test_an_unscored_metric_lists_the_scored_ones(analyst, study):
    score_study(study, ["rouge-1-f"])
    answer = analyst.get(f"/studies/{study.slug}/metrics/bleu/")
    assert answer.status_code == 409
    assert "rouge-1-f" in answer.content.decode()


def test_a_job_runs_once_and_tells_how_far_it_is(analyst, study):
    job = start_job(study, "score", {"metrics": ["rouge-1-f"]}, None)
    job.refresh_from_db()
    assert (job.state, job.done, job.total) == ("done", 6, 6)
    Score.objects.all().delete()
    run_job.enqueue(job.pk)  # a queue may deliver twice
    assert not Score.objects.exists()
    answer = analyst.get(f"/studies/{study.slug}/jobs/{job.pk}/")
    assert answer["HX-Refresh"] == "true"


def test_a_job_that_fails_says_why_and_keeps_the_old_scores(study):
    score_study(study, ["rouge-1-f"])
    study.documents.first().references.all().delete()
    job = start_job(study, "score", {"metrics": ["no-such-metric"]}, None)
    job.refresh_from_db()
    assert job.state == "failed"
    assert "no-such-metric" in job.message
    assert Score.objects.count() == 6


def test_an_unknown_kind_of_job_lists_the_known_ones(study):
    with pytest.raises(ValueError, match=r"no kind of job 'x'.*score"):
        start_job(study, "x", {}, None)


def test_jobs_are_for_readers_of_their_own_study(client, study):
    job = start_job(study, "score", {"metrics": ["rouge-1-f"]}, None)
    other_study = make_study()
    client.force_login(make_member(other_study, Role.ADMIN))
    assert client.get(f"/studies/{other_study.slug}/jobs/{job.pk}/").status_code == 404
    assert client.get(f"/studies/{study.slug}/jobs/{job.pk}/").status_code == 404
