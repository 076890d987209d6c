"""The researcher's way for programs: from four files to paid, closed batches and an export, over the API alone.

The market is a process of its own; its workers take the HITs and hand in there.
"""

import csv
import io
from importlib import import_module
from typing import Any

import pytest

from annotation.accounts.api_tokens import issue_token
from annotation.crowds.ledger import set_budget
from annotation.models import AuditEvent, Batch, Entry, Job, Role, Study
from tests.annotation.api.test_api import Caller, caller
from tests.annotation.api.test_examples import EXAMPLES
from tests.annotation.crowds.conftest import TERMS, desk, live_market, make_crowd_batch  # noqa: F401
from tests.annotation.crowds.crashes import form_answers
from tests.browser.test_researchers_way import write_files
from tests.factories import make_study, make_user

pytestmark = pytest.mark.django_db(transaction=True)
FOCUS = {"name": "Focus", "title": "Focus", "definition": "Says one thing.", "low": "wanders", "high": "stays"}
PILOTS = {
    "Ratings": ("likert", {"dimensions": ["fluency", FOCUS], "group_size": 2}),
    "Pyramid": ("litepyramid", {"checks": {"blank": 1, "foreign": 1}, "order": "random"}),
}
OFFER = {"crowd": "mturk", "terms": {**TERMS, "question": "html"}}
EVERYTHING = ("read", "write", "admin", "pay")


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.EXPORT_ROOT = str(tmp_path / "site")


def post(program: Caller, path: str, body: dict[str, Any], key: str = "", status: int = 202) -> dict[str, Any]:
    answer = program.call("post", path, body, **({"Idempotency_Key": key} if key else {}))
    assert answer.status_code == status, answer.content
    return answer.json()


def send_files(token: str, tmp_path) -> dict[str, Any]:
    sent = tmp_path / "sent"
    sent.mkdir()
    maker = Caller(token, Study())
    files = [path.open("rb") for path in write_files(sent)]
    answer = maker.http.post(
        "/api/v1/imports", {"name": "Four files", "files": files}, headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.status_code == 202, answer.content
    return answer.json()


def made(program: Caller, name: str) -> Batch:
    protocol, options = PILOTS[name]
    body = {"name": name, "protocol": protocol, "quota": 2, "options": options, "judged": {"pilot": 1, "seed": 3}}
    return Batch.objects.get(pk=post(program, "/batches", body, status=201)["id"])


def work(desk, batch: Batch) -> None:  # noqa: F811
    """Two people on the market take every HIT; the second answers otherwise."""
    values = ("1", "0" if batch.protocol == "litepyramid" else "5")
    for worker, value in zip(desk.ask("workers", count=2), values, strict=True):
        for posting in batch.postings.select_related("task__batch"):
            desk.ask("work", hit_id=posting.market_id, worker_id=worker, answers=form_answers(posting.task, value))


def launch(program: Caller, batch: Batch) -> None:
    price = post(program, f"/batches/{batch.pk}/quote", OFFER, status=200)
    assert price["problems"] == []
    assert price["total_cents"] == 12 * price["places"]  # 10 cents, and 2 of fees
    dear = {**OFFER, "most_cents": price["total_cents"] - 1}
    refusal = post(program, f"/batches/{batch.pk}/launch", dear, key=f"dear {batch.pk}".replace(" ", "-"), status=409)
    assert "Nothing was spent." in refusal["detail"]
    assert not batch.entries.exists()
    body = {**OFFER, "most_cents": price["total_cents"]}
    jobs = {post(program, f"/batches/{batch.pk}/launch", body, key=f"launch-{batch.pk}")["id"] for _ in range(2)}
    assert len(jobs) == 1
    assert Job.objects.get(pk=jobs.pop()).state == "done"


def test_from_four_files_to_paid_closed_batches_and_an_export(desk, tmp_path):  # noqa: F811
    boss = make_user("boss")
    boss.is_superuser = True
    boss.save()
    token = issue_token(boss, "program", EVERYTHING, 30).token
    look = send_files(token, tmp_path)
    assert look["asks"]
    assert {table["kind"]: table["separator"] for table in look["tables"]}["summaries"] == ";"
    assert Study.objects.count() == 0
    reading = post(Caller(token, Study()), f"/api/v1/imports/{look['id']}/read", {})
    assert (reading["state"], reading["problems"], reading["study"]) == ("done", [], "four-files")
    program = Caller(token, Study.objects.get())
    assert Study.objects.get().guidance.filter(kind="consent", written_by=boss).exists()  # a default text
    batches = [made(program, name) for name in PILOTS]
    for batch in batches:
        launch(program, batch)
        work(desk, batch)
        post(program, f"/batches/{batch.pk}/collect", {})
        progress = program.get(f"/batches/{batch.pk}/progress").json()
        assert progress["submitted"] == progress["places"] > 0
    decision = program.call("post", "/filters", {"rules": ["checks"]})
    assert decision.status_code == 201, decision.content
    for batch in batches:
        judge_and_pay(program, batch)
        assert program.call("patch", f"/batches/{batch.pk}", {"state": "closed"}).status_code == 202
        assert program.get(f"/batches/{batch.pk}").json()["state"] == "closed"
    check_money(desk)
    check_export(program)
    actions = set(AuditEvent.objects.filter(study__slug="four-files").values_list("action", flat=True))
    expected = {"launch_batch", "collect_batch", "post_verdicts", "post_bonuses"}
    assert {f"POST api:{name}" for name in expected} | {"POST new-study"} <= actions


def judge_and_pay(program: Caller, batch: Batch) -> None:
    """Reject what the last worker handed in, approve the rest, and pay each of those a bonus."""
    rows = program.get(f"/submissions?batch={batch.pk}&state=submitted").json()["items"]
    assert all(row["tasks"] == row["promised"] == 1 for row in rows)
    last = rows[-1]["worker_id"]
    rejected = [row["id"] for row in rows if row["worker_id"] == last]
    approved = [row["id"] for row in rows if row["worker_id"] != last]
    path, cents = f"/batches/{batch.pk}", 12 * len(approved)
    verdict = {"verdict": "reject", "submissions": rejected, "reason": "All answers are the same.", "most_cents": 0}
    post(program, f"{path}/verdicts", verdict, key=f"reject-{batch.pk}")
    mixed = {"verdict": "approve", "submissions": [*approved, *rejected], "most_cents": 1000}
    refusal = post(program, f"{path}/verdicts", mixed, key=f"mixed-{batch.pk}", status=409)
    assert str(rejected[0]) in refusal["detail"]
    verdict = {"verdict": "approve", "submissions": approved, "most_cents": cents}
    post(program, f"{path}/verdicts", verdict, key=f"approve-{batch.pk}")
    bonus = {"submissions": approved, "cents": 50, "reason": "Careful work.", "most_cents": 60 * len(approved)}
    for _ in range(2):
        post(program, f"{path}/bonuses", bonus, key=f"bonus-{batch.pk}")
    rows = program.get(f"/submissions?batch={batch.pk}").json()["items"]
    assert {row["state"] for row in rows if row["id"] in rejected} == {"rejected"}
    assert {(row["state"], row["bonus_cents"]) for row in rows if row["id"] in approved} == {("approved", 50)}


def check_money(desk) -> None:  # noqa: F811
    """4 HITs: three texts to rate, at most two in a group, and two summaries. Of each one hand-in is approved."""
    assert (desk.books["paid"], desk.books["fees"], desk.books["held"]) == (4 * (10 + 50), 4 * (2 + 10), 0)
    assert [bonus[1:] for bonus in desk.books["bonuses"]] == [[50, "Careful work."]] * 4
    assert not Entry.objects.filter(state__in=["planned", "doubtful"]).exists()
    assert Study.objects.get().committed_cents == 4 * (12 + 60)


def check_export(program: Caller) -> None:
    ordered = program.call("post", "/exports", {"tables": ["judgments"], "form": "csv"})
    assert ordered.status_code == 202, ordered.content
    file = program.get(f"/exports/{ordered.json()['key']}/files/judgments.csv")
    content = b"".join(file.streaming_content) if file.streaming else file.content
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert {row["batch"] for row in rows} == set(PILOTS)
    assert "Focus" in {row["unit"] for row in rows}
    assert len({row["unit"] for row in rows if row["is_check"] in ("1", "true", "True")}) == 2


# What a batch is refused


def test_options_and_ranges_that_do_not_exist_are_refused():
    program = caller(make_study(documents=3, systems=2))
    wrong = {"name": "x", "protocol": "litepyramid", "quota": 1}
    post(program, "/batches", {**wrong, "options": {"chekcs": 1}}, status=409)
    for words in ({"high": "0.5"}, {"low": True}, {"heigh": 0.5}):
        post(program, "/batches", {**wrong, "judged": {"metric": "m", **words}}, status=422)


# Money needs its own right, its own key, and all of it or none


@pytest.fixture
def handed_in(desk):  # noqa: F811
    """A batch with two hand-ins on the live market, and a program that may pay."""
    batch = make_crowd_batch(documents=1, quota=2, question="html")
    program = caller(batch.study, scopes=EVERYTHING)
    terms = {"crowd": "mturk", "terms": batch.terms, "most_cents": 24}
    post(program, f"/batches/{batch.pk}/launch", terms, key="go")
    work(desk, batch)
    post(program, f"/batches/{batch.pk}/collect", {})
    return batch, program, [row["id"] for row in program.get("/submissions").json()["items"]]


def test_spending_needs_the_scope_and_the_role(handed_in):
    batch, _program, ids = handed_in
    requests = {
        "launch": {**OFFER, "most_cents": 24},
        "verdicts": {"verdict": "approve", "submissions": ids, "most_cents": 24},
        "bonuses": {"submissions": ids, "cents": 5, "reason": "Thanks.", "most_cents": 100},
    }
    for program in (
        caller(batch.study, scopes=("read", "write", "admin")),
        caller(batch.study, Role.ANALYST, scopes=EVERYTHING),
        caller(batch.study, Role.ANNOTATOR, scopes=EVERYTHING),
    ):
        for path, body in requests.items():
            post(program, f"/batches/{batch.pk}/{path}", body, key="k", status=403)
    stranger = Caller(issue_token(make_user(), "x", EVERYTHING, 7).token, batch.study)
    post(stranger, f"/batches/{batch.pk}/bonuses", requests["bonuses"], key="k", status=404)
    assert caller(batch.study, Role.ANALYST).get("/submissions").status_code == 403
    assert not batch.entries.filter(kind__in=["approve", "bonus"]).exists()


def test_a_key_stands_for_one_request(handed_in, desk):  # noqa: F811
    batch, program, ids = handed_in
    bonus = {"submissions": ids, "cents": 5, "reason": "Thanks.", "most_cents": 100}
    path = f"/batches/{batch.pk}/bonuses"
    post(program, path, bonus, status=422)  # without a key
    job = post(program, path, bonus, key="once")
    assert post(program, path, bonus, key="once")["id"] == job["id"]
    refusal = post(program, path, {**bonus, "cents": 6}, key="once", status=409)
    assert refusal["type"].endswith("key-taken")
    post(
        program,
        f"/batches/{batch.pk}/verdicts",
        {"verdict": "undo", "submissions": ids, "most_cents": 100},
        "once",
        409,
    )
    post(program, path, bonus, key="another")  # the same sum for the same reason is paid once all the same
    assert [bonus[1] for bonus in desk.books["bonuses"]] == [5, 5]
    other = caller(make_study(), scopes=EVERYTHING)
    assert (
        other.call("post", path, bonus, Idempotency_Key="once").status_code == 404
    )  # another study's keys are its own


def test_bonuses_beyond_the_budget_or_the_balance_are_paid_to_nobody(handed_in, desk):  # noqa: F811
    batch, program, ids = handed_in
    path = f"/batches/{batch.pk}/bonuses"
    set_budget(batch.study, 24 + 11)  # one bonus of 5 with its fee fits, two don't
    body = {"submissions": ids, "cents": 5, "reason": "Thanks.", "most_cents": 100}
    assert "budget" in post(program, path, body, key="a", status=409)["detail"]
    set_budget(batch.study, None)
    dear = {**body, "cents": 600_00, "most_cents": 10**6}  # each fits the account, both together don't
    assert "account on the market" in post(program, path, dear, key="b", status=409)["detail"]
    assert desk.books["bonuses"] == []
    assert not batch.entries.filter(kind="bonus").exists()
    assert not Job.objects.filter(kind="bonus").exists()


def test_a_rejection_can_be_taken_back(handed_in, desk):  # noqa: F811
    batch, program, ids = handed_in
    path = f"/batches/{batch.pk}/verdicts"
    no = {"verdict": "reject", "submissions": ids[:1], "reason": "Too fast to be read.", "most_cents": 0}
    post(program, path, no, key="no")
    post(program, path, {"verdict": "undo", "submissions": ids, "most_cents": 100}, key="both", status=409)
    post(program, path, {"verdict": "undo", "submissions": ids[:1], "most_cents": 11}, key="dear", status=409)
    post(program, path, {"verdict": "undo", "submissions": ids[:1], "most_cents": 12}, key="yes")
    assert desk.books["paid"] == 10
    assert program.get("/submissions").json()["items"][0]["state"] == "approved"


def test_what_came_of_payments_names_workers_only_with_the_scope_for_it(handed_in):
    batch, program, ids = handed_in
    body = {"submissions": ids, "cents": 5, "reason": "Thanks.", "most_cents": 100}
    job = post(program, f"/batches/{batch.pk}/bonuses", body, key="k")["id"]
    external_id = batch.postings.get().submissions.first().worker.external_id
    assert external_id in program.get(f"/jobs/{job}").json()["message"]
    for scopes in (("read",), ("read", "write", "pay")):
        assert caller(batch.study, scopes=scopes).get(f"/jobs/{job}").json()["message"] == ""


def test_the_client_of_the_docs_spends_once(handed_in, live_server, monkeypatch):
    batch, program, ids = handed_in
    monkeypatch.syspath_prepend(str(EXAMPLES))
    client = import_module("client")
    study = client.Client(live_server.url, program.token).study(batch.study.slug)
    assert [row["id"] for row in study.submissions(batch=batch.pk, state="submitted")] == ids
    for _ in range(2):
        job = study.spend(batch.pk, "bonuses", "b", 100, submissions=ids, cents=5, reason="Thanks.")
        assert job["state"] == "done"
    assert Job.objects.filter(kind="bonus").count() == 1
    with pytest.raises(client.ApiError, match="409: This costs"):
        study.spend(batch.pk, "verdicts", "v", 23, submissions=ids, verdict="approve")


# Files


def test_only_who_may_make_studies_sends_files(tmp_path):
    study = make_study()
    admin = caller(study, scopes=EVERYTHING)
    for program, status in (
        (admin, 202),
        (caller(study, Role.ANALYST), 403),
        (Caller(issue_token(make_user(), "x", EVERYTHING, 7).token, study), 403),
        (caller(study, scopes=("read",)), 403),
    ):
        file = io.BytesIO(b"doc_id,source\n1,A text.\n")
        file.name = "documents.csv"
        headers = {"Authorization": f"Bearer {program.token}"}
        answer = program.http.post(
            "/api/v1/imports", {"name": "New", "files": [file], "check": "true"}, headers=headers
        )
        assert answer.status_code == status, answer.content
    assert admin.call("post", "/api/v1/imports", {"name": "x"}).status_code == 415
    job = Job.objects.get(kind="import")
    assert "summaries.csv" in admin.get(f"/api/v1/imports/{job.pk}").json()["problems"][0]
    assert caller(study).get(f"/api/v1/imports/{job.pk}").status_code == 404  # somebody else's
    assert Study.objects.count() == 1


def test_a_token_for_one_study_makes_no_other(tmp_path):
    study = make_study()
    admin = caller(study)
    bound = issue_token(study.memberships.get().user, "x", EVERYTHING, 7, study).token
    assert Caller(bound, study).call("post", "/api/v1/imports/1/read", {}).status_code == 403
    assert admin.call("post", "/api/v1/imports/1/read", {}).status_code == 404
