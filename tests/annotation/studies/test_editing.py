"""A study is renamed, or deleted by its typed name, and only where no money was promised."""

import pytest

from annotation.judging.leases import lease_task
from annotation.models import AuditEvent, Batch, Document, Entry, Judgment, Role, Study
from tests.factories import make_batch, make_member, make_study, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study(documents=2, systems=2)


@pytest.fixture
def admin(client, study):
    client.force_login(make_member(study, Role.ADMIN, "boss"))
    return client


def edit(client, study, **form):
    return client.post(f"/studies/{study.slug}/edit/", form)


def test_a_study_gets_another_name_and_keeps_its_address(admin, study):
    make_study(name="Taken")
    assert edit(admin, study, name="  Better   name ").status_code == 302
    assert Study.objects.get(pk=study.pk).name == "Better name"
    assert "Better name" in admin.get(f"/studies/{study.slug}/").content.decode()
    for name in ("", "x" * 201, "Taken"):
        answer = edit(admin, study, name=name)
        assert answer.status_code == 409
        assert "Nothing was changed." in answer.content.decode()


def test_the_typed_name_deletes_all_of_it_and_nothing_else(admin, study):
    other = make_study(documents=1)
    assignment = lease_task(make_batch(study, quota=1), make_worker(study))
    Judgment.objects.create(
        assignment=assignment, summary=assignment.task.summary, unit="u", value=1, scale_min=0, scale_max=1
    )
    assert "is not the study" in edit(admin, study, delete="1", typed="other").content.decode()
    assert Judgment.objects.exists()
    assert edit(admin, study, delete="1", typed=study.name)["Location"] == "/"
    assert list(Study.objects.all()) == [other]
    assert set(Document.objects.values_list("study", flat=True)) == {other.pk}
    assert not Judgment.objects.exists()
    line = AuditEvent.objects.latest("pk")
    assert (line.action, line.study, line.facts["form.typed"]) == ("POST edit-study", None, study.name)


def test_where_money_was_promised_nothing_is_deleted(admin, study):
    batch = make_batch(study, quota=1)
    Entry.objects.create(
        study=study, batch=batch, kind="post", token="t", reward_cents=20, fee_cents=0, promised_cents=20
    )
    answer = edit(admin, study, delete="1", typed=study.name)
    assert answer.status_code == 409
    assert "Money was promised in this study" in answer.content.decode()
    assert Batch.objects.filter(study=study).exists()
