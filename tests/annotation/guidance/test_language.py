"""The language of a study's texts: an admin says it, and the pages tell those who hear them read aloud."""

import pytest
from django.urls import reverse

from annotation.models import Role
from tests.factories import make_member, make_study

pytestmark = [pytest.mark.django_db]


def test_a_code_is_kept_and_can_be_taken_back(client):
    study = make_study()
    client.force_login(make_member(study, Role.ADMIN))
    for code in ("pt-BR", "ar", ""):
        client.post(reverse("guidance-language", args=[study.slug]), {"language": f" {code} "})
        study.refresh_from_db()
        assert study.language == code


@pytest.mark.parametrize("code", ["Portuguese, mostly", '"><script>', "x" * 36, "d"])
def test_what_is_no_code_is_refused_with_a_sentence_and_changes_nothing(client, code):
    study = make_study()
    client.force_login(make_member(study, Role.ADMIN))
    response = client.post(reverse("guidance-language", args=[study.slug]), {"language": code})
    assert response.status_code == 422
    assert "is no code of a language" in response.text
    study.refresh_from_db()
    assert study.language == ""
