"""The operator's pages: money in and out, people, fees, invitations, the audit log."""

import csv
import io
import re

import pytest
from django.test import Client

from annotation.marketplace import people
from annotation.marketplace.books import books
from annotation.marketplace.hits import assignments
from annotation.marketplace.models import AuditEntry, Invitation, MarketSettings
from annotation.marketplace.people import workers
from tests.marketplace.fixtures import make_hit, submit_work
from tests.marketplace.pages.visitors import PASSWORD, a_requester, a_worker, an_operator, sign_in, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def client():
    return sign_in(an_operator())


def earned(worker, lab, cents: int = 500):
    assignment = submit_work(worker, make_hit(lab, reward_cents=cents).hit_id)
    assignments.approve_assignment(lab, assignment.assignment_id)


def test_a_top_up_and_a_refund_are_in_the_books_and_in_the_log(client):
    lab = a_requester(cents=0)
    address = f"/operator/requesters/{lab.requester_id}/"
    client.post(address, {"action": "top-up", "amount": "$50.00", "note": "Invoice 17"})
    client.post(address, {"action": "refund", "amount": "20", "note": "Rest"})
    lab.refresh_from_db()
    assert (lab.available_cents, lab.put_in_cents) == (3000, 3000)
    assert books.books_agree(lab)
    assert list(AuditEntry.objects.filter(actor__username="olga").values_list("action", flat=True)) == [
        "refund",
        "top-up",
    ]
    html = text(client.get(address))
    assert "Invoice 17" in html
    assert "✓ the books agree" in html


@pytest.mark.parametrize("amount", ["0", "-5", "-0.50", "5.-1", "+5", "1_0", "٣", "9.999", "ten", "", "1e9", "1000.01"])
def test_amounts_that_make_no_sense_change_nothing(client, amount):
    lab = a_requester(cents=1000_00)
    client.post(f"/operator/requesters/{lab.requester_id}/", {"action": "refund", "amount": amount})
    lab.refresh_from_db()
    assert lab.available_cents == 1000_00


def test_simulated_people_are_marked_among_those_to_be_paid(client):
    lab = a_requester()
    for name in ("sim7-careful-1", "simone"):
        earned(people.make_worker(people.make_account(name, PASSWORD), country="US"), lab)
    rows = csv.DictReader(io.StringIO(text(client.get("/operator/payouts/?format=csv"))))
    assert {row["name"]: row["simulated"] for row in rows} == {"sim7-careful-1": "yes", "simone": "no"}
    assert text(client.get("/operator/payouts/")).count("simulated: don't pay") == 1


def test_payouts_are_listed_downloaded_and_recorded(client):
    lab, wanda = a_requester(), a_worker("wanda")
    earned(wanda, lab, 500)
    a_worker("idle")
    assert "owes its workers $5.00" in text(client.get("/operator/payouts/"))
    rows = list(csv.DictReader(io.StringIO(text(client.get("/operator/payouts/?format=csv")))))
    assert [(row["worker_id"], row["email"], row["owed_usd"]) for row in rows] == [
        (wanda.worker_id, "wanda@example.org", "5.00")
    ]
    address = f"/operator/workers/{wanda.worker_id}/"
    client.post(address, {"action": "payout", "amount": "6", "note": "Bank 1"})
    wanda.refresh_from_db()
    assert wanda.owed_cents == 500
    client.post(address, {"action": "payout", "amount": "5", "note": "Bank 2"})
    wanda.refresh_from_db()
    assert wanda.owed_cents == 0
    assert "Nobody to pay" in text(client.get("/operator/payouts/"))
    assert "Bank 2" in text(client.get(address))


def test_closing_hides_a_requester_and_stops_a_worker(client):
    lab, wanda = a_requester(), a_worker("wanda")
    hit = make_hit(lab)
    client.post(f"/operator/workers/{wanda.worker_id}/", {"action": "close", "note": "Bots"})
    answer = sign_in(wanda.account).post(f"/hits/{hit.hit_id}/accept/")
    assert (answer.status_code, "has closed this account" in text(answer)) == (403, True)
    assert "Your account is closed" in text(sign_in(wanda.account).get("/hits/"))
    client.post(f"/operator/workers/{wanda.worker_id}/", {"action": "open"})
    client.post(f"/operator/requesters/{lab.requester_id}/", {"action": "close"})
    assert "No HITs just now" in text(sign_in(wanda.account).get("/hits/"))
    assert {"worker closed", "worker opened", "requester closed"} <= set(
        AuditEntry.objects.values_list("action", flat=True)
    )


def test_masters_are_granted_and_taken(client):
    wanda = a_worker("wanda")
    for action, is_master in (("masters", True), ("no-masters", False)):
        client.post(f"/operator/workers/{wanda.worker_id}/", {"action": action})
        wanda.refresh_from_db()
        assert wanda.is_master is is_master


def test_fees_count_for_new_hits_only(client):
    lab = a_requester()
    before = make_hit(lab, reward_cents=100, title="Before")  # 20 %: 20 cents
    fees = {
        "fee_percent": 10,
        "large_fee_percent": 0,
        "masters_fee_percent": 0,
        "least_fee_cents": 1,
        "open_sign_up": "on",
    }
    assert client.post("/operator/settings/", fees).status_code == 302
    new_hit = make_hit(lab, reward_cents=100, title="After")  # 10 %: 10 cents
    before.refresh_from_db()
    assert (before.fee_cents, new_hit.fee_cents) == (20, 10)
    assert MarketSettings.current().open_sign_up
    assert AuditEntry.objects.filter(action="settings").get().detail["fee_percent"] == [20, 10]
    assert client.post("/operator/settings/", {**fees, "fee_percent": 101}).status_code == 422
    assert MarketSettings.current().fee_percent == 10
    assert "10 % of rewards and bonuses" in text(Client().get("/"))


def test_an_invitation_is_made_shown_and_withdrawn(client):
    client.post("/operator/invitations/", {"role": "worker", "note": "Wilma"})
    invitation = Invitation.objects.get()
    assert f"http://testserver/join/{invitation.code}/" in text(client.get("/operator/invitations/"))
    client.post(f"/operator/invitations/{invitation.pk}/withdraw/")
    assert Client().post(f"/join/{invitation.code}/", {"username": "w", "password": PASSWORD}).status_code == 403
    client.post("/operator/invitations/", {"role": "emperor"})
    assert Invitation.objects.count() == 1


def test_blocks_and_the_log_are_readable(client):
    lab, wanda = a_requester(), a_worker("wanda")
    workers.block_worker(lab, wanda.worker_id, "Copies answers")
    assert "Copies answers" in text(client.get("/operator/blocks/"))
    assert "Copies answers" in text(client.get(f"/operator/workers/{wanda.worker_id}/"))
    people.invite("worker", an_operator("otto"))
    html = text(client.get("/operator/audit/", {"action": "invitation"}))
    assert "otto" in html
    assert "worker joined" not in html.partition("<table>")[2]


def test_people_are_found(client):
    a_worker("wanda")
    a_requester()
    assert "wanda" in text(client.get("/operator/workers/", {"q": "WAND"}))
    assert "Nobody fits" in text(client.get("/operator/workers/", {"q": "zzz"}))
    assert "Summaries Lab" in text(client.get("/operator/requesters/", {"q": "lab"}))
    assert client.get("/operator/workers/NOBODY/").status_code == 404


def test_the_overview_adds_up(client):
    lab, wanda = a_requester(), a_worker("wanda")
    earned(wanda, lab, 500)
    html = text(client.get("/operator/"))
    assert "✓ the books add up" in html
    assert "$5.00 not paid out yet" in html


def form_key(page: str) -> str:
    return re.search(r'name="form" value="(\w+)"', page)[1]


def test_a_double_click_moves_money_once(client):
    lab, wanda = a_requester(cents=0), a_worker("wanda")
    address = f"/operator/requesters/{lab.requester_id}/"
    key = form_key(text(client.get(address)))
    form = {"action": "top-up", "amount": "50", "note": "Invoice 17", "form": key}
    client.post(address, form)
    second_answer = client.post(address, form, follow=True)
    assert "This form was sent before, and counted then" in text(second_answer)
    lab.refresh_from_db()
    assert (lab.available_cents, lab.put_in_cents) == (5000, 5000)
    new_key = form_key(text(second_answer))
    client.post(address, {**form, "form": new_key})  # the next one is meant
    client.post(address, {**form, "action": "refund", "form": "f"})
    client.post(address, {**form, "action": "refund", "form": "f"})
    lab.refresh_from_db()
    assert (lab.available_cents, new_key == key) == (5000, False)
    earned(wanda, lab, 500)
    address = f"/operator/workers/{wanda.worker_id}/"
    form = {"action": "payout", "amount": "2", "note": "Bank 1", "form": form_key(text(client.get(address)))}
    client.post(address, form)
    client.post(address, form)
    wanda.refresh_from_db()
    assert (wanda.owed_cents, wanda.payouts.count()) == (300, 1)
    log = text(client.get("/operator/audit/"))
    assert "$50.00; note: Invoice 17</td>" in log
    assert new_key not in log


def test_a_form_that_was_refused_can_be_sent_again(client):
    lab = a_requester(cents=100)
    address = f"/operator/requesters/{lab.requester_id}/"
    form = {"action": "refund", "amount": "5", "form": form_key(text(client.get(address)))}
    client.post(address, form)
    client.post(address, {**form, "amount": "1"})
    lab.refresh_from_db()
    assert lab.available_cents == 0
