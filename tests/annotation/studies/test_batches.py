"""The Collect page: admins make, open, pause and close batches, and give people roles."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from annotation.common.errors import Refused
from annotation.models import Batch, Membership, Role
from annotation.protocols.litepyramid import LitePyramid
from annotation.studies.members import remove_member
from tests.browser.looking import markup
from tests.factories import make_member, make_study, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study(documents=2, systems=2)


@pytest.fixture
def admin(client, study):
    client.force_login(make_member(study, Role.ADMIN, "boss"))
    return client


def test_an_admin_makes_and_opens_a_batch(admin, study):
    address = f"/studies/{study.slug}/collect/"
    assert "No batch yet" in admin.get(address).content.decode()
    page = admin.post(address, {"name": "One", "protocol": "litepyramid", "quota": "2"}, follow=True).content.decode()
    batch = Batch.objects.get()
    assert (batch.state, batch.tasks.count(), batch.tasks.first().quota) == ("draft", 4, 2)
    assert "0 of 8 answers to 4 tasks" in page
    for state in ("open", "paused", "open", "closed"):
        admin.post(f"{address}{batch.pk}/", {"state": state})
        batch.refresh_from_db()
        assert batch.state == state
    answer = admin.post(f"{address}{batch.pk}/", {"state": "open"})
    assert "is closed and can&#x27;t become “open”" in answer.content.decode()


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"name": "x", "protocol": "guess", "quota": "2"}, "no protocol"),
        ({"name": "x", "protocol": "litepyramid", "quota": "many"}, "at least 1 answer"),
        ({"name": "x", "protocol": "litepyramid", "quota": "-1"}, "at least 1 answer"),
    ],
)
def test_a_wrong_batch_is_answered_with_a_sentence_and_not_made(admin, study, form, sentence):
    answer = admin.post(f"/studies/{study.slug}/collect/", form)
    assert sentence in answer.content.decode()
    assert not Batch.objects.exists()


def test_analysts_look_and_do_not_touch(client, study):
    client.force_login(make_member(study, Role.ANALYST))
    address = f"/studies/{study.slug}/collect/"
    assert "New batch" not in client.get(address).content.decode()
    assert client.post(address, {"name": "x", "protocol": "litepyramid", "quota": "1"}).status_code == 403
    assert client.post(f"{address}members/", {"name": "x", "role": "admin"}).status_code == 403
    assert not Batch.objects.exists()


def test_people_get_and_lose_roles(admin, study):
    make_user("ann")
    address = f"/studies/{study.slug}/collect/members/"
    admin.post(address, {"name": "ann", "role": "annotator"})
    admin.post(address, {"name": "ann", "role": "analyst"})
    assert Membership.objects.get(user__username="ann").role == "analyst"
    admin.post(address, {"name": "ann", "remove": "1"})
    assert not Membership.objects.filter(user__username="ann").exists()


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"name": "nobody", "role": "annotator"}, "no account named"),
        ({"name": "boss", "role": "emperor"}, "no role"),
        ({"name": "boss", "role": "analyst"}, "only admin"),
        ({"name": "boss", "remove": "1"}, "only admin"),
        ({"name": "nobody", "remove": "1"}, "no part in this study"),
    ],
)
def test_a_wrong_role_is_answered_with_a_sentence(admin, study, form, sentence):
    answer = admin.post(f"/studies/{study.slug}/collect/members/", form)
    assert answer.status_code == 409
    assert sentence in answer.content.decode()
    assert Membership.objects.get().role == "admin"


def test_a_refused_batch_comes_back_as_it_was_typed(admin, study):
    form = {"name": "Second <try>", "protocol": "likert", "quota": "0", "expert": "on"}
    answer = admin.post(f"/studies/{study.slug}/collect/", form)
    page = markup(answer.content.decode())
    assert answer.status_code == 409
    assert 'role="alert" tabindex="-1" autofocus><p>The quota is 0' in page
    assert 'value="Second &lt;try&gt;"' in page
    assert 'name="protocol" value="likert"' in page
    assert 'value="0" required' in page
    assert 'name="expert" checked' in page
    assert "<h1>New batch</h1>" in page


def test_two_batches_of_one_name_made_at_once_become_one(admin, study, monkeypatch):
    """The other request comes between the look and the leap."""
    scale = LitePyramid.scale

    def slow(self, options):
        Batch.objects.create(study=study, name="One", protocol="litepyramid", scale_min=0, scale_max=1)
        return scale(self, options)

    monkeypatch.setattr(LitePyramid, "scale", slow)
    answer = admin.post(f"/studies/{study.slug}/collect/", {"name": "One", "protocol": "litepyramid", "quota": "2"})
    assert answer.status_code == 409
    assert "has a batch named “One” already. No batch was made: choose another name." in answer.content.decode()
    assert Batch.objects.count() == 1


def test_closing_for_good_asks_once_more(admin, study):
    """A closed batch stays closed, so one slip of the pointer must not be enough."""
    admin.post(f"/studies/{study.slug}/collect/", {"name": "One", "protocol": "litepyramid", "quota": "2"})
    batch = Batch.objects.get()
    admin.post(f"/studies/{study.slug}/collect/{batch.pk}/", {"state": "open"})
    page = admin.get(f"/studies/{study.slug}/collect/").content.decode()
    before, inside = page.split('id="people"')[0].split('<details class="sure">')
    assert 'value="closed"' not in before
    assert 'value="paused"' in before
    assert "A closed batch stays closed." in inside.split("</details>")[0]
    assert 'value="closed"' in inside.split("</details>")[0]


def test_taking_a_person_out_asks_once_more(admin, study):
    make_member(study, Role.ANNOTATOR, "ann")
    page = admin.get(f"/studies/{study.slug}/collect/").content.decode()
    row = page.split("<b>ann</b>")[1].split("</li>")[0]
    before, inside = row.split('<details class="sure">')
    assert "<button" not in before
    question = inside.split("</details>")[0]
    assert "What they did is kept." in question
    assert 'name="remove" value="1"' in question
    own_entry = page.split("<b>boss</b>")[1].split("</li>")[0]
    assert "That is you" in own_entry


def test_a_refused_role_comes_back_as_it_was_typed(admin, study):
    answer = admin.post(f"/studies/{study.slug}/collect/members/", {"name": "an<n", "role": "analyst"})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "<h1>Collect</h1>" in page
    people = page.split('id="people"')[1].split('id="invite"')[0]
    assert 'role="alert" tabindex="-1" autofocus><p>There is no account named “an&lt;n”' in people
    assert 'value="an&lt;n"' in people
    assert '<option value="analyst" selected>' in people
    assert page.count('role="alert"') == 1


def test_a_refused_invitation_comes_back_as_it_was_typed(admin, study):
    answer = admin.post(f"/studies/{study.slug}/collect/invitations/", {"note": "Prof. <X>", "role": "emperor"})
    page = answer.content.decode()
    assert answer.status_code == 409
    form = page.split('id="invite"')[1]
    assert "There is no role “emperor”" in form
    assert 'value="Prof. &lt;X&gt;"' in form
    response = admin.post(f"/studies/{study.slug}/collect/invitations/", {"withdraw": "77"})
    assert "There is no such open invitation" in response.content.decode().split('id="invite"')[1]


@pytest.mark.postgres
@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_two_admins_who_take_each_other_out_at_once_leave_one():
    def take_out(study, name, start):
        start.wait()
        try:
            remove_member(study, name)
        except Refused:
            return False
        finally:
            connection.close()
        return True

    for _ in range(5):
        study, start = make_study(), Barrier(2)
        names = [make_member(study, Role.ADMIN).username for _ in range(2)]
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda name, study=study, start=start: take_out(study, name, start), names))
        assert sorted(results) == [False, True]
        assert study.memberships.filter(role=Role.ADMIN).count() == 1
