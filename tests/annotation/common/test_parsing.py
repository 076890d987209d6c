"""Numbers that are none, or larger than any column, are answered with a sentence or passed over; never a fault."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.common.parsing import parse_int
from annotation.models import Batch, Entry, Job, Role, Study
from tests.factories import make_batch, make_member, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.sqlite]
ODD = ["²", "٣", "99999999999", "9" * 18, "9" * 5000]


@pytest.fixture
def study() -> Study:
    return make_study()


@pytest.fixture
def admin(study) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(make_member(study, Role.ADMIN))
    return client


def test_whole_numbers():
    assert [parse_int(text) for text in ("12", "", "-1", "²", "٣", "1.5", "9" * 19)] == [12, 0, 0, 0, 0, 0, 0]
    assert parse_int("x", -1) == -1


@pytest.mark.parametrize("quota", ["99999999999", "40000", "9" * 5000], ids=len)
def test_a_quota_beyond_all_measure_is_refused(quota, study, admin):
    form = {"name": "x", "protocol": "litepyramid", "quota": quota}
    answer = admin.post(reverse("collect", args=[study.slug]), form)
    assert answer.status_code == 409
    assert "A task takes at most 10000 answers. No batch was made." in answer.content.decode()
    assert not Batch.objects.exists()


@pytest.mark.parametrize("odd", ODD, ids=len)
def test_odd_numbers_in_addresses_and_forms(odd, study, admin):
    batch = make_batch(study)
    reference = study.documents.get().references.first()
    links, scus = (
        reverse("crowd-links", args=[study.slug, batch.pk]),
        reverse("scu-list", args=[study.slug, reference.pk]),
    )
    assert admin.get(reverse("crowd-preview", args=[batch.pk]), {"task": odd}).status_code == 200
    assert admin.get(scus, {"version": odd}).status_code == 200
    assert admin.get(reverse("tutorial", args=[batch.pk]), {"seen": odd}).status_code < 500
    for address, form in (
        (links, {"withdraw": odd}),
        (links, {"days": odd, "names": "Ada"}),
        (scus, {"version": odd, "units": "One."}),
        (reverse("guidance-item", args=[study.slug]), {"protocol": "litepyramid", "kind": "test", "summary": odd}),
        (reverse("invite", args=[study.slug]), {"withdraw": odd}),
    ):
        assert 400 <= admin.post(address, form).status_code < 500, address


def test_an_imported_batch_has_no_market_to_act_on(study, admin):
    batch = make_batch(study)
    Batch.objects.update(crowd="imported")
    answer = admin.post(reverse("batch-act", args=[study.slug, batch.pk]), {"action": "collect"})
    assert answer.status_code == 409
    assert "There is no crowd “imported”" in answer.content.decode()
    assert not Job.objects.exists()


@pytest.mark.parametrize("odd", ODD, ids=len)
def test_an_odd_price_tops_nothing_up(odd, study, admin):
    batch = make_batch(study)
    form = {"action": "top-up", "total": odd}
    answer = admin.post(reverse("batch-act", args=[study.slug, batch.pk]), form)
    assert answer.status_code == 302  # nothing was lost here, so there is nothing to pay or to ask for again
    assert not Entry.objects.exists()
    assert set(batch.tasks.values_list("quota", flat=True)) == {1}
