"""The demo at first sight: a click signs one in, and what takes long is worked out already."""

import re

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.common.demo_accounts import DEMO_ACCOUNTS
from annotation.models import StoredResult, Study
from tests.browser.looking import markup

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study() -> Study:
    call_command("load_demo", verbosity=0)
    return Study.objects.get()


def fields(form: str) -> dict[str, str]:
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))


def test_a_click_signs_one_in_and_the_report_is_there(study):
    client = Client(enforce_csrf_checks=True)
    forms = re.findall(r'<form class="card.*?</form>', markup(client.get("/").content.decode()), re.DOTALL)
    assert [fields(form)["username"] for form in forms] == list(DEMO_ACCOUNTS)
    assert client.post("/sign-in/", fields(forms[2])).headers["Location"] == "/"
    page = client.get(f"/studies/{study.slug}/report/").content.decode()
    assert "Waiting for a free background process" not in page
    assert 'class="verdict"' in page
    assert not study.jobs.exists()


def test_what_is_stored_is_what_the_same_code_gives_now(study):
    from annotation.jobs.page_cache import MAKERS, plain

    stored = dict(StoredResult.objects.values_list("name", "content"))
    assert set(stored) == set(MAKERS)
    assert stored["report"] == plain(MAKERS["report"](study))


def test_outside_the_demo_nobody_is_signed_in_by_a_click(settings):
    settings.DEMO = False
    page = Client().get("/").content.decode()
    assert "password" not in page
    assert "<form class=" not in page
