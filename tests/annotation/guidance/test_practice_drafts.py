"""What is ticked in a qualification test is kept before it is handed in, for that try and that worker alone."""

import pytest
from django.urls import reverse

from annotation.models import PracticeDraft, PracticeItem, PracticePlan, Summary
from tests.factories import make_batch, make_member, make_study

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def batch():
    study = make_study()
    plan = PracticePlan.objects.create(study=study, protocol="litepyramid", test_required=True, tries=2)
    for n in range(2):
        PracticeItem.objects.create(
            plan=plan, kind="test", order=n, summary=Summary.objects.first(), question=f"Statement {n}.", expected=1
        )
    return make_batch(study)


def items() -> list[str]:
    return [str(pk) for pk in PracticeItem.objects.order_by("order").values_list("pk", flat=True)]


def put(client, batch, changes: dict[str, str], *, number: int = 1, at: int = 5):
    rows = [{"field": name, "content": {"value": value}, "at": at} for name, value in changes.items()]
    address = f"{reverse('test', args=[batch.pk])}?try={number}"
    return client.put(address, {"changes": rows, "seen": 0}, content_type="application/json")


def test_the_page_shows_what_was_kept_to_its_worker_alone(client, batch):
    first, second = items()
    client.force_login(make_member(batch.study))
    assert put(client, batch, {first: "1", second: "0"}).json()["version"] == 1
    assert put(client, batch, {second: "1"}, at=6).json()["items"].keys() == {first, second}
    assert client.get(reverse("test", args=[batch.pk])).text.count("checked") == 2
    client.force_login(make_member(batch.study))
    assert "checked" not in client.get(reverse("test", args=[batch.pk])).text


def test_a_draft_that_comes_after_the_hand_in_is_refused_and_does_not_enter_the_next_try(client, batch):
    first, second = items()
    client.force_login(make_member(batch.study))
    put(client, batch, {first: "0"})
    client.post(reverse("test", args=[batch.pk]), {f"answer:{first}": "0", f"answer:{second}": "0"})
    response = put(client, batch, {second: "0"}, at=7)
    assert response.status_code == 409
    assert "handed in already" in response.json()["sentence"]
    assert "checked" not in client.get(reverse("test", args=[batch.pk])).text


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"changes": [{"field": "", "content": {}, "at": 1}]}'])
def test_what_cannot_be_read_is_refused_and_changes_nothing(client, batch, body):
    client.force_login(make_member(batch.study))
    address = f"{reverse('test', args=[batch.pk])}?try=1"
    response = client.put(address, body, content_type="application/json")
    assert response.status_code == 422
    assert "can’t be read" in response.json()["sentence"]
    assert not PracticeDraft.objects.exists()
