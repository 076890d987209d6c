"""Workers' pages: finding, previewing, working, money, messages, data."""

import json
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.common import clock
from annotation.marketplace.hits import assignments, work
from annotation.marketplace.models import HIT, Assignment
from annotation.marketplace.people import workers
from annotation.marketplace.qualifications import qualifications
from annotation.marketplace.qualifications.eligibility import LOCALE
from tests.marketplace.fixtures import ANSWER, EXTERNAL, FORM, HTML, KEY, at, make_hit, submit_work
from tests.marketplace.pages.visitors import a_worker, sign_in, text

pytestmark = pytest.mark.django_db
ELSEWHERE = EXTERNAL.replace("https://example.org", "http://127.0.0.1:9999")


def page(worker, address: str, **query) -> str:
    answer = sign_in(worker.account).get(address, query)
    assert answer.status_code == 200
    return text(answer)


def test_the_list_says_reward_time_and_count(wanda, lab):
    make_hit(lab, places=2, reward_cents=25)
    make_hit(lab, reward_cents=25)
    html = page(wanda, "/hits/")
    assert "Judge a summary" in html
    assert "$0.25" in html
    assert "2 HITs for you" in html
    assert "10 min at most" in html
    assert "No hourly figure yet" in html


def test_the_hourly_wage_is_the_median_of_finished_work(wanda, lab):
    with at():
        hit = make_hit(lab, places=5, reward_cents=10)
        ids = [work.accept_hit(a_worker(f"w{n}"), hit.hit_id).assignment_id for n in range(3)]
    # 30 s, 60 s and 500 s: the median is 60 s, and 10 cents a minute are 6 dollars an hour.
    for assignment_id, seconds in zip(ids, (30, 60, 500), strict=True):
        with at(seconds=seconds):
            work.submit_assignment(assignment_id, ANSWER)
    with at(seconds=600):
        html = page(wanda, "/hits/")
    assert "about $6.00 an hour" in html
    assert "(n = 3)" in html


def test_filters_and_order(wanda, lab):
    make_hit(lab, title="Cheap", reward_cents=5)
    make_hit(lab, title="Dear", reward_cents=50)
    elsewhere = {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "LocaleValues": [{"Country": "FR"}]}
    make_hit(lab, title="French", reward_cents=20, requirements=[elsewhere])
    html = page(wanda, "/hits/", sort="reward")
    assert html.index("Dear") < html.index("French") < html.index("Cheap")
    assert "Needs: Location is FR" in html
    skill = qualifications.create_type(lab, name="Colours", description="Knows colours")
    having = {"QualificationTypeId": skill.qualification_type_id, "Comparator": "Exists"}
    make_hit(lab, title="Skilled", requirements=[having])
    assert "Needs: the qualification “Colours”" in page(wanda, "/hits/", q="skilled")
    assert "French" not in page(wanda, "/hits/", only="yes")
    assert "Cheap" not in page(wanda, "/hits/", least="$0.10")
    assert "Nothing fits" in page(wanda, "/hits/", q="zebra")
    assert "is not an amount" in page(wanda, "/hits/", least="much")


def test_the_list_takes_a_constant_number_of_queries(wanda, lab, django_assert_num_queries):
    client = sign_in(wanda.account)
    make_hit(lab, title="One")
    with CaptureQueriesContext(connection) as queries:
        client.get("/hits/")
    for n in range(8):
        make_hit(lab, title=f"Another {n}")
    with django_assert_num_queries(len(queries)):
        assert "Another 7" in text(client.get("/hits/"))


def test_a_preview_takes_no_place_and_hides_the_worker(wanda, lab):
    hit = make_hit(lab, question=ELSEWHERE)
    answer = sign_in(wanda.account).get(f"/hits/{hit.hit_id}/")
    html = text(answer)
    assert "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE" in html
    assert f"hitId={hit.hit_id}" in html
    assert "turkSubmitTo=http%3A%2F%2Ftestserver" in html
    assert wanda.worker_id not in html
    assert "frame-src 'self' http://127.0.0.1:9999" in answer["Content-Security-Policy"]
    assert not Assignment.objects.exists()


def test_the_frame_has_the_four_parameters_and_keeps_the_requesters_own(wanda, lab):
    hit = make_hit(lab, question=ELSEWHERE)
    client = sign_in(wanda.account)
    answer = client.post(f"/hits/{hit.hit_id}/accept/")
    assignment = Assignment.objects.get()
    assert answer["Location"] == f"/work/{assignment.assignment_id}/"
    html = text(client.get(answer["Location"])).replace("&amp;", "&")
    query = f"?n=1&assignmentId={assignment.assignment_id}&hitId={hit.hit_id}&turkSubmitTo=http%3A%2F%2Ftestserver"
    assert f"http://127.0.0.1:9999/task{query}&workerId={wanda.worker_id}" in html
    assert "allow-same-origin" in html


def test_a_page_on_the_markets_own_origin_gets_no_origin(wanda, lab):
    hit = make_hit(lab, question=EXTERNAL.replace("https://example.org", "http://testserver"))
    html = page(wanda, f"/hits/{hit.hit_id}/")
    assert "allow-scripts allow-forms" in html
    assert "allow-same-origin" not in html


def test_an_odd_host_can_not_write_into_the_policy(wanda, lab):
    hit = make_hit(lab, question=EXTERNAL.replace("https://example.org", "https://a;script-src *;b"))
    answer = sign_in(wanda.account).get(f"/hits/{hit.hit_id}/")
    assert "script-src" not in answer["Content-Security-Policy"]


def test_going_on_accepts_the_next_one_only_when_the_last_is_handed_in(wanda, lab):
    first, second = make_hit(lab), make_hit(lab)
    assignment = work.accept_hit(wanda, first.hit_id)
    client, address = sign_in(wanda.account), f"/groups/{first.hit_type.hit_type_id}/accept/"

    def go_on(after: str):
        return client.post(address, {"after": after}, headers={"Accept": "application/json"})

    refused = go_on(assignment.assignment_id)
    assert (refused.status_code, refused.json()) == (409, {"state": "Accepted"})
    assert Assignment.objects.count() == 1
    work.submit_assignment(assignment.assignment_id, ANSWER)
    accepted = go_on(assignment.assignment_id)
    assert accepted.json()["address"] == f"/work/{second.assignments.get().assignment_id}/"
    assert go_on("NOBODYS").status_code == 404


def test_accepting_a_full_hit_takes_another_of_its_group_or_says_so(wanda, lab):
    first, second = make_hit(lab), make_hit(lab)
    client = sign_in(wanda.account)
    work.accept_hit(a_worker("fast"), first.hit_id)
    client.post(f"/hits/{first.hit_id}/accept/")
    assert Assignment.objects.get(worker=wanda).hit == second
    answer = sign_in(a_worker("late").account).post(f"/hits/{first.hit_id}/accept/")
    assert answer.status_code == 409
    assert "no place left" in text(answer)


def test_returning_frees_the_place_once(wanda, lab):
    hit = make_hit(lab)
    assignment = work.accept_hit(wanda, hit.hit_id)
    client = sign_in(wanda.account)
    for _ in range(2):
        assert client.post(f"/work/{assignment.assignment_id}/return/")["Location"] == "/hits/"
    hit.refresh_from_db()
    assert (hit.pending, hit.available) == (0, 1)
    assert "You gave this HIT back" in page(wanda, f"/work/{assignment.assignment_id}/")


def test_after_the_deadline_the_page_says_that_time_ran_out(wanda, lab):
    with at():
        assignment = work.accept_hit(wanda, make_hit(lab, assignment_seconds=60).hit_id)
        assert 'data-seconds="60"' in page(wanda, f"/work/{assignment.assignment_id}/")
    with at(seconds=61):
        assert "The time ran out" in page(wanda, f"/work/{assignment.assignment_id}/")
        state = json.loads(page(wanda, f"/work/{assignment.assignment_id}/state/"))
        assert state == {"state": "Abandoned", "seconds_left": 0}


def test_nobody_sees_anothers_work(wanda, lab):
    assignment = work.accept_hit(wanda, make_hit(lab).hit_id)
    client = sign_in(a_worker("other").account)
    for address in (f"/work/{assignment.assignment_id}/", f"/work/{assignment.assignment_id}/state/"):
        assert client.get(address).status_code == 404
    client.post(f"/work/{assignment.assignment_id}/return/")
    assignment.refresh_from_db()
    assert assignment.state == "Accepted"


@pytest.mark.parametrize("state", ["Submitted", "Approved", "Rejected"])
def test_every_end_has_its_page(wanda, lab, state):
    assignment = submit_work(wanda, make_hit(lab).hit_id)
    if state == "Approved":
        assignments.approve_assignment(lab, assignment.assignment_id, "Well done")
        assignments.send_bonus(lab, wanda.worker_id, assignment.assignment_id, 50, "For care")
    if state == "Rejected":
        assignments.reject_assignment(lab, assignment.assignment_id, "Not read")
    html = page(wanda, f"/work/{assignment.assignment_id}/")
    sentences = {
        "Submitted": ["waits for approval", "$0.10"],
        "Approved": ["$0.10 earned", "Well done", "$0.50", "For care"],
        "Rejected": ["is not paid", "Not read"],
    }
    assert all(words in html for words in sentences[state])
    assert assignment.assignment_id in html


def test_earnings_by_state(wanda, lab):
    hits = [make_hit(lab, title=f"HIT {n}", reward_cents=10 * n) for n in (1, 2, 3)]
    ids = [work.accept_hit(wanda, hit.hit_id).assignment_id for hit in hits]
    for assignment_id in ids:
        work.submit_assignment(assignment_id, ANSWER)
    assignments.approve_assignment(lab, ids[0])  # 10 cents
    assignments.approve_assignment(lab, ids[1])  # 20 cents; the third, 30 cents, waits
    assignments.send_bonus(lab, wanda.worker_id, ids[0], 5, "Thanks")
    html = page(wanda, "/earnings/")
    assert "<dd>$0.35<small>the operator pays it out" in html
    assert "<dd>$0.30<small>1 submitted" in html
    assert "<dd>$0.30<small>2 approved" in html
    assert "<dd>$0.05</dd>" in html
    assert "100 % of your judged work" in html
    history = page(wanda, "/history/", state="Submitted")
    assert "HIT 3" in history
    assert "HIT 1" not in history


def test_messages_arrive_unread_and_are_marked_by_hand(wanda, lab):
    assignment = submit_work(wanda, make_hit(lab).hit_id)
    assignments.approve_assignment(lab, assignment.assignment_id)
    workers.notify_workers(lab, [wanda.worker_id], "Another batch", "Comes\non <Monday>")
    assert re.search(r'1<span\s+class="visually-hidden"\s*>\s+unread', page(wanda, "/messages/"))
    key = wanda.messages.get().pk
    assert "&lt;Monday&gt;" in page(wanda, f"/messages/{key}/")
    assert wanda.messages.get().read_at is None
    sign_in(wanda.account).post(f"/messages/{key}/")
    assert wanda.messages.get().read_at is not None
    assert sign_in(a_worker("other").account).get(f"/messages/{key}/").status_code == 404


def test_the_download_has_everything(wanda, lab):
    assignment = submit_work(wanda, make_hit(lab).hit_id)
    assignments.approve_assignment(lab, assignment.assignment_id)
    assignments.send_bonus(lab, wanda.worker_id, assignment.assignment_id, 5, "Thanks")
    answer = sign_in(wanda.account).get("/account/data.json")
    assert answer["Content-Disposition"] == f'attachment; filename="{wanda.worker_id}.json"'
    data = json.loads(answer.content)
    assert data["worker"]["earned_usd"] == "0.15"
    assert [assignment["answer"] for assignment in data["assignments"]] == [ANSWER]
    assert [bonus["amount_usd"] for bonus in data["bonuses"]] == ["0.05"]
    assert len(data["messages"]) == 1


def test_a_worker_says_where_they_are(wanda):
    client = sign_in(wanda.account)
    facts = {"email": "w@example.org", "country": "us", "subdivision": "ny", "is_adult": "on"}
    assert client.post("/account/", facts).status_code == 302
    wanda.refresh_from_db()
    assert (wanda.country, wanda.subdivision, wanda.is_adult) == ("US", "NY", True)
    assert client.post("/account/", {"country": "USA"}).status_code == 422


# Qualifications


def test_a_test_is_taken_scored_and_leads_back_to_the_hit(wanda, lab):
    colours = qualifications.create_type(
        lab, name="Colours", description="Knows colours", test=FORM, answer_key=KEY, test_seconds=600
    )
    needs = {"QualificationTypeId": colours.qualification_type_id, "Comparator": "GreaterThan", "IntegerValues": [50]}
    hit = make_hit(lab, requirements=[needs])
    client, address = sign_in(wanda.account), f"/hits/{hit.hit_id}/"
    assert client.post(f"{address}accept/").status_code == 403
    assert f"/qualifications/{colours.qualification_type_id}/?next={address}" in text(client.get(address))
    started = client.post(f"/qualifications/{colours.qualification_type_id}/ask/", {"next": address})["Location"]
    assert started.startswith("/qualifications/tests/")
    empty = client.post(started, {})
    assert empty.status_code == 422
    assert "Pick an answer here." in text(empty)
    assert client.post(started, {"colour": "blue"})["Location"] == address
    assert wanda.qualifications.get().value == 100
    assert client.post(f"{address}accept/").status_code == 302
    assert "is granted" in text(client.get(started))


def test_a_test_that_ran_out_says_so(wanda, lab):
    colours = qualifications.create_type(
        lab, name="Colours", description="Knows colours", test=FORM, answer_key=KEY, test_seconds=60
    )
    client = sign_in(wanda.account)
    with at():
        started = client.post(f"/qualifications/{colours.qualification_type_id}/ask/")["Location"]
    with at(seconds=61):
        assert "The time ran out" in text(client.get(started))
        assert "The time ran out" in text(client.post(started, {"colour": "blue"}))
        assert not wanda.qualifications.exists()


def test_asking_is_granted_at_once_or_waits_and_not_twice(wanda, lab):
    at_once = qualifications.create_type(
        lab, name="Open", description="For all", auto_granted=True, auto_granted_value=7
    )
    slow = qualifications.create_type(lab, name="Slow", description="By hand")
    client = sign_in(wanda.account)
    for qualification_type in (at_once, slow):
        assert client.post(f"/qualifications/{qualification_type.qualification_type_id}/ask/").status_code == 302
    assert wanda.qualifications.get().value == 7
    html = page(wanda, "/qualifications/")
    assert "you have 7" in html
    assert "waiting for the requester" in html
    second_answer = client.post(f"/qualifications/{slow.qualification_type_id}/ask/")
    assert (second_answer.status_code, "can&#x27;t ask again yet" in text(second_answer)) == (409, True)
    assert "will get a message" in page(wanda, f"/qualifications/{slow.qualification_type_id}/")


def test_asking_never_leads_to_another_site(wanda, lab):
    qualification_type = qualifications.create_type(lab, name="Open", description="For all", auto_granted=True)
    answer = sign_in(wanda.account).post(
        f"/qualifications/{qualification_type.qualification_type_id}/ask/", {"next": "https://evil.example/"}
    )
    assert answer["Location"] == "/qualifications/"


def test_the_address_that_scripts_print_leads_to_the_group(wanda, lab):
    hit = make_hit(lab, question=HTML)
    answer = sign_in(wanda.account).get("/mturk/preview", {"groupId": hit.hit_type.group_id})
    assert answer["Location"] == f"/hits/{hit.hit_id}/"
    assert sign_in(wanda.account).get("/mturk/preview", {"groupId": "X"}).status_code == 404


def test_a_hit_without_place_can_be_looked_at_but_not_taken(wanda, lab):
    hit = make_hit(lab)
    work.accept_hit(a_worker("fast"), hit.hit_id)
    assert HIT.objects.get().status == "Unassignable"
    assert "No place is left" in page(wanda, f"/hits/{hit.hit_id}/")


def test_a_preview_of_what_has_ended_does_not_speak_of_places_left(wanda, lab):
    hit = make_hit(lab, lifetime=60)
    with clock.fixed(clock.now() + timedelta(seconds=90)):
        html = sign_in(wanda.account).get(f"/hits/{hit.hit_id}/").content.decode()
    assert "This HIT has ended." in html
    assert "place left" not in html
    assert "/accept/" not in html
