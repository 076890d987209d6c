"""Requesters' pages: keys, money, HITs and assignments."""

import csv
import io
import re

import boto3
import pytest

from annotation.marketplace.hits import assignments
from annotation.marketplace.models import AccessKey, Assignment
from tests.browser.looking import markup
from tests.marketplace.fixtures import make_hit, submit_work
from tests.marketplace.pages.visitors import a_requester, a_worker, sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(lab):
    return sign_in(lab.account)


def delivered(lab, n: int = 1, **values) -> list[Assignment]:
    hit = make_hit(lab, places=max(n, 2), **values)
    return [submit_work(a_worker(f"private-name-{i}"), hit.hit_id) for i in range(n)]


def test_a_key_is_shown_once_works_and_is_revoked(lab, client, live_server):
    html = client.post("/requester/keys/", {"label": "laptop"}).content.decode()
    key_id = re.search(r'id="key-id">(\w+)<', html)[1]
    secret = re.search(r'id="secret">(\w+)', html)[1]
    mturk = boto3.client(
        "mturk",
        endpoint_url=live_server.url,
        region_name="us-east-1",
        aws_access_key_id=key_id,
        aws_secret_access_key=secret,
    )
    assert mturk.get_account_balance()["AvailableBalance"] == "100.00"
    next_html = client.get("/requester/keys/").content.decode()
    assert key_id in next_html
    assert "laptop" in next_html
    assert secret not in next_html
    client.post(f"/requester/keys/{key_id}/revoke/")
    with pytest.raises(mturk.exceptions.ClientError):
        mturk.get_account_balance()
    assert "revoked" in client.get("/requester/keys/").content.decode()


def test_reloading_the_page_of_a_new_key_makes_no_other(lab, client):
    form = re.search(r'name="form" value="(\w+)"', client.get("/requester/keys/").content.decode())[1]
    first_answer = client.post("/requester/keys/", {"label": "laptop", "form": form})
    second_answer = client.post("/requester/keys/", {"label": "laptop", "form": form})
    assert (first_answer.status_code, second_answer.status_code) == (200, 409)
    assert "This form was sent before" in second_answer.content.decode()
    assert AccessKey.objects.filter(requester=lab).count() == 1
    assert form not in client.get("/requester/").content.decode()


def test_the_page_with_a_secret_is_kept_by_no_cache(client):
    assert "no-store" in client.post("/requester/keys/")["Cache-Control"]


def test_nobody_revokes_anothers_key(client):
    stranger = a_requester("rolf")
    sign_in(stranger.account).post("/requester/keys/")
    key = AccessKey.objects.get(requester=stranger)
    assert client.post(f"/requester/keys/{key.key_id}/revoke/").status_code == 404
    key.refresh_from_db()
    assert key.revoked_at is None


def test_the_overview_says_all_pots_and_what_waits(lab, client):
    delivered(lab, 1, reward_cents=100)  # two places at $1.00 + $0.20 fee: $2.40 held
    html = markup(client.get("/requester/").content.decode())
    assert "<dd>$97.60<small>for new HITs" in html
    assert "<dd>$2.40<small>for open and submitted" in html
    assert "1 assignment waits for your judgment" in html


def test_a_hit_shows_price_with_fee_apart_and_answers(lab, client):
    (assignment,) = delivered(lab, 1, reward_cents=100)
    html = client.get(f"/requester/hits/{assignment.hit.hit_id}/").content.decode()
    assert "$1.00 reward + $0.20 fee" in html
    assert "$2.00 rewards + $0.40 fees" in html
    assert assignment.worker.worker_id in html
    assert "private-name" not in html
    assert '<th scope="row">colour</th>' in html
    assert "Approve for $1.20" in html


def test_judging_by_hand_pays_or_needs_a_reason(lab, client):
    first, second = delivered(lab, 2)
    client.post(f"/requester/assignments/{first.assignment_id}/judge/", {"verdict": "approve"})
    client.post(f"/requester/assignments/{second.assignment_id}/judge/", {"verdict": "reject", "feedback": ""})
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, second.state) == ("Approved", "Submitted")
    client.post(f"/requester/assignments/{second.assignment_id}/judge/", {"verdict": "reject", "feedback": "Not read"})
    second.refresh_from_db()
    assert (second.state, second.feedback) == ("Rejected", "Not read")
    first.worker.refresh_from_db()
    assert first.worker.earned_cents == 10


def test_requesters_see_their_own_alone(lab, client):
    stranger = a_requester("rolf")
    (assignment,) = delivered(stranger)
    assert client.get(f"/requester/hits/{assignment.hit.hit_id}/").status_code == 404
    assert assignment.hit.hit_id not in client.get("/requester/hits/").content.decode()
    client.post(f"/requester/assignments/{assignment.assignment_id}/judge/", {"verdict": "approve"})
    assignment.refresh_from_db()
    assert assignment.state == "Submitted"


def test_the_statement_and_payments_as_csv(lab, client):
    (assignment,) = delivered(lab, 1, reward_cents=100)
    assignments.approve_assignment(lab, assignment.assignment_id)
    assignments.send_bonus(lab, assignment.worker.worker_id, assignment.assignment_id, 50, "=HYPERLINK(1)")
    rows = list(csv.DictReader(io.StringIO(client.get("/requester/statement/?format=csv").content.decode())))
    # Newest first: bonus with fee, reward with fee, hold of two places, top-up.
    assert [(row["what"], row["usd"]) for row in rows] == [
        ("fee", "0.10"),
        ("bonus", "0.50"),
        ("fee", "0.20"),
        ("reward", "1.00"),
        ("hold", "2.40"),
        ("top-up", "100.00"),
    ]
    assert rows[1]["note"] == "'=HYPERLINK(1)"  # no spreadsheet runs it
    payments = list(csv.DictReader(io.StringIO(client.get("/requester/payments.csv").content.decode())))
    assert [(row["what"], row["usd"], row["worker_id"]) for row in payments] == [
        ("reward", "1.00", assignment.worker.worker_id),
        ("bonus", "0.50", assignment.worker.worker_id),
    ]


def test_empty_pages_say_what_to_do_first():
    client = sign_in(a_requester("new", cents=0).account)
    assert "First: make an access key" in client.get("/requester/").content.decode()
    for address, words in {
        "/requester/hits/": "No HITs yet",
        "/requester/keys/": "No keys yet",
        "/requester/statement/": "No money has moved yet",
        "/requester/events/": "No events",
    }.items():
        assert words in client.get(address).content.decode()


def test_hits_are_found_by_status_and_words(lab, client):
    make_hit(lab, title="Open one")
    delivered(lab, 2, title="Done one")
    html = client.get("/requester/hits/", {"status": "Reviewable"}).content.decode()
    assert "Done one" in html
    assert "Open one" not in html
    assert "Open one" in client.get("/requester/hits/", {"q": "open"}).content.decode()
