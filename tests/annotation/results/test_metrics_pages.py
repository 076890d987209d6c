"""The Metrics pages: choose, score in the background, read the scores, see how one came about."""

import html

import pytest
from django.urls import reverse
from django.utils.html import escape

from annotation.common import libraries
from annotation.common.addresses import to_address
from annotation.jobs import run_job, start_job
from annotation.models import Job, MetricRun, Role, Score, Summary
from annotation.results.correlations import correlations
from annotation.results.metrics import choices, explained
from annotation.results.scoring_job import score_study
from scoring import base
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


@pytest.mark.parametrize("name", ["bertscore/f1", "a/explain", "..", ".", "~1", "50 %?#", "ü\\ö", "m[x=1,y=/a]", "/"])
def test_a_metric_of_any_name_has_a_page(client, name):
    study = make_study(documents=2, systems=2)
    summaries = Summary.objects.filter(document__study=study)
    Score.objects.bulk_create(
        Score(study=study, document=summary.document, system=summary.system, metric=name, value=summary.pk)
        for summary in summaries.select_related("document", "system")
    )
    client.force_login(make_member(study, Role.ANALYST))
    listing = client.get(f"/studies/{study.slug}/metrics/")
    assert listing.status_code == 200
    address = reverse("metric", args=[study.slug, to_address(name)])
    assert f'href="{address}"' in listing.content.decode().replace("&amp;", "&")
    page = client.get(address)
    assert page.status_code == 200
    assert f"<h1>{escape(name)}</h1>" in page.content.decode()
    assert client.get(reverse("explain", args=[study.slug, to_address(name)])).status_code == 409  # with a sentence
    assert client.get(f"/studies/{study.slug}/report/").status_code == 200
    assert client.get(f"/studies/{study.slug}/explorer/", {"metric": name}).status_code == 200


@pytest.mark.needs("torch")
def test_a_model_by_a_path_is_read_only_where_the_operator_allows(client, tmp_path, settings, monkeypatch):
    study = make_study()
    client.force_login(make_member(study, Role.ANALYST))
    monkeypatch.chdir(tmp_path)
    inside, outside = tmp_path / "models" / "mine", tmp_path / "secrets"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
    (inside / "away").symlink_to(outside)
    settings.MODEL_FOLDERS = [str(tmp_path / "models")]
    places = [
        str(outside),
        f"{inside}/../../secrets",
        f"{inside}/away",
        "secrets",
        "./secrets",
        "~",
        "~nobody/x",
        "/etc",
    ]
    for place in places:
        answer = client.post(f"/studies/{study.slug}/metrics/", {"more": f"bertscore-f[model={place}]"})
        assert answer.status_code == 409, place
        assert "is in no folder that models are read from on this site" in answer.content.decode(), place
    answer = client.post(f"/studies/{study.slug}/metrics/", {"more": f"bertscore-f[model={inside}]"})
    assert "holds no model" in answer.content.decode()  # it was looked at, and is none
    summary = Summary.objects.get(document__study=study)
    asked = {"doc": summary.document.doc_id, "system": summary.system.name}
    answer = client.get(reverse("explain", args=[study.slug, to_address(f"bertscore-f[model={outside}]")]), asked)
    assert "is in no folder that models are read from on this site" in answer.content.decode()
    assert not Job.objects.exists()


@pytest.mark.needs("torch")
def test_every_metrics_page_and_explanation_show_its_own_score_and_signature(analyst, study):
    """Also those whose scores depend on the whole corpus (CIDEr, MoverScore)."""
    names = [choice.names[0] for choice in choices() if not choice.missing]
    assert {"cider", "moverscore", "bleu"} <= set(names)
    score_study(study, names)
    document, system = study.documents.first(), study.systems.first()
    for name in names:
        signature = MetricRun.objects.get(metric=name).signature
        assert "corpus:none" not in signature
        score = Score.objects.get(metric=name, document=document, system=system).value
        _, explanation = explained(study, name, document.doc_id, system.name)
        assert explanation.value == pytest.approx(score, abs=1e-6), name
        assert explanation.signature == signature
        address = f"/studies/{study.slug}/metrics/{name}/"
        assert signature in html.unescape(analyst.get(address).content.decode())
        query = {"doc": document.doc_id, "system": system.name}
        page = html.unescape(analyst.get(f"{address}explain/", query).content.decode())
        assert signature in page
        assert f"{score:.5f}".replace("-", "−") in page


@pytest.fixture
def without_models(monkeypatch):
    """A machine on which two libraries of the metrics with models are missing."""
    state = libraries.State("models", n_missing=2, n_total=36)
    monkeypatch.setattr(libraries, "state", lambda part: state)
    monkeypatch.setattr(base, "absent", lambda modules: ["torch"] if "torch" in modules else [])


def test_a_metric_whose_library_is_missing_says_what_brings_it(analyst, study, without_models):
    page = markup(analyst.get(f"/studies/{study.slug}/metrics/").content.decode())
    assert "torch: not installed; make models brings it." in page
    assert "2 libraries are not installed here" in page
    assert "Install them now" not in page  # an analyst's page
    answer = analyst.post(f"/studies/{study.slug}/metrics/", {"metric": "bertscore-f"})
    assert answer.status_code == 409
    assert "bertscore-f cannot run here: torch: not installed" in answer.content.decode()


def test_while_libraries_are_installed_the_page_says_how_far(analyst, study, without_models, monkeypatch):
    state = libraries.State("models", n_missing=36, n_total=36, coming=True, n_fetched=12)
    monkeypatch.setattr(libraries, "state", lambda part: state)
    page = markup(analyst.get(f"/studies/{study.slug}/metrics/").content.decode())
    assert "Their libraries are being installed: 12 of 36." in page
    assert "Being installed." in page


def test_one_button_installs_them_where_the_operator_allows_it(client, study, without_models, monkeypatch, settings):
    client.force_login(make_member(study, Role.ADMIN))
    asked = []
    monkeypatch.setattr(libraries, "bring", lambda part, progress: asked.append(part))
    address = f"/studies/{study.slug}/metrics/"
    settings.INSTALL_LIBRARIES = False
    assert client.post(address, {"libraries": "models"}).status_code == 409
    assert asked == []
    settings.INSTALL_LIBRARIES = True
    assert "Install them now" in client.get(address).content.decode()
    page = client.post(address, {"libraries": "models"}, follow=True).content.decode()
    assert "The metrics with models are ready." in page
    assert asked == ["models"]


# What a metric is worth, sets and training


@pytest.fixture
def judged(study, settings, tmp_path, monkeypatch):
    """People gave the systems 1, 2 and 3, with a little of the document's own."""
    monkeypatch.setenv("SCORING_MODELS", str(tmp_path / "models"))
    for place, summary in enumerate(Summary.objects.filter(document__study=study).order_by("system__name", "pk")):
        system = summary.system
        for metric, value, extra in (
            ("people", place // 2 + 0.1 * (place % 2), {"role": "human"}),
            ("follows", place // 2 + 0.2, {}),
            ("against", -place, {}),
        ):
            Score.objects.create(
                study=study, system=system, document=summary.document, metric=metric, value=value, extra=extra
            )
    return study


def test_every_metric_has_its_correlation_with_people_and_the_best_comes_first(analyst, judged):
    page = analyst.get(f"/studies/{judged.slug}/metrics/").content.decode()
    assert "Which metric follows people" in page
    assert "<svg" in page
    table = page[page.index('id="scored"') :]
    assert table.index(">follows<") < table.index(">against<") < table.index(">people<")
    cells = markup(table)
    assert '<td class="n">1.000</td>' in cells  # system means 1, 2, 3 in the same order
    assert "-1.000" in cells or "−1.000" in cells


def test_a_set_is_scored_with_one_click(analyst, study):
    page = analyst.get(f"/studies/{study.slug}/metrics/").content.decode()
    for words in ("<b>ROUGE</b>", "<b>BERTScore</b>", "Quick", "REALSumm&#x27;s", "SummEval&#x27;s", "about 1 min"):
        assert words in page
    analyst.post(f"/studies/{study.slug}/metrics/", {"set": "quick"})
    names = set(study.scores.values_list("metric", flat=True))
    assert names == {"rouge-1-f", "rouge-2-f", "rouge-l-f", "js-2", "chrf", "length"}


def test_a_metric_is_trained_from_the_page_and_scores_the_study(analyst, judged):
    page = f"/studies/{judged.slug}/metrics/"
    score_study(judged, ["length", "rouge-1-f"])
    for form, sentence in (
        ({"kind": "other", "model": "mine"}, "Choose what is to be trained."),
        ({"kind": "learned", "model": "../x"}, "A model&#x27;s name has small letters"),
    ):
        answer = analyst.post(page, {**form, "train": "1"})
        assert answer.status_code == 409
        assert sentence in answer.content.decode()
    Score.objects.filter(study=judged, metric__in=["follows", "against"]).delete()
    analyst.post(page, {"kind": "learned", "model": "mine", "train": "1"})
    job = Job.objects.filter(kind="train").get()
    assert job.state == "done", job.message
    metric = f"learned[model={judged.slug}-mine]"
    assert job.message.startswith(f"{metric} is trained and scored.")
    assert judged.scores.filter(metric=metric).count() == 6
    assert (
        "There is a model of this name already"
        in analyst.post(page, {"kind": "learned", "model": "mine", "train": "1"}).content.decode()
    )


def test_nobody_to_learn_from_is_said(analyst, study):
    score_study(study, ["length"])
    analyst.post(f"/studies/{study.slug}/metrics/", {"kind": "learned", "model": "mine", "train": "1"})
    job = Job.objects.get(kind="train")
    assert (job.state, "Nobody has judged yet" in job.message) == ("failed", True)


def test_a_summary_that_is_its_own_reference_is_marked_left_out_and_said(analyst, study):
    """Five systems, one of which hands in the reference: scored against itself it would decide every correlation."""
    study.systems.create(name="system3")
    own = study.systems.create(name="reference-as-system")
    for number, document in enumerate(study.documents.all()):
        for system in study.systems.filter(name__in=("system3", "reference-as-system")):
            reference = document.references.first().text
            text = reference if system == own else f"another text {number} of its own"
            document.summaries.create(system=system, text=text)
        for rank, system in enumerate(study.systems.order_by("name")):
            human = {"value": rank + number, "extra": {"role": "human"}}
            study.scores.create(document=document, system=system, metric="coherence", **human)
    score_study(study, ["rouge-1-f"])
    marked = Score.objects.filter(extra__is_reference=True)
    assert {score.system.name for score in marked} == {"reference-as-system"}
    assert marked.count() == 2
    sentence = "2 summaries that are a reference of their own document (reference-as-system) were left out"
    for page in ("metrics", "report"):
        assert sentence in analyst.get(f"/studies/{study.slug}/{page}/").content.decode()
    german = analyst.get(f"/studies/{study.slug}/metrics/", headers={"accept-language": "de"}).content.decode()
    assert "2 Zusammenfassungen, die eine Referenz ihres eigenen Dokuments sind" in german
    assert correlations(study)["rows"]["rouge-1-f"]["n"] == 4
