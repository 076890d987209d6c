"""The API as programs meet it: tokens, roles, pages, conditions, limits, and an answer for everything that's wrong."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from annotation.accounts.api_tokens import issue_token
from annotation.api.urls import api
from annotation.common import clock
from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import (
    ApiToken,
    Batch,
    FilterDecision,
    Job,
    Membership,
    Role,
    Score,
    Study,
    Summary,
    Worker,
)
from annotation.protocols import PROTOCOLS
from annotation.protocols import of as protocol_of
from annotation.protocols.likert import Likert
from tests.factories import make_batch, make_member, make_study, make_user, make_worker

pytestmark = pytest.mark.django_db

PROBLEM = "application/problem+json"


class Caller:
    """A program with a token."""

    def __init__(self, token: str, study: Study) -> None:
        self.http, self.token, self.base = Client(), token, f"/api/v1/studies/{study.slug}"

    def call(self, method: str, path: str, data=None, **headers):
        address = path if path.startswith("/api") else f"{self.base}{path}"
        named_headers = {name.replace("_", "-"): value for name, value in headers.items()}
        send = getattr(self.http, method)
        body = {} if data is None else {"data": data, "content_type": "application/json"}
        return send(address, headers={"Authorization": f"Bearer {self.token}", **named_headers}, **body)

    def get(self, path: str, **headers):
        return self.call("get", path, **headers)


def caller(study: Study, role: str = Role.ADMIN, scopes=("read", "write", "admin")) -> Caller:
    return Caller(issue_token(make_member(study, role), "test", scopes, 30).token, study)


def judge(study: Study, workers: int = 2) -> Batch:
    """Every summary judged by some workers; the last one says no to everything."""
    batch = make_batch(study, quota=workers)
    for n, worker in enumerate([make_worker(study) for _ in range(workers)]):
        value = "0" if 0 < n == workers - 1 else "1"
        for _ in range(batch.tasks.count()):
            assignment = lease_task(batch, worker)
            answers = {item.field: value for item in protocol_of(batch).items(assignment)}
            submit_judgments(worker, assignment.key, answers, assignment.key)
    return batch


@pytest.fixture
def study():
    return make_study(documents=3, systems=2)


# Who may come in


def test_without_a_living_token_everybody_is_nobody(study):
    user = make_member(study, Role.ADMIN)
    issued = issue_token(user, "x", ["read"], 7)
    bad_headers = ["", "Bearer", "Bearer pyr_nonsense", f"Basic {issued.token}", f"Bearer {issued.token}x", "Bearer é"]
    for header in bad_headers:
        answer = Client().get("/api/v1/me", headers={"Authorization": header})
        assert (answer.status_code, answer["Content-Type"]) == (401, PROBLEM)
        assert answer["WWW-Authenticate"].startswith("Bearer")
    assert Caller(issued.token, study).get("/api/v1/me").json()["person"] == user.username


def test_a_session_cookie_opens_nothing(client, study):
    client.force_login(make_member(study, Role.ADMIN))
    assert client.get("/api/v1/studies").status_code == 401
    batch = make_batch(study)
    answer = client.patch(
        f"/api/v1/studies/{study.slug}/batches/{batch.pk}", {"state": "closed"}, content_type="application/json"
    )
    assert answer.status_code == 401
    assert Batch.objects.get().state == "open"


def test_a_token_counts_for_its_own_person_whoever_is_signed_in(client, study):
    client.force_login(make_member(study, Role.ADMIN))
    stranger = issue_token(make_user(), "x", ["read"], 7).token
    answer = client.get(f"/api/v1/studies/{study.slug}", headers={"Authorization": f"Bearer {stranger}"})
    assert answer.status_code == 404


def test_tokens_end_can_be_revoked_and_are_stored_as_digests(study):
    user = make_member(study, Role.ADMIN)
    issued = issue_token(user, "x", ["read"], 7)
    program = Caller(issued.token, study)
    assert program.get("/counts").status_code == 200
    assert issued.token not in str(ApiToken.objects.values())
    assert ApiToken.objects.get().last_used_at is not None
    with clock.fixed(clock.now() + timedelta(days=7, seconds=1)):
        assert program.get("/counts").status_code == 401
    ApiToken.objects.update(revoked_at=clock.now())
    assert program.get("/counts").status_code == 401


def test_a_person_who_may_not_sign_in_has_no_living_token(study, settings):
    user = make_member(study, Role.ADMIN)
    program = Caller(issue_token(user, "x", ["read"], 7).token, study)
    user.is_demo = True
    user.save()
    assert program.get("/counts").status_code == 200
    settings.DEMO = False
    assert program.get("/counts").status_code == 401
    settings.DEMO = True
    user.is_active = False
    user.save()
    assert program.get("/counts").status_code == 401


@pytest.mark.parametrize(("scopes", "reads", "writes", "raw"), [(["read"], 200, 403, 403), (["write"], 403, 202, 403)])
def test_a_scope_opens_its_own_doors_only(study, scopes, reads, writes, raw):
    program = caller(study, Role.ADMIN, scopes)
    assert program.get("/documents").status_code == reads
    assert program.call("post", "/metric-runs", {"metrics": ["rouge-1-f"]}).status_code == writes
    assert program.get("/workers/raw").status_code == raw


def test_a_token_bound_to_a_study_opens_no_other(study):
    other_study = make_study()
    user = make_member(study, Role.ADMIN)
    Membership.objects.create(study=other_study, user=user, role=Role.ADMIN)
    program = Caller(issue_token(user, "x", ["read"], 7, study).token, study)
    assert program.get("").status_code == 200
    assert program.get(f"/api/v1/studies/{other_study.slug}").status_code == 404
    assert [item["slug"] for item in program.get("/api/v1/studies").json()["items"]] == [study.slug]


def test_strangers_learn_nothing_and_roles_learn_why_not(study):
    batch = make_batch(study)
    writes = [
        ("post", "/batches", {"name": "n", "protocol": "litepyramid", "quota": 1}),
        ("patch", f"/batches/{batch.pk}", {"state": "paused"}),
        ("post", "/filters", {"rules": ["checks"]}),
        ("delete", "/filters/current", None),
    ]
    reads = ["documents", "systems", "summaries", "scus", "batches", "scores", "metrics", "filters", "report", "jobs"]
    stranger = Caller(issue_token(make_user(), "x", ["read", "write", "admin"], 7).token, study)
    for path in ("", *(f"/{page}" for page in [*reads, "workers", "judgments", "assignments", "workers/raw"])):
        assert stranger.get(path).status_code == 404
    for role in (Role.ANALYST, Role.ANNOTATOR):
        program = caller(study, role)
        for method, path, data in writes:
            answer = program.call(method, path, data)
            assert (answer.status_code, answer["Content-Type"]) == (403, PROBLEM)
            assert "another role" in answer.json()["detail"]
        assert program.get("/workers/raw").status_code == 403
    assert Batch.objects.get().state == "open"


def test_what_crowd_work_says_of_money_is_for_admins(study):
    Job.objects.create(study=study, kind="publish", state="done", message="8.64 USD were promised.")
    Job.objects.create(study=study, kind="score", state="done", message="12 scores are new.")
    for role, message in ((Role.ADMIN, "8.64 USD were promised."), (Role.ANALYST, "")):
        program = caller(study, role)
        rows = program.get("/jobs").json()["items"]
        assert [row["message"] for row in rows] == [message, "12 scores are new."]
        assert program.get(f"/jobs/{rows[0]['id']}").json()["message"] == message


def test_annotators_see_their_own_work_and_not_whom_they_judge(study):
    judge(study)
    user = Worker.objects.filter(user__isnull=False).first().user
    annotator = Caller(issue_token(user, "x", ["read"], 7).token, study)
    for path in ("/judgments", "/assignments"):
        rows = annotator.get(path).json()["items"]
        assert rows
        assert {row["worker_id"] for row in rows} == {user.workers.get().pseudonym}
        assert {row["system"] for row in rows} == {row["group"] for row in rows} == {None}
    assert {row["is_check"] for row in annotator.get("/judgments").json()["items"]} == {None}
    everything = caller(study).get("/judgments?limit=500").json()["items"]
    assert len({row["worker_id"] for row in everything}) == 2
    assert {row["system"] for row in everything} == {"system0", "system1"}


# Pages


def pages(program: Caller, path: str, limit: int) -> list[dict]:
    rows, cursor = [], ""
    for _ in range(1000):
        page = program.get(f"{path}?limit={limit}" + (f"&after={cursor}" if cursor else "")).json()
        assert len(page["items"]) <= limit
        rows += page["items"]
        if page["next"] is None:
            return rows
        cursor = page["next"]
    raise AssertionError("the pages never end")


@pytest.mark.parametrize("limit", [3, 500])
def test_pages_together_are_the_whole_once(study, limit):
    judge(study)
    other_study = make_study(documents=2)  # another study's rows lie between
    judge(other_study)
    judge(study)
    Score.objects.bulk_create(
        Score(study=study, system=summary.system, document=summary.document, metric="m", value=1)
        for summary in Summary.objects.filter(document__study=study)
    )
    program = caller(study)
    expected_counts = {
        "/documents": 3,
        "/summaries": 6,
        "/scus": 9,
        "/scores": 6,
        "/assignments": 2 * 6 * 2,
        "/judgments": 2 * 6 * 2 * 3,  # batches × summaries × workers × SCUs
        "/workers": Worker.objects.filter(study=study).count(),
    }
    for path, n in expected_counts.items():
        rows = pages(program, path, limit)
        assert len(rows) == n, path
        assert len({str(row) for row in rows}) == n, path
    document = program.get("/documents").json()["items"][0]["id"]
    assert len(pages(program, "/documents", limit)) == 3
    of_one = program.get(f"/judgments?document={document}&limit=500").json()["items"]
    assert len(of_one) == 72 // 3
    assert {row["doc_id"] for row in of_one} == {"doc0"}


def test_a_judgment_a_page_reaches_the_end(study):
    judge(make_study(documents=1, systems=1), workers=1)
    small_study = make_study(documents=1, systems=1, units=2)
    judge(small_study)
    assert len(pages(caller(small_study), "/judgments", 1)) == 4


def test_the_next_page_stands_in_a_link_header(study):
    program = caller(study)
    first = program.get("/documents?limit=2&texts=false")
    address = first["Link"].split(">")[0][1:].removeprefix("http://testserver")
    second = program.get(address)
    assert [item["doc_id"] for item in second.json()["items"]] == ["doc2"]
    assert second.json()["items"][0]["source"] is None
    assert "Link" not in second


def test_a_page_costs_the_same_wherever_it_is(study, django_assert_num_queries):
    judge(study)
    program = caller(study)
    program.get("/judgments")
    cursor = program.get("/judgments?limit=20").json()["next"]
    # token; its use, counted and read; study; role, for entry and for blindness; span of tasks, assignments, judgments
    for address in ("/judgments?limit=5", f"/judgments?limit=5&after={cursor}"):
        with django_assert_num_queries(9):
            assert len(program.get(address).json()["items"]) == 5


# Conditions


def test_an_answer_the_caller_has_is_not_sent_again(study):
    program = caller(study)
    first = program.get("/documents")
    second = program.get("/documents", If_None_Match=first["ETag"])
    assert (second.status_code, second.content) == (304, b"")
    study.documents.filter(doc_id="doc0").update(source="Another text.")
    assert program.get("/documents", If_None_Match=first["ETag"]).status_code == 200


def test_a_batch_changes_only_as_the_caller_knew_it(study):
    program, batch = caller(study), make_batch(study, state="draft")
    etag = program.get(f"/batches/{batch.pk}")["ETag"]
    opened = program.call("patch", f"/batches/{batch.pk}", {"state": "open"}, If_Match=etag)
    assert opened.json()["state"] == "open"
    response = program.call("patch", f"/batches/{batch.pk}", {"state": "closed"}, If_Match=etag)
    assert (response.status_code, response["Content-Type"]) == (412, PROBLEM)
    assert Batch.objects.get().state == "open"
    closed = program.call("patch", f"/batches/{batch.pk}", {"state": "closed"}, If_Match=opened["ETag"])
    assert closed.json()["state"] == "closed"
    assert program.call("patch", f"/batches/{batch.pk}", {"state": "open"}).status_code == 409  # closed stays closed


# Limits and errors


def test_requests_are_counted_per_token_and_minute(study, settings):
    settings.API_PER_MINUTE = 3
    program, another = caller(study), caller(study)
    moment = datetime(2026, 5, 1, 12, 0, 20, tzinfo=UTC)
    with clock.fixed(moment):
        ApiToken.objects.update(created_at=moment, expires_at=moment + timedelta(days=1))
        remaining = [program.get("/counts")["RateLimit-Remaining"] for _ in range(3)]
        assert remaining == ["2", "1", "0"]
        answer = program.get("/counts")
        assert (answer.status_code, answer["Content-Type"], answer["Retry-After"]) == (429, PROBLEM, "40")
        assert another.get("/counts").status_code == 200
    with clock.fixed(moment + timedelta(seconds=40)):
        assert program.get("/counts").status_code == 200


def test_whoever_guesses_tokens_is_slowed_down(settings):
    settings.API_PER_MINUTE = 20
    with clock.fixed(clock.now()):
        answers = [Client().get("/api/v1/me").status_code for _ in range(22)]
    assert answers.count(401) == 20
    assert answers[-2:] == [429, 429]


def test_everything_that_is_wrong_is_answered_by_a_problem_document(study, settings):
    program = caller(study)
    batch = {"name": "n", "protocol": "litepyramid", "quota": 1}
    wrong_requests = [
        (404, program.get("/nothing")),
        (404, program.get("/api/v2/studies")),
        (404, program.get("/documents/999999")),
        (405, program.call("delete", "/documents")),
        (422, program.get("/documents?limit=many")),
        (422, program.get("/documents?limt=5")),
        (422, program.get("/documents/doc0")),
        (422, program.get("/documents?after=x")),
        (422, program.call("post", "/batches", {**batch, "quota": "1"})),
        (422, program.call("post", "/batches", {**batch, "colour": "red"})),
        (409, program.call("post", "/batches", {**batch, "options": {"order": "sideways"}})),
        (409, program.call("post", "/filters", {"rules": ["gut-feeling"]})),
        (409, program.call("post", "/metric-runs", {"metrics": ["rouge-9000"]})),
        (404, program.call("delete", "/filters/current")),
        (400, program.call("post", "/batches", b"{")),
    ]
    form = program.http.post(f"{program.base}/batches", batch, headers={"Authorization": f"Bearer {program.token}"})
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    large = program.call("post", "/batches", {**batch, "name": "n" * 200})
    for status, answer in [*wrong_requests, (415, form), (413, large)]:
        assert (answer.status_code, answer["Content-Type"]) == (status, PROBLEM), answer.content
        problem = answer.json()
        assert problem["status"] == status
        assert problem["type"].startswith("urn:pyramidion:problem:")
        assert problem["detail"].endswith((".", "”."))
    assert set(program.call("delete", "/documents")["Allow"].split(", ")) == {"GET"}
    assert not Batch.objects.exists()


def test_a_fault_of_ours_is_a_problem_document_too(study, monkeypatch):
    monkeypatch.setattr("annotation.api.studies.study_state", lambda _: 1 / 0)
    answer = caller(study).get("/counts")
    assert (answer.status_code, answer["Content-Type"]) == (500, PROBLEM)
    assert "division" not in answer.content.decode()


# Writing


def test_a_protocol_that_a_lab_adds_is_taken_too(study, monkeypatch):
    """And an unknown one is answered with the known ones, as the document lists them."""

    class Worth(Likert):
        name = "worth"

    program = caller(study)
    body = {"name": "Worth it", "protocol": "worth", "quota": 1}
    response = program.call("post", "/batches", body)
    assert (
        response.status_code,
        "Known: errors, likert, litepyramid, preference, scu" in response.json()["detail"],
    ) == (422, True)
    monkeypatch.setitem(PROTOCOLS, "worth", Worth())
    created = program.call("post", "/batches", body)
    assert (created.status_code, created.json()["protocol"]) == (201, "worth")
    schema = api.get_openapi_schema(path_prefix="/")["components"]["schemas"]["BatchIn"]["properties"]["protocol"]
    assert (schema["type"], set(schema["enum"])) == ("string", set(PROTOCOLS))


def test_an_admin_makes_a_batch_once(study):
    program = caller(study)
    body = {"name": "Judge", "protocol": "litepyramid", "quota": 2, "options": {"evidence": True}}
    created = program.call("post", "/batches", body)
    assert created.status_code == 201
    assert program.get(created["Location"]).json() == created.json()
    assert created.json()["options"]["evidence"] is True
    assert program.call("post", "/batches", body).status_code == 409
    progress = program.get(f"/batches/{created.json()['id']}/progress").json()
    assert progress == {"tasks": 6, "places": 12, "submitted": 0, "leased": 0}


def test_filters_are_previewed_decided_and_undone(study):
    judge(study, workers=3)
    program = caller(study)
    before = program.call("post", "/filters/preview", {"rules": ["majority-dissent"]}).json()
    assert before["rules"] == ["majority-dissent"]
    assert before["rows_dropped"] == 6 * 3  # the one who says no, on each summary and SCU
    assert before["n_dropped"] == len(before["dropped"]) == 6
    assert not FilterDecision.objects.exists()
    decided = program.call("post", "/filters", {"rules": ["majority-dissent"], "seed": 3})
    assert decided.status_code == 201
    current = program.get("/filters/current")
    assert current.json() == decided.json()
    assert program.call("delete", "/filters/current", If_Match='"old"').status_code == 412
    undone = program.call("delete", "/filters/current", If_Match=current["ETag"]).json()
    assert undone["undone_at"]
    assert program.get("/filters/current").status_code == 404
    assert [item["seed"] for item in program.get("/filters").json()["items"]] == [3]
    assert "majority-dissent" in [rule["name"] for rule in program.get("/filters/rules").json()]


@pytest.mark.django_db(transaction=True)
def test_metrics_are_scored_in_the_background_and_read_back(settings):
    study = make_study(documents=2, systems=2)
    program = caller(study, Role.ANALYST)
    accepted = program.call("post", "/metric-runs", {"metrics": ["rouge-1-f"]})
    assert accepted.status_code == 202
    job = program.get(accepted["Location"]).json()
    assert (job["state"], job["done"], job["total"]) == ("done", job["total"], job["total"])
    assert len(program.get("/scores?metric=rouge-1-f").json()["items"]) == 4
    assert program.get("/metrics").json()[0]["signature"]
    Job.objects.update(state="running")
    settings.TASKS = {"default": {"BACKEND": "django_tasks.backends.dummy.DummyBackend"}}
    repeated = program.call("post", "/metric-runs", {"metrics": ["rouge-1-f"]})
    assert repeated.json()["id"] == job["id"]  # while it runs, asking again starts nothing
    assert Job.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_export_is_asked_for_and_fetched_in_pieces(settings, tmp_path):
    settings.EXPORT_ROOT = str(tmp_path)
    study = make_study(documents=2, systems=2)
    judge(study)
    program = caller(study, Role.ANALYST)
    accepted = program.call("post", "/exports", {"tables": ["judgments"], "form": "csv"})
    assert accepted.status_code == 202
    export = program.get(accepted["Location"]).json()
    assert export["state"] == "done", export
    address = f"{accepted['Location']}/files/judgments.csv"
    content = b"".join(program.get(address).streaming_content)
    assert content.count(b"\n") == 1 + 2 * 2 * 2 * 3
    piece = program.get(address, Range="bytes=0-9")
    assert (piece.status_code, b"".join(piece.streaming_content)) == (206, content[:10])
    assert program.call("post", "/exports", {"tables": ["judgments"], "raw_workers": True}).status_code == 403
    limited = caller(study, Role.ADMIN, ["read", "write"])
    assert limited.call("post", "/exports", {"tables": ["ledger"]}).status_code == 403
    assert program.call("post", "/exports", {"tables": ["feelings"]}).status_code == 409


def test_raw_ids_are_for_admins_with_the_scope(study):
    worker = Worker.objects.create(study=study, crowd="mturk", external_id="A1RAW", pseudonym="w-aaaaaaaaaaaaaaaa")
    raw = caller(study).get("/workers/raw").json()["items"]
    assert raw == [{"worker_id": worker.pseudonym, "crowd": "mturk", "external_id": "A1RAW"}]
    assert b"A1RAW" not in caller(study).get("/workers").content


# The pages around it


def test_the_document_and_its_page_load_nothing_from_outside(client):
    document = client.get("/api/v1/openapi.json").json()
    assert document["openapi"].startswith("3.")
    page = client.get("/api/v1/")
    assert page.status_code == 200
    text = page.content.decode()
    assert all(address in text for address in document["paths"])
    assert 'src="http' not in text
    assert "//cdn" not in text


def test_a_token_is_made_on_its_page_shown_once_and_revoked(client, study):
    user = make_member(study, Role.ANALYST)
    assert client.get("/tokens/").url.startswith("/sign-in/")
    client.force_login(user)
    page = client.post("/tokens/", {"name": "Notebook", "scope": ["read"], "days": "30", "study": study.slug})
    token = page.content.decode().split('id="token">')[1].split("<")[0]
    assert Caller(token, study).get("/documents").status_code == 200
    assert token not in client.get("/tokens/").content.decode()
    row = ApiToken.objects.get()
    assert (row.scopes, row.study) == (["read"], study)
    other_client = Client()
    other_client.force_login(make_user())
    assert other_client.post(f"/tokens/{row.pk}/revoke/").status_code == 409
    assert Caller(token, study).get("/documents").status_code == 200
    client.post(f"/tokens/{row.pk}/revoke/")
    assert Caller(token, study).get("/documents").status_code == 401


@pytest.mark.parametrize("form", [{}, {"scope": ["read"], "days": "9999"}, {"scope": ["everything"], "days": "7"}])
def test_a_token_that_would_open_nothing_or_never_end_is_refused(client, form):
    client.force_login(make_user())
    assert client.post("/tokens/", {"name": "x", **form}).status_code == 409
    assert not ApiToken.objects.exists()


def test_a_token_for_one_study_never_becomes_one_for_all(client, study):
    """The person lost their part in the study while the form was open."""
    other_study = make_study()
    user = make_member(other_study, Role.ADMIN)
    client.force_login(user)
    form = {"name": "Note<book", "scope": ["read", "write"], "days": "30", "study": study.slug}
    answer = client.post("/tokens/", form)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert not ApiToken.objects.exists()
    assert "You have no part in that study any more." in page
    assert 'value="Note&lt;book"' in page
    assert '<option value="30" selected>' in page
    assert page.count(" checked>") == 2
