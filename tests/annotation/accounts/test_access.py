"""Who may open what: one test per sentence of the views."""

import pytest

from annotation.crowds.markets.direct import make_links
from annotation.judging.leases import lease_task
from annotation.models import Judgment, Role, Worker
from tests.browser.looking import markup
from tests.factories import make_batch, make_member, make_study, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


def as_user(client, user):
    client.force_login(user)
    return client


@pytest.mark.parametrize("page", ["", "report/"])
def test_study_pages_are_for_admins_and_analysts(client, study, page):
    address = f"/studies/{study.slug}/{page}"
    assert client.get(address).url.startswith("/sign-in/")
    for role, status in ((Role.ADMIN, 200), (Role.ANALYST, 200), (Role.ANNOTATOR, 403)):
        assert as_user(client, make_member(study, role)).get(address).status_code == status
    assert as_user(client, make_user()).get(address).status_code == 404


def test_an_annotator_on_an_admin_page_reads_a_sentence(client, study):
    answer = as_user(client, make_member(study)).get(f"/studies/{study.slug}/")
    assert "This page is for another role in" in answer.content.decode()
    assert "Go to your studies" in answer.content.decode()
    german = client.get(f"/studies/{study.slug}/", headers={"accept-language": "de"}).content.decode()
    assert "(Admin, Analyst/in)" in german
    assert "Annotator/in" in german


def test_only_members_take_tasks(client, study):
    batch = make_batch(study)
    assert as_user(client, make_user()).post(f"/work/batch/{batch.pk}/").status_code == 404
    assert as_user(client, make_member(study, Role.ANALYST)).post(f"/work/batch/{batch.pk}/").status_code == 403
    assert as_user(client, make_member(study)).get(f"/work/batch/{batch.pk}/").status_code == 302  # GET changes nothing
    assert not batch.tasks.filter(live__gt=0).exists()


def test_who_signs_in_after_pressing_take_a_task_comes_home(client, study):
    batch, member = make_batch(study), make_member(study)
    pressed = client.post(f"/work/batch/{batch.pk}/")
    form = {"username": member.username, "password": "secret-for-tests"}
    response = client.post(pressed["Location"], form, follow=True)
    assert response.redirect_chain == [(f"/work/batch/{batch.pk}/", 302), ("/", 302)]
    assert f'action="/work/batch/{batch.pk}/"' in response.content.decode()
    assert client.head(f"/work/batch/{batch.pk}/").status_code == 405


@pytest.mark.parametrize("page", ["sign-out/", "studies/{slug}/quality/decide/", "work/x/release/"])
def test_an_address_for_buttons_says_so_to_who_opens_it(client, study, page):
    answer = as_user(client, make_member(study)).get("/" + page.format(slug=study.slug))
    assert (answer.status_code, "POST" in answer["Allow"]) == (405, True)
    assert "This address only takes what a button sends. Nothing was changed." in answer.content.decode()
    assert "Go to your studies" in answer.content.decode()


def test_a_worker_without_an_account_is_told_the_same_without_a_way_to_studies(client, study):
    door = make_links(make_batch(study), ["Ada"])[0].url.rstrip("/").split("/")[-1]
    answer = client.get(f"/w/t/{door}/x/submit/")
    assert (answer.status_code, answer.cookies) == (405, {})
    assert "only takes what a button sends" in answer.content.decode()
    assert "Go to your studies" not in answer.content.decode()


def test_programs_keep_a_blank_405(client, study):
    as_user(client, make_member(study))
    assert client.get("/work/x/draft/", headers={"Accept": "application/json"}).content == b""
    assert client.post("/work/x/draft/", {}, content_type="application/json").content == b""


def test_what_is_not_there_is_said_in_our_own_words(client, study):
    answer = as_user(client, make_member(study, Role.ADMIN)).get(f"/studies/{study.slug}/collect/999999/monitor/")
    assert answer.status_code == 404
    assert "There is nothing at this address." in answer.content.decode()
    assert "matches the given query" not in answer.content.decode()


def test_one_of_something_is_not_several(client, study):
    page = as_user(client, make_member(study, Role.ADMIN)).get(f"/studies/{study.slug}/").content.decode()
    assert "1 document, 1 system<" in markup(page)


def test_anothers_assignment_can_be_neither_seen_nor_submitted(client, study):
    batch, owner = make_batch(study), make_member(study)
    assignment = lease_task(batch, Worker.for_user(study, owner))
    as_user(client, make_member(study))
    answers = {f"answer:{assignment.task.summary_id}:scu{n:02}": "1" for n in range(3)}
    assert client.get(f"/work/{assignment.key}/").status_code == 404
    answer = client.post(f"/work/{assignment.key}/", {**answers, "submit_key": "k"})
    assert answer.status_code == 404
    assert "no such assignment of yours" in answer.content.decode()
    assert not Judgment.objects.exists()


def test_a_demo_sign_in_is_offered_in_the_demo_only(client, db, settings):
    assert b"annotator" in client.get("/sign-in/").content
    settings.DEMO = False
    assert b"annotator" not in client.get("/sign-in/").content


def test_list_pages_ask_a_fixed_number_of_questions(client, django_assert_num_queries):
    user = make_user()
    from annotation.models import Membership

    def add_study():
        study = make_study()
        make_batch(study)
        make_batch(study)
        Membership.objects.create(study=study, user=user, role=Role.ADMIN)
        return study

    study = add_study()
    client.force_login(user)
    with django_assert_num_queries(6):  # session, user; studies, roles, leases, batches
        client.get("/")
    for _ in range(5):
        study = add_study()
    with django_assert_num_queries(6):
        client.get("/")
    make_study(documents=4, systems=3)
    # session, user; study, role; seven counts, leases, batches; two for systems; role again, four for the next step
    with django_assert_num_queries(20):
        assert client.get(f"/studies/{study.slug}/").status_code == 200


def test_a_refused_form_leads_back_to_its_page_and_nowhere_else(client):
    study = make_study()
    client.force_login(make_member(study, Role.ADMIN))
    page = f"/studies/{study.slug}/collect/"
    address, form = f"{page}77/", {"state": "open"}
    own_page, foreign_page = (
        client.post(address, form, headers={"referer": f"{site}{page}"}).content.decode()
        for site in ("http://testserver", "https://evil.example")
    )
    assert f'href="http://testserver{page}"' in own_page
    assert "evil.example" not in foreign_page
    elsewhere = {"host": "evil.example", "referer": f"http://evil.example{page}"}
    assert client.post(address, form, headers=elsewhere).status_code == 400
