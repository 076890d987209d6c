"""The Quality page: agreement, workers, and filters as decisions that are previewed, applied, undone and logged."""

import pytest

from annotation import protocols
from annotation.common.errors import NoTaskLeft
from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import AuditEvent, FilterDecision, Job, Role, StoredResult, Study, Worker
from annotation.studies.batches import create_batch
from annotation.tables.frames import judgments_frame
from annotation.tables.trusted import systems_judgments
from tests.annotation.demo_study import load_written
from tests.browser.looking import markup
from tests.factories import make_batch, make_member, make_study, make_worker

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study() -> Study:
    return load_written()


@pytest.fixture
def admin(client, study):
    client.login(username="admin", password="demo")
    return client


def address(study, path=""):
    return f"/studies/{study.slug}/quality/{path}"


def test_a_study_nobody_judged_says_so(client):
    study = make_study()
    make_batch(study)
    client.force_login(make_member(study, Role.ANALYST))
    assert "Nobody has judged yet" in client.get(address(study)).content.decode()


def test_the_page_shows_agreement_before_and_after_and_every_worker(admin, study):
    page = admin.get(address(study)).content.decode()
    assert "Krippendorff&#x27;s alpha, pooled over all units" in page
    assert "0.472" in page  # fixtures/README.md: alpha of the whole crowd, before any filter
    for worker in Worker.objects.filter(crowd="import"):
        assert f'href="workers/{worker.pseudonym}/"' in page  # each point of the scatter opens the worker's answers
        assert worker.external_id not in page


def test_a_preview_changes_nothing_and_finds_the_planted_workers(admin, study):
    before = list(FilterDecision.objects.values_list())
    page = admin.post(address(study), {"rule": ["checks", "worker-agreement"], "price": "0.20"}).content.decode()
    # fixtures/README.md: three planted workers; without them alpha is 0.81.
    assert "0.472 → 0.812" in page
    assert "12.20" in page  # 61 assignments at 0.20
    planted = Worker.objects.filter(external_id__in=["demo-worker-04", "demo-worker-09", "demo-worker-13"])
    reasons = page.split("decisions with their reasons")[1].split("</table>")[0]
    assert all(worker.pseudonym in reasons for worker in planted)
    assert reasons.count("everywhere") == 3
    assert list(FilterDecision.objects.values_list()) == before
    assert not AuditEvent.objects.filter(study=study).exists()  # the record is of changes


def test_a_preview_says_how_much_of_the_gain_is_selection(admin, study):
    page = admin.post(f"/studies/{study.slug}/quality/", {"rule": "majority-dissent", "seed": "0"}).content.decode()
    assert "on shuffled answers the same rules go from" in page.lower()


def test_the_chosen_rules_stay_chosen_in_a_preview_and_after_a_refusal(admin, study):
    for rule, status in (("time[floor=1]", 200), ("nonsense", 409)):
        form = {"rule": ["checks"], "more": rule, "seed": "7", "price": "0.15"}
        answer = admin.post(f"/studies/{study.slug}/quality/", form)
        page = markup(answer.content.decode())
        assert answer.status_code == status
        assert 'value="checks" checked' in page
        assert 'value="majority-dissent"><span>' in page
        assert f'value="{rule}"' in page
        assert 'value="7"' in page
        assert 'value="0.15"' in page
        assert ("There is no rule" in page) == (status == 409)


@pytest.mark.parametrize(
    ("field", "typed", "sentence"),
    [("seed", "-7", "“-7” is no seed"), ("seed", "1e3", "is no seed"), ("price", "20c", "“20c” is not an amount")],
)
def test_a_seed_or_price_that_is_no_number_is_refused_and_stays_typed(admin, study, field, typed, sentence):
    answer = admin.post(address(study), {"rule": "checks", field: typed})
    assert answer.status_code == 409
    page = answer.content.decode()
    assert sentence in page
    assert f'value="{typed}"' in page
    assert "What this filter would do" not in page


def test_rules_and_reasons_are_said_in_german(admin, study):
    page = admin.post(
        f"/studies/{study.slug}/quality/", {"rule": "checks"}, headers={"accept-language": "de"}
    ).content.decode()
    assert "Wer einen zu großen Teil der Kontrollfragen verfehlt, fällt heraus." in page
    assert "Kontrollfragen verfehlt, mehr als" in page
    assert "Krippendorffs Alpha über alle Einheiten zusammen" in page
    assert "is dropped" not in page
    assert "check items" not in page


def test_a_decision_is_applied_undone_and_logged(admin, study):
    admin.get(address(study))
    admin.post(address(study, "decide/"), {"rules": "checks", "seed": "3"})
    assert FilterDecision.objects.get(undone_at=None).rules == ["checks"]
    assert FilterDecision.objects.get(undone_at=None).decided_by.username == "admin"
    admin.post(address(study, "decide/"), {"undo": "1"})
    assert not FilterDecision.objects.filter(undone_at=None).exists()
    page = admin.get(address(study)).content.decode()
    assert page.count(">checks</code>") == 1
    assert FilterDecision.objects.count() == 2
    assert len(judgments_frame(study)) == 3360  # nothing was deleted
    assert "No filter is in force" in admin.post(address(study, "decide/"), {"undo": "1"}).content.decode()


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({}, "at least one rule"),
        ({"more": "gut-feeling"}, "no rule"),
        ({"more": "checks[max_failed=many]"}, "max_failed"),
        ({"more": "worker-agreement[threshold=2]"}, "drop everybody"),
    ],
)
def test_a_wrong_filter_is_answered_with_a_sentence(admin, study, form, sentence):
    answer = admin.post(address(study), form)
    assert answer.status_code == 409
    assert sentence in answer.content.decode()


def test_analysts_preview_but_do_not_decide(client, study):
    client.login(username="analyst", password="demo")
    page = client.post(address(study), {"rule": ["checks"]}).content.decode()
    assert "Only admins decide" in page
    assert client.post(address(study, "decide/"), {"rules": "checks"}).status_code == 403


def test_a_workers_answers_stand_beside_the_others(admin, study):
    worker = Worker.objects.get(external_id="demo-worker-04")
    page = admin.get(address(study, f"workers/{worker.pseudonym}/")).content.decode()
    assert "Mean of the others" in page
    assert "demo-worker-04" not in page
    assert admin.get(address(study, "workers/w-none/")).status_code == 409


@pytest.mark.parametrize(
    ("name", "kind", "start"),
    [
        ("agreement.csv", "text/csv", b"name,coefficient"),
        ("workers.csv", "text/csv", b"worker_id,answers"),
        ("contested.csv", "text/csv", b"doc_id,system"),
        ("workers.svg", "image/svg+xml", b"<svg"),
        ("systems.pdf", "application/pdf", b"%PDF"),
    ],
)
def test_everything_can_be_downloaded(admin, study, name, kind, start):
    answer = admin.get(address(study, f"litepyramid/{name}"))
    assert answer["Content-Type"].startswith(kind)
    assert answer.content.startswith(start)
    assert b"demo-worker" not in answer.content


def test_numbers_are_kept_until_the_data_changes(admin, study):
    admin.get(address(study))
    admin.get(address(study))
    assert Job.objects.filter(kind="page").count() == 1
    admin.post(address(study, "decide/"), {"undo": "1"})
    admin.get(address(study))
    assert Job.objects.filter(kind="page").count() == 2
    assert StoredResult.objects.count() == 1


def test_a_spreadsheet_runs_no_formula_from_a_download():
    from annotation.common.downloads import table_response

    text = table_response([{"system": "=cmd()", "value": -1.5}], "x.csv").content.decode()
    assert text == "system,value\n'=cmd(),-1.5\n"


def test_likert_ratings_have_their_own_agreement_and_rated_references_stay_out(client):
    study = make_study(documents=2, systems=4)
    batch = create_batch(study, "Rate", "likert", 2, state="open")
    for worker in (make_worker(study), make_worker(study)):
        for _ in range(batch.tasks.count()):
            assignment = lease_task(batch, worker)
            items = protocols.of(batch).items(assignment)
            answers = {item.field: str(1 + (item.position + len(item.unit)) % 5) for item in items}
            submit_judgments(worker, assignment.key, answers, assignment.key)
    assert judgments_frame(study)["group"].value_counts()["reference"] == 16  # 2 documents × 4 dimensions × 2 workers
    client.force_login(make_member(study, Role.ADMIN))
    page = client.get(address(study)).content.decode()
    assert "Agreement: likert" in page
    assert "ICC" in page
    assert "lie apart, per dimension" in page
    assert client.get(address(study, "likert/spread.csv")).content.startswith(b"unit,role,low,high,count")
    assert {row["system"] for row in systems_judgments(study).to_dict("records")} == {f"system{n}" for n in range(4)}
    report = client.get(f"/studies/{study.slug}/report/").content.decode()
    assert "relevance" in report  # the dimension that leads


@pytest.mark.parametrize("page", ["quality", "report", "explorer"])
def test_a_page_whose_job_failed_says_what_failed_and_starts_no_other(client, page):
    study = make_study(documents=2)
    batch = make_batch(study, quota=2)
    for worker in [make_worker(study), make_worker(study)] * batch.tasks.count():
        assignment = lease_task(batch, worker)
        answers = {item.field: "1" for item in protocols.of(batch).items(assignment)}
        submit_judgments(worker, assignment.key, answers, assignment.key)
    FilterDecision.objects.create(study=study, rules=["checks"])  # there is no check item
    client.force_login(make_member(study, Role.ANALYST))
    for _ in range(3):
        text = client.get(f"/studies/{study.slug}/{page}/").content.decode()
        assert "The last run stopped." in text
        assert "The rule checks needs check items" in text
        assert "as soon as answers, the filter or the batches that count change" in text
        assert "Waiting for a free background process" not in text
    (job,) = Job.objects.filter(study=study)
    assert job.state == "failed"
    answer = client.post(f"/studies/{study.slug}/jobs/{job.pk}/again/")
    assert answer["Location"] == f"/studies/{study.slug}/{page}/"
    assert Job.objects.filter(study=study).count() == 2
    FilterDecision.objects.all().delete()
    assert "The last run stopped." not in client.get(f"/studies/{study.slug}/{page}/").content.decode()
    done = Job.objects.filter(study=study, state="done").first()
    assert client.post(f"/studies/{study.slug}/jobs/{done.pk}/again/").status_code == 409


def _judge_all(batch, worker):
    while True:
        try:
            assignment = lease_task(batch, worker)
        except NoTaskLeft:
            return
        answers = {item.field: str(n % 2) for n, item in enumerate(protocols.of(batch).items(assignment))}
        submit_judgments(worker, assignment.key, answers, assignment.key)


def test_with_a_single_judge_the_page_shows_what_there_is(client):
    study = make_study(documents=2)
    worker = make_worker(study)
    _judge_all(make_batch(study), worker)
    client.force_login(make_member(study, Role.ANALYST))
    page = client.get(address(study)).content.decode()
    assert "The last run stopped." not in page
    assert "Agreement needs the answers of two people." in page
    assert "Krippendorff&#x27;s alpha" not in page
    row = page.split('id="workers-litepyramid"')[1].split("<tbody>")[1].split("</tr>")[0]
    assert worker.pseudonym in row
    assert '<td class="n">6</td>' in row  # two documents with three SCUs each
    assert "<svg" not in page.split('id="agreement-litepyramid"')[1]  # no chart without a point
    assert client.get(address(study, "litepyramid/systems.svg")).status_code == 409
    assert client.get(address(study, "litepyramid/workers.csv")).content.count(worker.pseudonym.encode()) == 1


def test_where_judges_differ_a_revised_answer_counts_once(client):
    study = make_study(units=1)
    first, second = make_worker(study), make_worker(study)
    batch = make_batch(study, quota=2)
    _judge_all(batch, first)
    _judge_all(batch, second)
    later = make_batch(study, quota=1)
    later.round = 2
    later.save()
    assignment = lease_task(later, second)
    (item,) = protocols.of(later).items(assignment)
    submit_judgments(second, assignment.key, {item.field: "1"}, assignment.key)
    client.force_login(make_member(study, Role.ANALYST))
    row = client.get(address(study, "litepyramid/contested.csv")).content.decode().splitlines()[1]
    assert row.split(",")[4] == "2"  # not three: the second person's answer of the first round was revised
