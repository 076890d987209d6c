"""The simulated crowd: known characters with a seed, at work over HTTP on the market's pages, and found out."""

import json
import threading
from collections import Counter
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from analysis.errors import place_agreement, read_marks
from annotation.common.errors import Refused
from annotation.crowds.markets.mturk import MTurk
from annotation.crowds.terms import Terms, set_terms
from annotation.crowds.terms.requirements import approved_at_least
from annotation.guidance import give_defaults
from annotation.models import (
    Assignment,
    Batch,
    Consent,
    Entry,
    Judgment,
    PracticeItem,
    PracticePlan,
    PracticeRun,
    Study,
    Submission,
    Summary,
    Worker,
)
from annotation.rehearsal.browser import Browser, Unreachable
from annotation.rehearsal.characters import CHARACTERS, parse_crowd, people_of
from annotation.rehearsal.marks import mark_simulated
from annotation.rehearsal.pages import Page
from annotation.rehearsal.rehearsal import rehearse
from annotation.rehearsal.report import as_json, markdown, terminal, write_report
from annotation.rehearsal.stage import Plan, copy_study, plan_like, prepare
from annotation.rehearsal.truth import Truth
from annotation.rehearsal.worker import password_of
from annotation.studies.batches import create_batch
from annotation.studies.selection import Selection
from annotation.tables.frames import judgments_frame
from tests.annotation.crowds.conftest import TERMS
from tests.factories import make_study

CROWD = "careful=2,always-yes=1,random=1,abandoning=1,double-clicking=1"
SEED = 6


@pytest.fixture
def site(desk, live_server, settings, request):
    """The market and our site on sockets, each knowing the other; the simulated people have accounts already."""
    settings.SITE_URL = live_server.url
    settings.MARKET_ORIGINS = [desk.market.url]
    enlist(desk, CROWD, getattr(request, "param", SEED))
    return desk


def enlist(desk, crowd: str, seed: int) -> None:
    for person in people_of(parse_crowd(crowd), seed):
        desk.ask("account", name=person.name, password=password_of(person.name))


@pytest.mark.django_db(transaction=True)
def test_a_rehearsal_from_launch_to_report_balances_to_the_cent_and_finds_the_planted(
    site, tmp_path: Path, monkeypatch
):
    study = make_study(documents=1, systems=4, units=8)
    # HITs go up and people come one after the other, so that who gets which task follows from the seed; the double
    # clicks come at once anyway.
    monkeypatch.setattr(MTurk, "calls_at_once", 1)
    run = rehearse(Plan(study, seed=SEED, crowd=CROWD, quota=3, duration_seconds=600, at_once=1))
    batch, books = Batch.objects.select_related("study").get(pk=run.batch.pk), site.books
    # Every place was worked over HTTP, collected, and judged; answers that the filter lost were asked for again.
    assert {record.person.name: record.problem for record in run.worked if record.problem} == {}
    assert run.approved == 12
    assert run.rejected == run.topped_up > 0
    assert Assignment.objects.counted().filter(task__batch=batch).count() == 12
    # The report says which planted workers were caught, at what cost, with which seed.
    assert {verdict.character for verdict in run.findings.caught} == {"always-yes", "random"}
    assert run.findings.missed == []
    assert run.findings.wronged == []
    assert run.findings.kept_from_planted_cents == 20 * run.rejected  # what they would have got, without fees
    assert sum(verdict.paid_cents for verdict in run.findings.verdicts) == books["paid"]
    text = markdown(run)
    assert f"| Seed | {SEED} |" in text
    assert "2 of 2 planted workers were caught; no good worker was dropped." in text
    # The ledger balances with the market's books: with its lists, its balance, and its own transfers.
    assert run.books.balanced
    assert run.books.ledger.rewards + run.books.ledger.bonuses == books["paid"]
    assert run.books.ledger.fees == books["fees"]
    assert run.books.ledger.held == books["held"] == 0
    assert run.books.balance_change == 1_000_00 - books["available"] == batch.study.committed_cents
    assert not batch.entries.exclude(state=Entry.State.SETTLED).exists()
    states = Counter(books["assignments"].values())
    assert (states["Approved"], states["Rejected"], states["Accepted"]) == (12, run.rejected, 0)
    assert states["Returned"] == sum(record.count("returned") for record in run.worked) > 0
    assert batch.state == Batch.State.CLOSED
    # Everybody is marked as simulated: in tables and exports by the pseudonym, on admins' pages by the name.
    workers = list(Worker.objects.filter(study=batch.study))
    assert all(worker.pseudonym.startswith("sim-") for worker in workers)
    assert all(worker.known_as == f"{worker.external_id} (simulated)" for worker in workers)
    assert len(workers) >= 5
    # Double clicks changed nothing; the study itself was not touched.
    assert Judgment.objects.filter(is_current=True).values("assignment", "summary", "unit").distinct().count() == (
        Judgment.objects.count()
    )
    assert not Judgment.objects.filter(assignment__task__batch__study=study).exists()
    facts = json.loads((write_report(run, tmp_path)[2]).read_text())
    assert facts["books"]["balanced"]
    assert facts["caught"] == as_json(run)["caught"]
    assert any("always-yes" in line and "checks" in line for line in terminal(run))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("question", "seed"), [("external", 11), ("html", 12)])
def test_a_rehearsal_of_pairs_on_the_site_and_as_a_form_in_the_market(
    desk, live_server, settings, monkeypatch, question, seed
):
    """3 documents with 3 pairs and a check pair each, by two people: 24 answers."""
    settings.SITE_URL, settings.MARKET_ORIGINS = live_server.url, [desk.market.url]
    monkeypatch.setattr(MTurk, "calls_at_once", 1)
    never_errs = replace(CHARACTERS["careful"], attention=1.0, skill=1.0)  # an error in three checks is one too many
    monkeypatch.setitem(CHARACTERS, "careful", never_errs)
    study, crowd = make_study(documents=3, systems=3), "careful=2,random=1"
    enlist(desk, crowd, seed)
    plan = Plan(study, seed=seed, crowd=crowd, protocol="preference", quota=2, duration_seconds=600, at_once=1)
    run = rehearse(replace(plan, question=question))
    assert {record.person.name: record.problem for record in run.worked if record.problem} == {}
    assert run.books.balanced
    rows = Judgment.objects.filter(assignment__task__batch=run.batch, is_current=True)
    assert set(rows.values_list("position", flat=True)) == {1, 2}
    checks = rows.filter(is_check=True)
    assert checks.exists()
    assert {row.extra["expected"] for row in checks} == {1}
    careful = [verdict for verdict in run.findings.verdicts if verdict.character == "careful"]
    assert all(verdict.right is not None and verdict.right >= 0.8 for verdict in careful)
    assert run.findings.wronged == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("question", "seed"), [("external", 13), ("html", 14)])
def test_a_rehearsal_of_marked_errors_on_the_site_and_as_a_form_in_the_market(
    desk, live_server, settings, monkeypatch, question, seed
):
    """On our page the careful mark the same words, give or take one; a form in the market asks for no places."""
    settings.SITE_URL, settings.MARKET_ORIGINS = live_server.url, [desk.market.url]
    monkeypatch.setattr(MTurk, "calls_at_once", 1)
    study, crowd = make_study(documents=2, systems=2), "careful=2"
    enlist(desk, crowd, seed)
    plan = Plan(study, seed=seed, crowd=crowd, protocol="errors", quota=2, duration_seconds=600, at_once=1)
    run = rehearse(replace(plan, question=question))
    assert {record.person.name: record.problem for record in run.worked if record.problem} == {}
    assert run.books.balanced
    rows = Judgment.objects.filter(assignment__task__batch=run.batch, is_current=True)
    assert rows.count() == 2 * 2 * 2 * 9
    marks = [mark for row in rows for mark in (row.extra or {}).get("spans", [])]
    assert marks
    placed = [mark for mark in marks if "start" in mark]
    assert bool(placed) == (question == "external")
    assert all(
        verdict.right is not None and verdict.right >= 0.8 for verdict in run.findings.verdicts if verdict.worker
    )
    if question == "external":
        results = place_agreement(read_marks(judgments_frame(run.batch.study)), ci=0)
        assert results[0].value > 0.5


def test_the_same_seed_gives_the_same_people_answers_and_truth():
    first, second = (people_of(parse_crowd("careful=3,random=2"), 9) for _ in range(2))
    assert first == second
    assert first != people_of(parse_crowd("careful=3,random=2"), 10)
    values = [0.0, 1.0]
    for person in first:
        assert person.answer(1.0, values, "text", "unit") == person.answer(1.0, values, "text", "unit")
    assert Truth(3).of("a summary", "a fact", values) == Truth(3).of("a  summary ", "a fact", values)
    assert Truth(3).of("a summary", "BLANK", values) == 0.0


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [("careful", 0.95, 1), ("average", 0.85, 0.98), ("random", 0.4, 0.6), ("always-yes", 0.4, 0.6)],
)
def test_characters_are_as_good_as_they_are_said_to_be(kind, low, high):
    [person] = people_of({kind: 1}, 1)
    values = [0.0, 1.0]
    is_right = [person.answer(truth := float(n % 2), values, n) == truth for n in range(1000)]
    assert low <= sum(is_right) / 1000 <= high
    if kind == "always-yes":
        assert {person.answer(0.0, values, n) for n in range(50)} == {1.0}


def test_a_crowd_of_unknown_people_is_refused_with_the_known_kinds():
    with pytest.raises(Refused, match="“lazy=3” is no part of a crowd") as refusal:
        parse_crowd("careful=2,lazy=3")
    assert all(name in str(refusal.value) for name in CHARACTERS)


def test_a_page_is_read_as_a_worker_sees_it():
    page = Page.read(
        "http://market/work/1/",
        200,
        """<div class="prose">The ferry runs.</div><form action="/w/t/x/"><input type="hidden" name="k" value="v">
        <fieldset data-field="q1"><legend>It runs &amp; runs.</legend><input type="radio" name="answer:q1" value="1">
        <input type="radio" name="answer:q1" value="0"></fieldset></form><iframe src="http://site/w/"></iframe>
        <script type="application/json" id="work-config">{"submitKey": "abc"}</script>""",
    )
    [item] = page.items
    assert (item.field, item.unit, item.text, item.values) == ("q1", "It runs & runs.", "The ferry runs.", [1.0, 0.0])
    assert page.frames == ["http://site/w/"]
    assert page.forms[0].fields == {"k": "v"}
    assert page.config == {"submitKey": "abc"}


class CookieServer(BaseHTTPRequestHandler):
    """Sets a cookie on a page that sends on to one that says which cookies came."""

    def do_GET(self) -> None:
        self.send_response(302 if self.path == "/" else 200)
        self.send_header("Location", "/told")
        self.send_header("Set-Cookie", "seen=yes")
        self.end_headers()
        self.wfile.write((self.headers["Cookie"] or "none").encode())

    def log_message(self, *_words: object) -> None:
        pass


@pytest.mark.parametrize(("cookies", "cookie"), [(True, "seen=yes"), (False, "none")])
def test_a_frame_of_another_site_gets_no_cookies_and_sends_none(cookies, cookie):
    server = HTTPServer(("127.0.0.1", 0), CookieServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser, address = Browser(cookies=cookies), f"http://127.0.0.1:{server.server_port}/"
    assert [browser.get(address).body for _visit in range(2)] == [cookie, cookie]
    server.shutdown()
    server.server_close()
    with pytest.raises(Unreachable, match="doesn't answer"):
        browser.get(address)


@pytest.mark.django_db
def test_the_command_says_what_stands_in_the_way(settings):
    with pytest.raises(CommandError, match="There is no study named 'none'") as error:
        call_command("simulate", "none")
    assert error.value.returncode == 2
    make_study(name="tiny")
    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:9"
    settings.MTURK_ALLOWED_ENDPOINTS = ["http://127.0.0.1:9"]
    settings.MTURK_ACCESS_KEY_ID = settings.MTURK_SECRET_ACCESS_KEY = "x"
    settings.MTURK_ATTEMPTS, settings.MTURK_TIMEOUT_SECONDS = 1, 1
    with pytest.raises(CommandError) as error:
        call_command("simulate", "tiny")
    assert error.value.returncode == 2
    assert Study.objects.count() == 1  # nothing was copied, nothing was begun
    assert not Submission.objects.exists()
    assert not Worker.objects.exists()


@pytest.mark.django_db
def test_outside_the_demo_it_asks_before_it_spends(settings):
    make_study(name="tiny")
    settings.DEMO = False
    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:9"
    for words in ([], ["--batch", "Batch"]):
        with pytest.raises(CommandError, match=r"This is no demo.*Nothing was begun: .* add --yes") as error:
            call_command("simulate", "tiny", *words)
        assert error.value.returncode == 2
    with pytest.raises(CommandError, match="There is no published batch"):
        call_command("simulate", "tiny", "--batch", "Batch", "--yes")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("budget", "sentence"), [(0, "Nothing of the study's budget is left"), (100, "only 1.00 of the study's budget")]
)
def test_a_rehearsal_keeps_to_the_studys_budget_and_leaves_nothing_behind(desk, budget, sentence):
    study = make_study(documents=1, systems=4, units=2)
    Study.objects.filter(pk=study.pk).update(budget_cents=budget)
    with pytest.raises(Refused, match=sentence):
        rehearse(Plan(study, seed=SEED, crowd=CROWD, quota=3))  # 12 places at 24 cents
    assert (desk.books["hits"], desk.books["held"]) == ([], 0)
    assert Study.objects.count() == 1


@pytest.mark.django_db
def test_a_simulated_person_stays_marked_through_an_export():
    study = make_study()
    worker = mark_simulated(study, "mturk", "A123")
    assert mark_simulated(study, "mturk", "A123").pk == worker.pk
    assert make_study().pseudonym(Worker.IMPORTED, worker.pseudonym) == worker.pseudonym


@pytest.mark.django_db
def test_a_batch_is_rehearsed_with_its_own_options_and_reward():
    study = make_study(documents=3, systems=2)
    options = {"order": "random", "seed": 4, "checks": {"blank": 1, "foreign": 0}}
    batch = create_batch(study, "Mine", "litepyramid", 2, options, judged=Selection(systems=["system0"]))
    batch.terms = {"reward_cents": 35, "question": "html"}
    batch.save()
    plan = plan_like(Plan(study, like=batch))
    assert (plan.quota, plan.reward_cents, plan.question) == (2, 35, "html")
    rehearsed, terms = prepare(plan, copy_study(study, 0))
    assert rehearsed.tasks.count() == 3
    assert {name: rehearsed.options[name] for name in options} == {**options, "checks": {"blank": 1, "foreign": 0}}
    assert terms.reward_cents == 35


@pytest.mark.django_db
def test_its_terms_are_the_batchs_own_but_for_who_may_come_and_how_long():
    study = make_study(documents=2, systems=1)
    batch = create_batch(study, "Mine", "litepyramid", 1)
    own_terms = {**TERMS, "reward_cents": 35, "requirements": [approved_at_least(5001)], "minutes": 7}
    set_terms(batch, Terms.parse(own_terms), "mturk")
    _batch, terms = prepare(plan_like(Plan(study, like=batch, duration_seconds=90)), copy_study(study, 0))
    assert terms.title.endswith(f": {TERMS['title']}")
    assert (terms.description, terms.keywords, terms.minutes) == (TERMS["description"], TERMS["keywords"], 7)
    assert (terms.auto_approve_seconds, terms.duration_seconds, terms.requirements) == (86400, 90, [])


def practise(study: Study) -> None:
    """A tutorial of two items and a test of four, two tries, all of it must be right."""
    summaries = list(Summary.objects.filter(document__study=study).order_by("pk"))
    plan = PracticePlan.objects.create(
        study=study, protocol="litepyramid", tutorial="required", test_required=True, pass_mark=1, tries=2
    )
    for kind, n_items in (("tutorial", 2), ("test", 4)):
        for n in range(n_items):
            facts = {"summary": summaries[n % len(summaries)], "question": f"Fact {n} of the {kind}."}
            PracticeItem.objects.create(plan=plan, kind=kind, order=n, expected=float(n % 2), reason="So.", **facts)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("site", [SEED + 1], indirect=True)
def test_a_batch_is_rehearsed_with_its_consent_tutorial_and_test(site, monkeypatch):
    study = make_study(documents=2, systems=2, units=4)
    give_defaults(study)
    practise(study)
    batch = create_batch(study, "Mine", "litepyramid", 3, {"checks": {"blank": 1}})
    set_terms(batch, Terms.parse(TERMS), "mturk")
    monkeypatch.setattr(MTurk, "calls_at_once", 1)
    run = rehearse(Plan(study, seed=SEED + 1, crowd=CROWD, duration_seconds=600, at_once=1, like=batch))
    assert {record.person.name: record.problem for record in run.worked if record.problem} == {}
    copy = run.batch.study
    people = {verdict.name: verdict for verdict in run.findings.verdicts}
    # Everybody who came agreed, and did the tutorial; who works has passed the test, who says yes to all has not.
    tries = PracticeRun.objects.filter(plan__study=copy)
    workers = Worker.objects.filter(study=copy)
    assert (
        tries.filter(kind="tutorial").count() == Consent.objects.filter(worker__study=copy).count() == workers.count()
    )
    [yes] = [verdict for verdict in people.values() if verdict.character == "always-yes"]
    assert (yes.not_admitted, yes.handed_in, yes.paid_cents) == (True, 0, 0)
    assert list(tries.filter(kind="test", worker__pseudonym=yes.worker).values_list("passed", flat=True)) == [False] * 2
    at_work = {verdict.worker for verdict in people.values() if verdict.handed_in}
    passed = set(tries.filter(kind="test", passed=True).values_list("worker__pseudonym", flat=True))
    assert at_work
    assert at_work <= passed
    assert yes in run.findings.kept_out
    assert "The test kept out" in markdown(run)
    assert (
        Assignment.objects.counted().filter(task__batch=run.batch).count() == 12
    )  # two documents, two systems, thrice
    assert run.books.balanced
    assert run.batch.study.batches.get().state == Batch.State.CLOSED


@pytest.mark.django_db
def test_a_run_that_fails_leaves_nothing_behind(desk, monkeypatch):
    study = make_study(documents=1, systems=1)

    def fail(*_):
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr("annotation.rehearsal.rehearsal.truth_of", fail)
    with pytest.raises(RuntimeError):
        rehearse(Plan(study))
    assert list(Study.objects.all()) == [study]
