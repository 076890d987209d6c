"""Prolific over HTTP, against a server that follows the documented API: a batch’s way, and each way to go wrong."""

import logging
import os

import pytest
from django.urls import reverse

if os.environ.get("DJANGO_SETTINGS_MODULE") == "tests.marketplace_settings":
    pytest.skip("runs in the site's pass", allow_module_level=True)

from annotation.crowds.base import MarketRefused, MarketUnreachable
from annotation.crowds.lookup import market_for
from annotation.crowds.markets.prolific.documents import codes_of
from annotation.crowds.markets.prolific.study_token import keep_token
from annotation.models import AuditEvent, Batch, Entry, MarketToken, Posting, Role, Submission
from tests.contract.prolific_server import PROJECT, TOKEN, WORKSPACE, ProlificServer
from tests.factories import make_batch, make_member, make_study

pytestmark = pytest.mark.django_db
REASON = "FAILED_CHECK: " + "Both attention checks were answered wrong, and the whole task took eleven seconds. " * 2
TERMS = {"title": "Judge summaries", "description": "Read and mark.", "minutes": 2, "tasks_per_participant": 3}


@pytest.fixture(scope="module")
def running():
    server = ProlificServer()
    yield server
    server.stop()


@pytest.fixture
def server(running, settings, monkeypatch):
    running.reset()
    settings.PROLIFIC_URL = running.url
    settings.PROLIFIC_ALLOWED_URLS = [running.url]
    settings.PROLIFIC_TOKEN = TOKEN
    settings.PROLIFIC_WORKSPACE, settings.PROLIFIC_PROJECT = WORKSPACE, PROJECT
    settings.SITE_URL = "https://site.example.org"
    settings.PROLIFIC_TIMEOUT_SECONDS = 20
    monkeypatch.setattr("annotation.crowds.markets.prolific.client._pause", lambda answer, attempt: 0)
    return running


@pytest.fixture
def market(server):
    return market_for("prolific")


@pytest.fixture
def posting() -> Posting:
    batch = make_batch(make_study(units=1))
    Batch.objects.filter(pk=batch.pk).update(crowd="prolific", terms=TERMS)
    batch.refresh_from_db()
    return Posting.objects.create(batch=batch, token="t" * 40, places=4, reward_cents=150, fee_cents=65)


@pytest.fixture
def live_posting(market, posting) -> Posting:
    study = market.post(posting)
    posting.market_id, posting.details, posting.state = study.market_id, study.details, study.state
    posting.save()
    return posting


def handed_in(server, live_posting, name="P1") -> Submission:
    session = server.contract.take_part(live_posting.market_id, name)
    server.contract.complete(session, live_posting.details["codes"]["done"])
    worker = live_posting.batch.study.workers.create(crowd="prolific", external_id=name, pseudonym=f"w-{name}")
    return Submission.objects.create(posting=live_posting, worker=worker, market_id=session, state="submitted")


def bonus_of(submission: Submission, cents: int = 425) -> Entry:
    batch = submission.posting.batch
    return Entry.objects.create(
        study=batch.study,
        batch=batch,
        posting=submission.posting,
        submission=submission,
        kind="bonus",
        token=f"bonus {cents}",
        reward_cents=cents,
        paid_cents=cents,
        reason="Careful work",
    )


def test_a_study_is_drafted_with_codes_and_address_and_then_published(server, live_posting):
    [study] = server.contract.studies.values()
    assert (study["status"], study["total_available_places"], study["reward"]) == ("ACTIVE", 4, 150)
    assert (study["estimated_completion_time"], study["project"]) == (6, PROJECT)  # three tasks of two minutes
    assert study["external_study_url"] == (
        f"https://site.example.org/w/prolific/{live_posting.token}/"
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    kinds = {code["code"]: code["code_type"] for code in study["completion_codes"]}
    codes = codes_of(live_posting)
    assert len(set(codes.values())) == len(codes) == 4
    assert [kinds[codes[name]] for name in ("done", "screened_out", "failed_checks")] == [
        "COMPLETED",
        "OTHER",
        "FAILED_ATTENTION_CHECK",
    ]
    assert all(code["actions"][0]["action"] != "AUTOMATICALLY_APPROVE" for code in study["completion_codes"])


def test_posting_again_after_a_crash_finds_what_stands_and_a_draft_is_published(server, market, posting):
    server.fail("POST", "/studies/\\w+/transition/")  # the draft is made, publishing never answered
    with pytest.raises(MarketUnreachable):
        market.post(posting)
    assert dict(market.find(posting.batch)) == {}  # a draft does not stand
    for _ in range(3):
        assert market.post(posting).state == "open"
    assert len(server.contract.studies) == 1
    assert server.contract.balance == 100_00 - 4 * 150
    [(token, market_posting)] = market.find(posting.batch)
    assert (token, market_posting.places) == (posting.token, 4)


def test_a_draft_whose_answer_was_lost_is_not_made_twice(server, market, posting):
    server.fail("POST", "/studies/", after=True)
    with pytest.raises(MarketUnreachable, match="not known"):
        market.post(posting)
    market.post(posting)
    assert len(server.contract.studies) == 1


def test_pause_start_stop_are_harmless_when_repeated(server, market, live_posting):
    [study] = server.contract.studies.values()
    for action, state in ((market.pause, "PAUSED"), (market.resume, "ACTIVE"), (market.expire, "AWAITING REVIEW")):
        action(live_posting)
        action(live_posting)
        assert study["status"] == state
    market.close(live_posting)


def test_places_are_set_and_not_added_to(server, market, live_posting):
    market.extend(live_posting, 3, "token")
    market.extend(live_posting, 3, "token")
    [study] = server.contract.studies.values()
    assert study["total_available_places"] == 7


def test_submissions_come_over_all_pages_in_our_words(server, market, live_posting):
    words = {
        "RESERVED": "started",
        "ACTIVE": "started",
        "AWAITING REVIEW": "submitted",
        "APPROVED": "approved",
        "REJECTED": "rejected",
        "RETURNED": "returned",
        "TIMED-OUT": "returned",
        "SCREENED OUT": "returned",
        "SOMETHING NEW": "started",
    }
    for status in words:
        server.contract.take_part(live_posting.market_id, f"by {status}", status)
    states = {submission.worker_id: submission.state for submission in market.listed(live_posting)}
    assert states == {f"by {status}": state for status, state in words.items()}


def test_approve_and_reject_reach_the_participant(server, market, live_posting):
    approved, rejected = handed_in(server, live_posting, "P1"), handed_in(server, live_posting, "P2")
    market.approve(approved)
    market.approve(approved)
    with pytest.raises(MarketRefused, match="at least 100 characters, and this one has 4"):
        market.reject(rejected, "LOW_EFFORT: Bad.")
    market.reject(rejected, REASON)
    states = [server.contract.submissions[submission.market_id]["status"] for submission in (approved, rejected)]
    assert states == ["APPROVED", "REJECTED"]
    with pytest.raises(MarketRefused, match="takes no rejection back"):
        market.approve(rejected, undo_rejection=True)


def test_an_approval_whose_answer_was_lost_is_looked_up(server, market, live_posting):
    submission = handed_in(server, live_posting)
    server.fail("POST", f"/submissions/{submission.market_id}/transition/", 502, after=True)
    market.approve(submission)
    server.contract.submissions[submission.market_id]["status"] = "AWAITING REVIEW"
    server.fail("POST", f"/submissions/{submission.market_id}/transition/", 502)
    with pytest.raises(MarketUnreachable):
        market.approve(submission)


def test_a_submission_that_is_not_handed_in_is_not_approved(server, market, live_posting):
    submission = handed_in(server, live_posting)
    server.contract.submissions[submission.market_id]["status"] = "ACTIVE"
    with pytest.raises(MarketRefused, match="that is ACTIVE can't become APPROVED"):
        market.approve(submission)


def test_a_bonus_is_set_up_and_paid_once(server, market, live_posting):
    submission = handed_in(server, live_posting)
    assert market.bonus(bonus_of(submission)) in server.contract.bulk
    assert server.contract.submissions[submission.market_id]["bonus_payments"] == [425]
    bonuses = [(bonus.submission_id, bonus.cents) for bonus in market.bonuses(live_posting)]
    assert bonuses == [(submission.market_id, 425)]


@pytest.mark.parametrize(
    ("path", "failure", "error", "n"),
    [
        ("/submissions/bonus-payments/", {"status": 0}, MarketRefused, 0),  # not set up: nothing can be paid
        ("/submissions/bonus-payments/", {"status": 500, "after": True}, MarketRefused, 0),  # set up, and not paid
        ("/bulk-bonus-payments/\\w+/pay/", {"status": 0, "after": True}, MarketUnreachable, 1),
        ("/bulk-bonus-payments/\\w+/pay/", {"status": 0}, MarketUnreachable, 0),
        ("/bulk-bonus-payments/\\w+/pay/", {"status": 500, "after": True}, MarketUnreachable, 1),
        ("/bulk-bonus-payments/\\w+/pay/", {"status": 200, "after": True, "body": '{"half'}, MarketUnreachable, 1),
    ],
)
def test_a_bonus_in_doubt_is_never_asked_for_again_by_itself(server, market, live_posting, path, failure, error, n):
    """Asked twice, Prolific pays twice; so after silence only a person can tell."""
    submission = handed_in(server, live_posting)
    server.fail("POST", path, **failure)
    with pytest.raises(error):
        market.bonus(bonus_of(submission))
    assert len(server.contract.submissions[submission.market_id]["bonus_payments"]) == n
    assert sum(path.endswith("/pay/") for _method, path in server.contract.calls) <= 1


def test_the_contract_pays_a_bonus_twice_when_asked_twice(server, market, live_posting):
    """The trap is real: without it the test above would prove nothing."""
    submission = handed_in(server, live_posting)
    bulk = market.bonus(bonus_of(submission))
    market.api.post(f"/bulk-bonus-payments/{bulk}/pay/")
    assert server.contract.submissions[submission.market_id]["bonus_payments"] == [425, 425]


def test_a_bonus_for_a_stranger_is_refused_and_nothing_paid(server, market, live_posting):
    submission = handed_in(server, live_posting)
    Submission.objects.update(market_id="nobody")
    submission.refresh_from_db()
    with pytest.raises(MarketRefused, match="Not in this study: nobody"):
        market.bonus(bonus_of(submission))


def test_groups_keep_blocked_and_earlier_workers_out(server, market, posting):
    worker = posting.batch.study.workers.create(crowd="prolific", external_id="P9", pseudonym="w-9")
    stranger = posting.batch.study.workers.create(crowd="mturk", external_id="A9", pseudonym="w-8")
    panel = server.contract.post_group({"name": "Panel", "workspace_id": WORKSPACE})["id"]
    posting.batch.terms = {**TERMS, "groups_allow": [panel]}
    market.block(worker, "random answers")
    market.block(worker, "again")
    market.exclude(posting.batch, [worker, stranger])
    market.post(posting)
    [study] = server.contract.studies.values()
    groups = {group["name"]: group for group in server.contract.groups.values()}
    blocked, excluded = groups["Pyramidion: blocked"], groups[f"Pyramidion: excluded from batch {posting.batch_id}"]
    assert study["filters"] == [
        {"filter_id": "participant_group_allowlist", "selected_values": [panel]},
        {"filter_id": "participant_group_blocklist", "selected_values": [blocked["id"], excluded["id"]]},
    ]
    assert (blocked["participants"], excluded["participants"]) == ({"P9"}, {"P9"})
    market.unblock(worker)
    assert blocked["participants"] == set()


def test_a_message_goes_to_those_who_took_part(server, market, live_posting):
    submission = handed_in(server, live_posting)
    stranger = live_posting.batch.study.workers.create(crowd="prolific", external_id="P7", pseudonym="w-7")
    assert list(market.message([submission.worker, stranger], "Thanks", "Well done.")) == ["P7"]
    study_id = live_posting.market_id
    assert server.contract.messages == [{"ids": ["P1"], "body": "Thanks\n\nWell done.", "study_id": study_id}]


def test_money_is_told_with_the_fee_rounded_up(server, market, settings):
    settings.PROLIFIC_FEE_PERCENT = 43
    assert (market.fee_cents(150, 4, {}), market.bonus_fee_cents(1)) == (65, 1)  # 64.5 and 0.43
    assert market.balance_cents() == 100_00
    settings.PROLIFIC_WORKSPACE = ""
    assert market.balance_cents() is None


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (400, MarketRefused, "It went wrong"),
        (401, MarketRefused, "does not accept our token"),
        (403, MarketRefused, "does not accept our token"),
        (404, MarketRefused, "It went wrong"),
        (429, MarketUnreachable, "slow down"),
        (500, MarketUnreachable, "has a fault"),
        (0, MarketUnreachable, "does not answer"),
    ],
)
def test_each_error_is_one_sentence(server, market, status, error, words):
    server.fail("GET", "/users/me/", status, times=9, headers={"Retry-After": "0"})
    with pytest.raises(error, match=words):
        market.check()


def test_a_busy_market_is_asked_again_and_a_fault_only_where_it_is_safe(server, market, live_posting):
    server.fail("GET", "/users/me/", 429, times=3, headers={"Retry-After": "0"})
    market.check()
    server.fail("GET", "/users/me/", 500, times=2)
    market.check()
    submission = handed_in(server, live_posting)
    server.fail("POST", "/submissions/bonus-payments/", 429, times=2)  # turned away unread: may be repeated
    market.bonus(bonus_of(submission))
    assert server.contract.submissions[submission.market_id]["bonus_payments"] == [425]


def test_what_is_wrong_with_a_study_is_said_by_field(server, market, posting):
    posting.reward_cents = 0
    with pytest.raises(MarketRefused, match=r"reward: Ensure this value is greater"):
        market.post(posting)
    posting.reward_cents, posting.places = 150, 1000
    with pytest.raises(MarketRefused, match="not have enough funds"):
        market.post(posting)
    assert server.contract.balance == 100_00


def test_an_address_that_is_not_on_the_list_is_not_called(server, settings):
    settings.PROLIFIC_ALLOWED_URLS = ["https://api.prolific.com"]
    with pytest.raises(MarketRefused, match="PROLIFIC_ALLOWED_URLS"):
        market_for("prolific").check()
    assert server.contract.calls == []


def test_without_token_or_site_nothing_is_called(server, settings):
    settings.PROLIFIC_TOKEN = ""
    with pytest.raises(MarketRefused, match="set PROLIFIC_TOKEN"):
        market_for("prolific").check()
    settings.SITE_URL = ""
    with pytest.raises(MarketRefused, match="set SITE_URL"):
        market_for("prolific").check()
    assert server.contract.calls == []


def test_a_closed_port_is_said_to_be_unreachable(settings, server):
    settings.PROLIFIC_URL = "http://127.0.0.1:9"
    settings.PROLIFIC_ALLOWED_URLS = ["http://127.0.0.1:9"]
    with pytest.raises(MarketUnreachable, match="can't be reached"):
        market_for("prolific").check()


def test_the_token_is_never_logged_or_shown(server, market, caplog):
    caplog.set_level(logging.DEBUG)
    server.fail("GET", "/users/me/", 400)
    with pytest.raises(MarketRefused) as refusal:
        market.check()
    assert "status 400" in caplog.text
    assert TOKEN not in caplog.text + str(refusal.value) + repr(market.__dict__)


def with_terms(posting: Posting, **terms) -> Posting:
    Batch.objects.filter(pk=posting.batch_id).update(terms={**TERMS, **terms})
    posting.batch.refresh_from_db()
    return posting


def test_devices_and_prescreeners_go_out_as_prolifics_own_filters(market, posting, server):
    lines = ["age: 18-65", "current-country-of-residence: ireland, 1"]
    market.post(with_terms(posting, devices=["desktop"], prescreeners=lines))
    [study] = server.contract.studies.values()
    assert study["device_compatibility"] == ["desktop"]
    assert study["filters"] == [
        {"filter_id": "age", "selected_range": {"lower": 18, "upper": 65}},
        {"filter_id": "current-country-of-residence", "selected_values": ["2", "1"]},
    ]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("ages: 18-65", "Prolific has no filter “ages”; near it: age"),
        ("age: 65-18", "write two numbers from 18 to 100"),
        ("age: 9-20", "write two numbers from 18 to 100"),
        ("current-country-of-residence: Atlantis", "has no choice “Atlantis”; it has United Kingdom"),
    ],
)
def test_a_prescreener_that_prolific_does_not_know_is_told_before_the_launch(market, posting, line, sentence):
    [problem] = market.problems(posting.batch, {**TERMS, "prescreeners": [line]})
    assert sentence in problem


def test_a_studys_own_token_is_kept_encrypted_and_goes_before_the_sites(server, posting, settings):
    study, user = posting.batch.study, make_member(posting.batch.study, Role.ADMIN)
    settings.PROLIFIC_TOKEN = "the-token-of-the-site"
    with pytest.raises(MarketRefused):
        market_for("prolific", study).check()
    keep_token(study, "prolific", TOKEN, user)
    market_for("prolific", study).check()
    row = MarketToken.objects.get()
    assert TOKEN not in row.secret
    assert row.ending == TOKEN[-4:]
    settings.PROLIFIC_TOKEN = ""
    with pytest.raises(MarketRefused, match="There is no token for Prolific"):
        market_for("prolific", make_study()).check()
    settings.SECRET_KEY = "another"
    with pytest.raises(MarketRefused, match="can't be read"):
        market_for("prolific", study).check()


def test_the_launch_page_keeps_a_token_and_never_shows_it(server, posting, client, caplog):
    batch = posting.batch
    client.force_login(make_member(batch.study, Role.ADMIN))
    address = reverse("launch", args=[batch.study.slug, batch.pk])
    assert client.post(address, {"action": "keep-token", "token": TOKEN}).status_code == 302
    page = client.get(address).content.decode()
    assert f"ends in {TOKEN[-4:]}" in page
    assert TOKEN not in page
    assert not any(TOKEN in str(event.facts) for event in AuditEvent.objects.all())
    assert client.post(address, {"action": "keep-token", "token": "a b"}).status_code == 409
    assert MarketToken.objects.get().ending == TOKEN[-4:]
    client.post(address, {"action": "remove-token"})
    assert not MarketToken.objects.exists()
