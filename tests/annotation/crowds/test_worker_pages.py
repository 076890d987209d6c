"""Worker pages without a cookie: who gets in, who is refused with which sentence, and what is never set or sent."""

import json
import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.core import signing
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.common import clock
from annotation.crowds.seats import places, tokens
from annotation.guidance import write_text
from annotation.models import Assignment, Batch, Consent, Judgment, Posting, PracticePlan, Role, Submission, Worker
from tests.browser.looking import markup
from tests.factories import make_batch, make_member, make_study

pytestmark = pytest.mark.django_db
MARKET = "https://market.example.org"


@pytest.fixture(autouse=True)
def market_origin(settings):
    settings.MARKET_ORIGINS = [MARKET]


@pytest.fixture
def browser() -> Client:
    """A browser that keeps no cookie and knows no CSRF token."""
    return Client(enforce_csrf_checks=True)


def make_posting(crowd: str = "mturk", protocol: str = "litepyramid", tasks: int = 1, **terms) -> Posting:
    batch = make_batch(make_study(documents=tasks, units=2), protocol=protocol)
    Batch.objects.filter(pk=batch.pk).update(crowd=crowd, terms=terms)
    batch.refresh_from_db()
    return Posting.objects.create(
        batch=batch,
        task=batch.tasks.first() if crowd == "mturk" else None,
        token=f"posting{batch.pk}",
        places=1,
        reward_cents=10,
        state="open",
        market_id="MARKETID",
    )


def mturk_url(posting: Posting, **changes: str) -> str:
    query = {"hitId": "MARKETID", "assignmentId": "A1", "workerId": "W1", "turkSubmitTo": MARKET, **changes}
    return f"{reverse('crowd-mturk', args=[posting.token])}?{urlencode(query)}"


def enter(browser: Client, url: str) -> str:
    """Follow the way in; the address one ends at."""
    response = browser.get(url, follow=True)
    assert response.status_code == 200, response.content.decode()
    return response.request["PATH_INFO"]


def fields(browser: Client, url: str) -> dict[str, str]:
    page = browser.get(url).content.decode()
    names = re.findall(r'name="(answer:[^"]+)"', page)
    return {**dict.fromkeys(names, "1"), "submit_key": re.search(r'name="submit_key" value="(\w+)"', page)[1]}


def sentence(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def check_refused(browser: Client, url: str, status: int, words: str) -> None:
    before = list(Assignment.objects.values_list("state", "draft"))
    response = browser.get(url, follow=True)
    assert response.status_code == status
    assert words in sentence(response)
    assert list(Assignment.objects.values_list("state", "draft")) == before


def test_preview_takes_nothing_and_switches_every_input_off(browser):
    posting = make_posting()
    response = browser.get(mturk_url(posting, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE", workerId=""))
    page = markup(response.content.decode())
    assert "This is a preview" in page
    controls = re.findall(r'<(?:input type="radio"|textarea|button[^>]*id="submit")[^>]*>', page)
    assert len(controls) == 2 * 2 + 1
    assert all("disabled" in control for control in controls)
    assert not Assignment.objects.exists()
    assert not Submission.objects.exists()
    assert not Worker.objects.exists()


def test_a_worker_accepts_works_and_hands_in_without_any_cookie(browser):
    posting = make_posting()
    task = enter(browser, mturk_url(posting))
    assert task.startswith("/w/t/")
    config = json.loads(re.search(r'id="work-config"[^>]*>(.*?)</script>', browser.get(task).content.decode())[1])
    draft = {"changes": [{"field": "x", "content": {"value": "1"}, "at": 1}], "seen": 0}
    answer = browser.put(config["urls"]["draft"], json.dumps(draft), content_type="application/json")
    assert answer.json()["held"] is True
    end = browser.post(task, fields(browser, task), follow=True)
    assert "Your answers are saved" in sentence(end)
    submission = Submission.objects.get()
    assert re.fullmatch(r"[2-9A-Z]{4}-[2-9A-Z]{4}", submission.receipt)
    assert submission.receipt in sentence(end)
    assert (submission.state, submission.market_id, submission.worker.external_id) == ("started", "A1", "W1")
    assert f'action="{MARKET}/mturk/externalSubmit"' in end.content.decode()
    assert Judgment.objects.filter(assignment__submission=submission).count() == 2
    assert not browser.cookies
    reopened = browser.get(mturk_url(posting), follow=True)  # the market shows the frame anew
    assert submission.receipt in sentence(reopened)


def test_only_the_market_may_frame_these_pages_and_nobody_any_other(browser):
    task = enter(browser, mturk_url(make_posting()))
    response = browser.get(task)
    policy = response["Content-Security-Policy"]
    assert f"frame-ancestors {MARKET};" in policy + ";"
    assert f"connect-src 'self' {MARKET};" in policy + ";"
    assert f"form-action 'self' {MARKET};" in policy + ";"
    assert "X-Frame-Options" not in response
    for url in (reverse("sign-in"), enter(browser, prolific_url(make_posting("prolific")))):
        response = browser.get(url)
        assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
        assert response["X-Frame-Options"] == "DENY"


def test_an_origin_that_is_no_market_of_ours_is_refused(browser):
    posting = make_posting()
    check_refused(browser, mturk_url(posting, turkSubmitTo="https://evil.example"), 403, "no market of this site")
    check_refused(browser, mturk_url(posting, turkSubmitTo=f"{MARKET}.evil.example"), 403, "no market of this site")
    check_refused(browser, mturk_url(posting, hitId="OTHER"), 404, "another posting")
    check_refused(browser, mturk_url(posting, workerId=""), 409, "did not say who you are")
    check_refused(browser, reverse("crowd-mturk", args=["unknown"]), 404, "no such task")
    check_refused(browser, reverse("crowd-prolific", args=[posting.token]), 404, "no such task")
    assert not Worker.objects.exists()


def test_without_a_list_the_endpoint_is_the_only_market_and_without_that_there_is_none(browser, settings):
    settings.MARKET_ORIGINS, settings.MTURK_ENDPOINT_URL = [], "https://Market.example.org/path"
    posting = make_posting()
    assert browser.get(mturk_url(posting)).status_code == 302
    settings.MTURK_ENDPOINT_URL = ""
    response = browser.get(mturk_url(posting))
    assert response.status_code == 403
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]


def test_an_expired_or_forged_token_is_refused(browser):
    task = enter(browser, mturk_url(make_posting(duration_seconds=600)))
    with clock.fixed(timezone.now() + timedelta(minutes=75)):  # ten minutes, an hour of slack, and five
        check_refused(browser, task, 410, "The time of this address is over")
        answer = browser.put(f"{task}draft/", "{}", content_type="application/json")
        assert (answer.status_code, answer.json()["error"]) == (410, "TokenExpired")
    token = task.split("/")[3]
    check_refused(browser, task.replace(token, token[:-2] + "xx"), 404, "was not made here")
    forged = signing.Signer(salt="elsewhere").sign_object([1, 1, 1, 1, 1, 10**12, ""])
    check_refused(browser, task.replace(token, forged), 404, "was not made here")


def test_another_workers_token_is_refused(browser):
    posting = make_posting()
    batch = posting.batch
    second = Posting.objects.create(
        batch=batch, task=posting.task, part=1, token="second", places=1, reward_cents=1, market_id="HIT2"
    )
    posting.task.quota = 2
    posting.task.save()
    annas = enter(browser, mturk_url(posting))
    bobs = enter(browser, mturk_url(second, hitId="HIT2", assignmentId="A2", workerId="W2"))
    crossed = f"/w/t/{bobs.split('/')[3]}/{annas.split('/')[4]}/"
    check_refused(browser, crossed, 403, "belongs to another worker")
    answer = browser.post(f"{crossed}submit/", "{}", content_type="application/json")
    assert (answer.status_code, answer.json()["error"]) == (403, "AnotherWorkersToken")
    # The market gave Anna's assignment to Carl: her address is not hers any more.
    enter(browser, mturk_url(posting, workerId="W3"))
    check_refused(browser, annas, 403, "belongs to another worker")


def test_a_token_for_another_study_is_refused(browser):
    first, second = (enter(browser, mturk_url(make_posting())) for _ in range(2))
    check_refused(browser, f"/w/t/{second.split('/')[3]}/{first.split('/')[4]}/", 403, "belongs to another study")


def test_a_closed_batch_lets_nobody_work_but_keeps_what_comes_late(browser):
    posting = make_posting()
    task = enter(browser, mturk_url(posting))
    form = fields(browser, task)
    Batch.objects.update(state=Batch.State.CLOSED)
    check_refused(browser, task, 409, "This batch is closed")
    check_refused(browser, mturk_url(posting), 409, "This batch is closed")
    check_refused(browser, mturk_url(posting, assignmentId="A9", workerId="W9"), 409, "This batch is closed")
    assert "Your answers are saved" in sentence(browser.post(task, form, follow=True))
    assert Assignment.objects.get().state == "surplus"


def test_consent_tutorial_and_test_stand_before_a_market_workers_first_task(browser):
    posting = make_posting()
    text = write_text(posting.batch.study, "consent", "Be kind.", None)
    first = enter(browser, mturk_url(posting))
    assert first.endswith("/consent/")
    page = browser.get(first)
    assert "Be kind." in page.content.decode()
    assert "csrfmiddlewaretoken" not in page.content.decode()
    response = browser.post(first, {"text": text.pk}, follow=True)
    assert response.request["PATH_INFO"] == f"/w/t/{first.split('/')[3]}/{Assignment.objects.get().key}/"
    assert Consent.objects.get().worker.external_id == "W1"
    assert not browser.cookies


def test_who_fails_the_test_is_sent_back_to_prolific_with_the_code_for_it(browser):
    posting = make_posting("prolific")
    posting.details = {"codes": {"done": "DONE1", "screened_out": "OUT1"}}
    posting.save()
    study = posting.batch.study
    plan = PracticePlan.objects.create(study=study, protocol="litepyramid", test_required=True, tries=1)
    item = plan.items.create(
        kind="test", order=1, summary=posting.batch.tasks.first().summary, question="?", expected=1
    )
    first = enter(browser, prolific_url(posting))
    assert first.endswith("/test/")
    browser.post(first, {f"answer:{item.pk}": "0"})
    out = browser.get(prolific_url(posting), follow=True)
    assert out.status_code == 409
    assert "You have used all tries" in sentence(out)
    assert "https://app.prolific.com/submissions/complete?cc=OUT1" in out.content.decode()


def prolific_url(posting: Posting, **changes: str) -> str:
    query = {"PROLIFIC_PID": "P1", "STUDY_ID": "MARKETID", "SESSION_ID": "S1", **changes}
    return f"{reverse('crowd-prolific', args=[posting.token])}?{urlencode(query)}"


def test_a_sitting_on_prolific_has_its_tasks_and_ends_with_the_code(browser):
    posting = make_posting("prolific", tasks=3, tasks_per_participant=2)
    posting.details = {"codes": {"done": "DONE1"}}
    posting.save()
    for number in (1, 2):
        task = enter(browser, prolific_url(posting))
        assert f"Task {number} of 2" in sentence(browser.get(task))
        end = browser.post(task, fields(browser, task), follow=True)
    assert "https://app.prolific.com/submissions/complete?cc=DONE1" in end.content.decode()
    assert Assignment.objects.filter(submission__market_id="S1").count() == 2
    assert not browser.cookies
    places.confirm(Submission.objects.get())
    assert Assignment.objects.filter(state="submitted").count() == 2


@pytest.mark.parametrize(("expected", "code"), [((1, 1), "DONE1"), ((1, 0), "CHECK1"), ((0, 0), "CHECK1")])
def test_who_answers_half_of_the_checks_wrong_ends_with_the_code_for_it(browser, expected, code):
    posting = make_posting("prolific")
    posting.details = {"codes": {"done": "DONE1", "failed_checks": "CHECK1"}}
    posting.save()
    document = posting.batch.tasks.get().document
    for number, value in enumerate(expected):
        document.units.create(scu_id=f"check{number}", text=f"Check {number}.", is_check=True, expected=value)
    task = enter(browser, prolific_url(posting))
    end = browser.post(task, fields(browser, task), follow=True)  # 1 everywhere
    assert f"cc={code}" in end.content.decode()


def test_opening_and_saving_take_few_queries(browser, django_assert_max_num_queries):
    task = enter(browser, mturk_url(make_posting()))
    with django_assert_max_num_queries(6):
        browser.get(task)
    with django_assert_max_num_queries(8):  # with savepoints
        browser.put(f"{task}draft/", json.dumps({"changes": [], "seen": 0}), content_type="application/json")


def test_who_is_in_the_middle_of_a_sitting_may_finish_it_while_the_batch_is_paused(browser):
    posting = make_posting("prolific", tasks=3, tasks_per_participant=2)
    task = enter(browser, prolific_url(posting))
    Batch.objects.update(state=Batch.State.PAUSED)
    assert "Task 2 of 2" in sentence(browser.post(task, fields(browser, task), follow=True))
    check_refused(browser, prolific_url(posting, PROLIFIC_PID="P2", SESSION_ID="S2"), 409, "This batch is paused")


def test_what_was_handed_in_can_not_be_revised_by_a_market_worker(browser):
    task = enter(browser, mturk_url(make_posting()))
    form = fields(browser, task)
    browser.post(task, form)
    answers = {name.removeprefix("answer:"): {"value": "0"} for name in form if name.startswith("answer:")}
    letter = {"mode": "revise", "submit_key": "another", "answers": answers}
    answer = browser.post(f"{task}submit/", json.dumps(letter), content_type="application/json")
    assert (answer.status_code, answer.json()["error"]) == (409, "AlreadySubmitted")
    assert set(Judgment.objects.values_list("value", flat=True)) == {1}


def test_the_instructions_of_a_preview_are_open_to_everybody(browser):
    posting = make_posting()
    write_text(posting.batch.study, "instructions", "Read twice.", None)
    page = browser.get(reverse("crowd-about", args=[posting.token]))
    assert "Read twice." in sentence(page)
    assert "Take a task" not in sentence(page)
    check_refused(browser, reverse("crowd-about", args=["unknown"]), 404, "no such task")


def test_who_stops_early_keeps_what_is_done_and_can_come_back(browser):
    posting = make_posting("prolific", tasks=3, tasks_per_participant=2)
    task = enter(browser, prolific_url(posting))
    browser.post(task, fields(browser, task))
    second = enter(browser, prolific_url(posting))
    answer = browser.post(f"/w/t/{second.split('/')[3]}/leave/", follow=True)
    assert "1 of 2 tasks are done" in sentence(answer)
    assert sorted(Assignment.objects.values_list("state", flat=True)) == ["expired", "submitted"]
    assert enter(browser, prolific_url(posting)).split("/")[4] == second.split("/")[4]


def test_a_preview_for_admins_is_for_admins(client):
    posting = make_posting()
    url = reverse("crowd-preview", args=[posting.batch_id])
    client.force_login(make_member(posting.batch.study, Role.ADMIN))
    response = client.get(url)
    assert "This is a preview" in sentence(response)
    assert "frame-ancestors 'self'" in response["Content-Security-Policy"]
    client.force_login(make_member(posting.batch.study, Role.ANALYST))
    assert client.get(url).status_code == 403
    assert Client().get(url).status_code == 302


def test_a_token_says_when_it_ends():
    posting = make_posting(duration_seconds=600)
    submission = places.open_submission(posting, "A1", places.worker_of(posting, "W1"))
    token = tokens.make_token(submission, origin=MARKET)
    assert tokens.read_token(token).origin == MARKET
    assert tokens.make_token(submission, until=timezone.now()) != token
