"""The second round: which answers are contested, who looks again, and what is kept of both rounds."""

import pytest
from django.urls import reverse

from annotation import protocols
from annotation.common import clock
from annotation.common.errors import NoTaskLeft, Refused
from annotation.judging.leases import lease_task, release_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Batch, Judgment, Role, SecondLook, Summary, Task, Worker
from annotation.studies.batches import create_batch
from annotation.studies.second_rounds import (
    NothingContested,
    answers_frame,
    find_contested,
    open_second_round,
    read_thresholds,
    round_report,
)
from annotation.tables.frames import judgments_frame
from tests.factories import make_member, make_study

pytestmark = [pytest.mark.postgres, pytest.mark.sqlite]

# Rounds in the database


def rated(values, protocol="likert", units=("coherence",)):
    """A closed first round: one document, one system; `values[worker][unit]`."""
    study = make_study(units=len(units))
    options = {"reference": False, "dimensions": list(units)} if protocol == "likert" else {}
    batch = create_batch(study, "Round one", protocol, len(values), options, role="expert", state=Batch.State.OPEN)
    task, summary = batch.tasks.get(), Summary.objects.get()
    workers = [Worker.for_user(study, make_member(study)) for _ in values]
    for worker, own in zip(workers, values, strict=True):
        assignment = Assignment.objects.create(
            task=task, worker=worker, state="submitted", submitted_at=clock.now(), leased_at=clock.now()
        )
        Judgment.objects.bulk_create(
            Judgment(
                assignment=assignment,
                summary=summary,
                unit=unit,
                value=value,
                scale_min=batch.scale_min,
                scale_max=batch.scale_max,
                submitted_at=clock.now(),
            )
            for unit, value in zip(units, own, strict=True)
        )
    Batch.objects.filter(pk=batch.pk).update(state="closed")
    batch.refresh_from_db()
    return batch, workers


def open_round(batch, **thresholds):
    return open_second_round(batch, read_thresholds(batch, thresholds))


@pytest.mark.django_db
def test_only_those_concerned_get_a_task_and_it_is_theirs_alone():
    batch, (one, two, three) = rated([[1], [4], [5]])
    second = open_round(batch)
    assert (second.round, second.protocol, second.role) == (2, "likert", "expert")
    assert second.options["thresholds"] == {"gap": 2, "near": 1}
    assert [task.reserved_for for task in second.tasks.all()] == [one]
    with pytest.raises(NoTaskLeft):
        lease_task(second, two)
    assert lease_task(second, one).worker == one
    with pytest.raises(NoTaskLeft, match="no answer of yours"):
        lease_task(second, three)


@pytest.mark.django_db
def test_a_second_look_that_was_given_back_waits_for_its_worker():
    batch, (one, *_others) = rated([[1], [4], [5]])
    second = open_round(batch)
    mine = lease_task(second, one)
    release_task(one, mine.key)
    assert lease_task(second, one) == mine


@pytest.mark.django_db
def test_both_rounds_are_kept_and_exported_and_the_last_answer_counts():
    batch, (one, *_others) = rated([[1], [4], [5]])
    second = open_round(batch)
    assignment = lease_task(second, one)
    protocol = protocols.of(second)
    item = protocol.items(assignment)[0]
    receipt = submit_judgments(one, assignment.key, {item.field: {"value": "4", "remark": " Read it  again. "}}, "key")
    assert receipt.judgments == 1
    frame = judgments_frame(batch.study)
    mine = frame[frame["worker_id"] == one.pseudonym].sort_values("round")
    assert mine[["round", "value"]].to_numpy().tolist() == [[1, 1], [2, 4]]
    assert mine["remark"].tolist()[1] == "Read it again."
    assert set(frame["protocol"]) == {"likert"}
    assert protocol.answers_of(assignment) == {item.field: {"value": "4", "remark": "Read it again."}}


@pytest.mark.django_db
def test_the_page_shows_the_own_and_the_others_answers_and_no_names(client):
    batch, (one, two, _) = rated([[1], [4], [5]])
    Summary.objects.update(text="A short summary.")
    second = open_round(batch)
    client.force_login(one.user)
    page = client.post(reverse("take", args=[second.pk]), follow=True).text
    assert "Coherence" in page
    assert SecondLook.objects.get().others in ([4.0, 5.0], [5.0, 4.0])
    for secret in ("system0", two.pseudonym, two.user.username):
        assert secret not in page


@pytest.mark.django_db
def test_a_form_without_script_sends_the_remark_as_well(client):
    batch, (one, *_others) = rated([[1], [4], [5]])
    second = open_round(batch)
    client.force_login(one.user)
    task = client.post(reverse("take", args=[second.pk]))
    assignment = Assignment.objects.get(task__batch=second)
    field = protocols.of(second).items(assignment)[0].field
    client.post(task.url, {f"answer:{field}": "1", f"answer:{field}:remark": "I stay.", "submit_key": "k"})
    assert Judgment.objects.get(assignment=assignment).extra == {"remark": "I stay."}


@pytest.mark.django_db
def test_litepyramid_ties_go_back_to_everybody():
    units = ("scu00", "scu01")
    batch, workers = rated([[1, 1], [1, 1], [0, 1], [0, 0]], "litepyramid", units)
    found = find_contested(batch, read_thresholds(batch, {}))
    assert (found.units, found.looks, found.workers) == (1, 4, 4)
    second = open_round(batch)
    assert second.tasks.count() == 4
    items = protocols.of(second).items(lease_task(second, workers[0]))
    assert [(item.unit, item.text) for item in items] == [("scu00", "Fact 0 of document 0.")]


@pytest.mark.django_db
def test_a_second_round_is_refused_with_a_sentence_when_it_makes_no_sense():
    batch, _ = rated([[3], [4], [5]])
    with pytest.raises(NothingContested, match="nothing to look at"):
        open_round(batch)
    second = open_round(batch, gap="1")
    assert second.options["thresholds"]["gap"] == 1
    with pytest.raises(Refused, match="second round already"):
        open_round(batch, gap="1")
    with pytest.raises(Refused, match="must be a number"):
        read_thresholds(batch, {"gap": "x"})
    with pytest.raises(Refused, match="negative"):
        read_thresholds(batch, {"gap": "-1"})
    batch.state = "open"
    with pytest.raises(Refused, match="still open"):
        open_round(batch)
    assert Task.objects.filter(batch__round=2).count() == second.tasks.count()


@pytest.mark.django_db
def test_imported_workers_cannot_be_asked_again(client):
    batch, _ = rated([[1], [4], [5]])
    Worker.objects.update(crowd=Worker.IMPORTED, user=None)
    with pytest.raises(Refused, match="nobody can be asked again"):
        open_round(batch)
    client.force_login(make_member(batch.study, Role.ADMIN))
    assert "can’t be asked again" in client.get(reverse("round", args=[batch.study.slug, batch.pk])).text


@pytest.mark.django_db
def test_a_batch_s_own_thresholds_are_taken():
    batch, _ = rated([[3], [5], [5]])
    batch.options["second_round"] = {"gap": 1}
    assert read_thresholds(batch, {}) == {"gap": 1, "near": 1}


@pytest.mark.django_db
def test_agreement_before_and_after():
    """Three experts on two summaries' worth of dimensions.

    Before: coherence 1, 4, 5 and fluency 2, 2, 2. After the first expert moves to 4: coherence 4, 4, 5.
    Interval alpha = 1 - D_o / D_e with squared differences over ordered pairs. Values before: 1 4 5 2 2 2.
    D_o: pairs within items / (m - 1) / n = (2 * (9 + 16 + 1) / 2 + 0) / 6 = 26 / 6.
    D_e: sum over ordered pairs of (a - b)^2 / (n (n - 1)) = 2 (n * sum x^2 - (sum x)^2) / (n (n - 1))
       = 2 (6 * 54 - 256) / 30 = 136 / 30. alpha = 1 - (26 / 6) / (136 / 30) = 1 - 130 / 136 = 0.0441.
    After, values 4 4 5 2 2 2: D_o = (2 * (0 + 1 + 1) / 2) / 6 = 2 / 6; D_e = 2 (6 * 69 - 361) / 30 = 106 / 30.
    alpha = 1 - 10 / 106 = 0.9057.
    """
    batch, (one, *_others) = rated([[1, 2], [4, 2], [5, 2]], units=("coherence", "fluency"))
    second = open_round(batch)
    assignment = lease_task(second, one)
    item = protocols.of(second).items(assignment)[0]
    before = round_report(batch, second, resamples=0)
    assert (before.looks, before.done, before.revised) == (1, 0, 0)
    submit_judgments(one, assignment.key, {item.field: "4"}, "key")
    report = round_report(batch, second, resamples=0)
    assert report.before[0]["value"] == pytest.approx(1 - 130 / 136)
    assert report.after[0]["value"] == pytest.approx(1 - 10 / 106)
    assert (report.looks, report.n_answered, report.revised, report.confirmed) == (1, 1, 1, 0)
    assert [row["group"] for row in report.after] == [None, "coherence", "fluency"]


@pytest.mark.django_db
def test_who_rated_a_summary_twice_counts_with_the_last_answer():
    batch, (one, *_others) = rated([[1], [4], [5]])
    again = Task.objects.create(batch=batch, document=batch.tasks.get().document, part=7, quota=1)
    assignment = Assignment.objects.create(task=again, worker=one, state="submitted", submitted_at=clock.now())
    Judgment.objects.create(
        assignment=assignment,
        summary=Summary.objects.get(),
        unit="coherence",
        value=4,
        scale_min=1,
        scale_max=5,
        submitted_at=clock.now(),
    )
    assert sorted(answers_frame([batch])["value"]) == [4, 4, 5]


# The admin's page


@pytest.mark.django_db
def test_an_admin_sees_what_is_contested_and_opens_the_round(client):
    batch, _ = rated([[1], [4], [5]])
    study = batch.study
    client.force_login(make_member(study, Role.ADMIN))
    assert "Round one" in client.get(reverse("rounds", args=[study.slug])).text
    address = reverse("round", args=[study.slug, batch.pk])
    assert "Open the second round: 1 look" in client.get(address).text
    assert "Nothing is contested" in client.get(address, {"gap": "4"}).text
    opened = client.post(reverse("open-round", args=[study.slug, batch.pk]), {"gap": "2", "near": "1"}, follow=True)
    assert "Agreement before and after" in opened.text
    assert Batch.objects.get(round=2).tasks.count() == 1


@pytest.mark.django_db
def test_analysts_look_annotators_do_not(client):
    batch, (one, *_others) = rated([[1], [4], [5]])
    slug = batch.study.slug
    client.force_login(make_member(batch.study, Role.ANALYST))
    assert client.get(reverse("round", args=[slug, batch.pk])).status_code == 200
    assert client.post(reverse("open-round", args=[slug, batch.pk])).status_code == 403
    client.force_login(one.user)
    assert client.get(reverse("round", args=[slug, batch.pk])).status_code == 403
    assert client.get(reverse("rounds", args=[slug])).status_code == 403


@pytest.mark.django_db
def test_an_empty_batch_has_a_page_too(client):
    study = make_study()
    batch = create_batch(study, "Empty", "litepyramid", 1, state="closed")
    client.force_login(make_member(study, Role.ADMIN))
    assert "at least two workers" in client.get(reverse("round", args=[study.slug, batch.pk])).text
