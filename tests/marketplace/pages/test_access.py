"""Who may see which page, signing in and signing up."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import URLPattern, reverse

from annotation.common import clock
from annotation.marketplace import people
from annotation.marketplace.hits import work
from annotation.marketplace.models import Account, AuditEntry, MarketSettings, Worker
from annotation.marketplace.pages.urls import urlpatterns
from tests.marketplace.fixtures import make_hit
from tests.marketplace.pages.visitors import PASSWORD, a_requester, a_worker, an_operator, sign_in

pytestmark = pytest.mark.django_db
PUBLIC = {"home", "about", "operations", "operation", "sign-in", "join", "join-by-code", "frame", "qualified"}
EVERYBODY = {*PUBLIC, "sign-out", "account", "password"}


def address(pattern: URLPattern) -> str:
    return "/" + re.sub(r"<(\w+):\w+>", lambda match: "1" if match[1] == "int" else "X", str(pattern.pattern))


@pytest.mark.parametrize(
    "pattern", [route for route in urlpatterns if route.name not in PUBLIC], ids=lambda route: route.name
)
def test_strangers_are_sent_to_the_sign_in(pattern):
    answer = Client().get(address(pattern))
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/?next=/")


def roles_of(pattern: URLPattern) -> str:
    for role in ("requester", "operator"):
        if str(pattern.pattern).startswith(f"{role}/"):
            return role
    return "worker"


@pytest.mark.parametrize(
    "pattern", [route for route in urlpatterns if route.name not in EVERYBODY], ids=lambda route: route.name
)
def test_every_page_is_for_its_role_alone(pattern):
    people_here = {"worker": a_worker().account, "requester": a_requester().account, "operator": an_operator()}
    for role, account in people_here.items():
        client = sign_in(account)
        answers = {client.get(address(pattern)).status_code, client.post(address(pattern)).status_code}
        if role != roles_of(pattern):
            assert answers <= {403, 405}
        else:
            assert 403 not in answers


def test_refusals_name_the_role():
    answer = sign_in(a_worker().account).get("/operator/")
    assert answer.status_code == 403
    assert "This page is for the operator" in answer.content.decode()


def test_home_leads_each_role_to_its_page():
    assert Client().get("/").status_code == 200
    for account, target in (
        (a_worker().account, "find"),
        (a_requester().account, "requester"),
        (an_operator(), "operator"),
    ):
        assert sign_in(account).get("/")["Location"] == reverse(target)


# Signing in


def test_sign_in_goes_on_to_pages_of_this_site_only():
    a_worker("wanda")
    for onward, target in (("/earnings/", "/earnings/"), ("https://evil.example/", "/"), ("//evil.example/", "/")):
        answer = Client().post("/sign-in/", {"username": "wanda", "password": PASSWORD, "next": onward})
        assert answer["Location"] == target


def test_after_five_wrong_passwords_a_name_has_to_wait():
    a_worker("wanda")
    client = Client()
    for _ in range(5):
        assert client.post("/sign-in/", {"username": "Wanda", "password": "wrong"}).status_code == 403
    credentials = {"username": "wanda", "password": PASSWORD}
    assert client.post("/sign-in/", credentials).status_code == 429
    assert AuditEntry.objects.filter(action="sign-in refused", subject="wanda").count() == 5
    with clock.fixed(clock.now() + timedelta(minutes=1, seconds=1)):
        assert client.post("/sign-in/", credentials).status_code == 302


def test_behind_the_proxy_a_stranger_locks_out_nobody_but_themselves(settings):
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    a_worker("wanda")
    stranger, credentials = {"X-Forwarded-For": "10.0.0.1, 192.0.2.1"}, {"username": "wanda", "password": PASSWORD}
    for n in range(50):
        Client().post("/sign-in/", {"username": f"nobody-{n}", "password": "wrong"}, headers=stranger)
    same_stranger = {"X-Forwarded-For": "10.9.9.9, 192.0.2.1"}  # what a client claims further left is worth nothing
    assert Client().post("/sign-in/", credentials, headers=same_stranger).status_code == 429
    assert Client().post("/sign-in/", credentials, headers={"X-Forwarded-For": "192.0.2.7"}).status_code == 302


def test_pages_of_signed_in_people_are_kept_nowhere():
    for account, page in ((a_worker().account, "/earnings/"), (an_operator(), "/operator/")):
        assert sign_in(account).get(page)["Cache-Control"] == "private, no-store"
    assert "Cache-Control" not in Client().get("/operations/").headers


def test_forms_need_their_token():
    client = Client(enforce_csrf_checks=True)
    client.force_login(a_worker().account)
    answer = client.post("/sign-out/")
    assert answer.status_code == 403
    assert "Nothing was changed" in answer.content.decode()


# Signing up


def test_workers_join_openly_only_where_the_operator_allows_it():
    facts = {"username": "nina", "password": PASSWORD, "country": "de"}
    assert Client().post("/join/", facts).status_code == 403
    assert not Account.objects.filter(username="nina").exists()
    MarketSettings.objects.create(pk=1, open_sign_up=True)
    answer = Client().post("/join/", facts)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert Worker.objects.get(account__username="nina").country == "DE"


def test_an_invitation_lets_one_person_in():
    code = people.invite("requester", an_operator()).code
    facts = {"username": "rolf", "password": PASSWORD, "name": "Rolf's lab"}
    assert "Sign up as a requester" in Client().get(f"/join/{code}/").content.decode()
    assert Client().post(f"/join/{code}/", facts).status_code == 302
    assert Account.objects.get(username="rolf").requester.name == "Rolf's lab"
    second_answer = Client().post(f"/join/{code}/", {**facts, "username": "other"})
    assert second_answer.status_code == 403
    assert "used up" in second_answer.content.decode()


def test_a_weak_password_is_refused_with_a_sentence():
    MarketSettings.objects.create(pk=1, open_sign_up=True)
    answer = Client().post("/join/", {"username": "nina", "password": "12345678"})
    assert answer.status_code == 422
    assert "too common" in answer.content.decode()


def test_a_changed_password_keeps_one_signed_in_here():
    client = sign_in(a_worker("wanda").account)
    new = "another-long-word-17"
    answer = client.post("/account/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    assert answer.status_code == 302
    assert client.get("/earnings/").status_code == 200
    assert Client().login(username="wanda", password=new)


def test_pages_speak_english_whatever_the_browser_asks_for():
    MarketSettings.objects.create(pk=1, open_sign_up=True)
    answer = Client(headers={"accept-language": "de"}).post("/join/", {"username": ""})
    assert "This field is required." in answer.content.decode()


# Headers


def test_pages_forbid_framing_and_inline_script():
    answer = sign_in(a_worker().account).get("/hits/")
    policy = answer["Content-Security-Policy"]
    assert answer["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'self'" in policy
    assert "unsafe-inline" not in policy


def test_guessing_the_old_password_has_to_wait_and_leaves_sign_in_alone():
    wanda = a_worker("wanda")
    client, new = sign_in(wanda.account), "another-long-word-7"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    for _ in range(5):
        assert client.post("/account/password/", {**form, "old_password": "wrong"}).status_code == 422
    answer = client.post("/account/password/", form)
    assert answer.status_code == 429
    assert "Wait 1 minute, then try again; your password is as it was" in answer.content.decode()
    assert "Other browsers are signed out" not in client.get("/account/").content.decode()
    assert AuditEntry.objects.filter(action="old password refused", subject="wanda").count() == 5
    assert Client().post("/sign-in/", {"username": "wanda", "password": PASSWORD}).status_code == 302
    with clock.fixed(clock.now() + timedelta(minutes=1, seconds=1)):
        assert client.post("/account/password/", form).status_code == 302
    assert Client().post("/sign-in/", {"username": "wanda", "password": new}).status_code == 302


def test_a_new_password_that_is_too_plain_is_no_guess_of_the_old_one():
    client = sign_in(a_worker("wanda").account)
    for _ in range(11):
        form = {"old_password": PASSWORD, "new_password1": "short", "new_password2": "short"}
        assert client.post("/account/password/", form).status_code == 422


@pytest.mark.parametrize("page", ["/sign-out/", "/requester/keys/X/revoke/", "/operator/invitations/1/withdraw/"])
def test_an_address_for_buttons_says_so_to_who_opens_it(page):
    answer = sign_in(a_worker().account).get(page)
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "This address only takes what a button sends. Nothing was changed." in answer.content.decode()
    assert 'href="/"' in answer.content.decode()
    assert sign_in(a_worker("bob").account).get(page, headers={"Accept": "application/json"}).content == b""


def test_a_page_that_only_shows_says_so_to_what_is_sent():
    answer = sign_in(a_worker().account).post("/earnings/")
    assert answer.status_code == 405
    assert "The request can&#x27;t be read. Nothing was changed" in answer.content.decode()


def test_who_signs_in_after_pressing_a_button_comes_to_its_page():
    wanda, lab = a_worker("wanda"), a_requester()
    hit = make_hit(lab)
    client = Client()
    pressed = client.post(f"/hits/{hit.hit_id}/accept/")
    answer = client.post(pressed["Location"], {"username": "wanda", "password": PASSWORD}, follow=True)
    assert answer.redirect_chain[-1] == (f"/hits/{hit.hit_id}/", 302)
    assert not wanda.assignments.exists()
    assignment = work.accept_hit(wanda, hit.hit_id)
    assert client.get(f"/work/{assignment.assignment_id}/return/")["Location"] == f"/work/{assignment.assignment_id}/"
    assert client.get("/groups/X/accept/")["Location"] == "/hits/"
    assert client.get("/qualifications/X/ask/")["Location"] == "/qualifications/X/"
    assignment.refresh_from_db()
    assert assignment.state == "Accepted"
