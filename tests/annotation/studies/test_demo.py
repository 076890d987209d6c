"""The demo at first sight: a click signs one in, and what takes long is worked out already."""

import re

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.test import Client

from annotation.common.demo_accounts import DEMO_ACCOUNTS
from annotation.demo import MARKET_BATCH, SMALL, STUDY, load_demo
from annotation.jobs.page_cache import MAKERS, plain
from annotation.models import Batch, StoredResult, Study, Task, User
from annotation.protocols import judging
from annotation.studies.second_rounds import find_contested
from tests.browser.looking import markup
from tests.factories import make_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study() -> Study:
    call_command("load_demo", verbosity=0)
    return Study.objects.get(name=STUDY)


def fields(form: str) -> dict[str, str]:
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))


def test_a_click_signs_one_in_and_the_report_is_there_with_something_to_say(study):
    client = Client(enforce_csrf_checks=True)
    forms = re.findall(r'<form class="card.*?</form>', markup(client.get("/").content.decode()), re.DOTALL)
    assert [fields(form)["username"] for form in forms] == list(DEMO_ACCOUNTS)
    assert client.post("/sign-in/", fields(forms[2])).headers["Location"] == "/"
    page = client.get(f"/studies/{study.slug}/report/").content.decode()
    assert "Waiting for a free background process" not in page
    assert not study.jobs.exists()
    verdict = page.split('class="verdict"')[1].split("</p>")[0]
    assert "On these 28 systems and 12 documents, rouge-2-r can stand in for people" in verdict
    assert "These can&#x27;t: " in verdict
    # What is stored is what the same code gives now.
    stored = dict(StoredResult.objects.filter(study=study).values_list("name", "content"))
    assert set(stored) == set(MAKERS)
    assert stored["report"] == plain(MAKERS["report"](study))
    # A second time changes nothing.
    call_command("load_demo", verbosity=0)
    assert Study.objects.count() == 2


def test_work_waits_by_every_protocol_and_a_second_round_for_the_annotator():
    load_demo()
    waiting = Batch.objects.filter(study__name=STUDY, state=Batch.State.OPEN)
    assert set(waiting.values_list("protocol", flat=True)) == {*judging(), "scu"}
    second = Batch.objects.get(study__name=SMALL, round=2)
    first = Batch.objects.get(pk=second.options["round_of"])
    assert find_contested(first, second.options["thresholds"]).units > 10
    annotator = User.objects.get(username="annotator")
    assert Task.objects.filter(batch=second, reserved_for__user=annotator).exists()
    client = Client()
    client.force_login(annotator)
    assert "Look again at answers that differ" in client.get("/").content.decode()
    assert Batch.objects.get(study__name=SMALL, name=MARKET_BATCH).terms["reward_cents"] == 30


def test_a_disk_that_fills_while_it_is_loaded_is_a_sentence_and_leaves_all_of_it_to_the_next_start(
    monkeypatch, settings, tmp_path
):
    def full(study):
        raise OperationalError("database or disk is full")

    settings.HOME = settings.STATIC_ROOT = tmp_path
    monkeypatch.setattr("deploy.management.commands.prepare.collect_static", lambda: None)
    command = "annotation.management.commands.load_demo"
    monkeypatch.setattr(f"{command}.load_demo", lambda: bool(make_study(name=STUDY)))
    monkeypatch.setattr(f"{command}.make_pages", full)
    with pytest.raises(CommandError, match=r"database or disk is full.* make room; nothing was lost"):
        call_command("prepare", "load_demo", verbosity=0)
    assert not Study.objects.exists()


def test_a_crowd_for_a_demo_that_is_not_loaded_is_refused_in_a_sentence():
    with pytest.raises(CommandError, match="make run loads them"):
        call_command("demo_crowd")


def test_outside_the_demo_nobody_is_signed_in_by_a_click(settings):
    settings.DEMO = False
    page = Client().get("/").content.decode()
    assert "password" not in page
    assert "<form class=" not in page
