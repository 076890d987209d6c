"""Nothing is left standing: what a batch has on the market ends with it, by whatever door it is closed."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.accounts.api_tokens import issue_token
from annotation.common import clock
from annotation.common.errors import Refused
from annotation.crowds.collect import collect
from annotation.crowds.console.ending import AGAIN, start_waiting_closes
from annotation.crowds.console.jobs import close_job
from annotation.crowds.launch.close import ClosesLater, close, expire, top_up
from annotation.crowds.launch.publish import publish
from annotation.crowds.launch.top_up import ask_for_more
from annotation.crowds.pay.approve import approve, reject
from annotation.crowds.settle import settle
from annotation.models import Batch, Entry, FilterDecision, Job, Posting, Role, Submission
from annotation.studies.members import set_state
from tests.annotation.crowds.conftest import make_crowd_batch
from tests.annotation.crowds.crashes import check_books, form_answers
from tests.annotation.crowds.faulty_proxy import FaultyProxy
from tests.factories import make_member

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def batch(desk) -> Batch:
    """Two tasks with two places each, on the live market."""
    batch = make_crowd_batch(documents=2, quota=2, question="html")
    publish(batch)
    return batch


def hand_in(desk, batch: Batch, workers: int = 1) -> list[str]:
    posting = batch.postings.order_by("pk")[0]
    names = desk.ask("workers", count=workers)
    for name in names:
        desk.ask("work", hit_id=posting.market_id, worker_id=name, answers=form_answers(posting.task))
    return names


def statuses(desk) -> list[str]:
    return [status for *_rest, status in desk.books["hits"]]


def admins_page(client, batch: Batch, name: str = "monitor") -> str:
    client.force_login(make_member(batch.study, Role.ADMIN))
    return " ".join(client.get(reverse(name, args=[batch.study.slug, batch.pk])).content.decode().split())


def act(client, batch: Batch, **fields: str):
    return client.post(reverse("batch-act", args=[batch.study.slug, batch.pk]), fields)


# No top-up


def test_a_closed_batch_is_not_topped_up(desk, batch, client) -> None:
    close(batch)
    before = desk.books
    for ask in (lambda: top_up(batch, None, 1, None), lambda: ask_for_more(batch, None)):
        with pytest.raises(Refused, match=r"is closed or about to be.*Nothing was spent"):
            ask()
    FilterDecision.objects.create(study=batch.study, rules=["majority-dissent"])
    assert "more answers for" not in admins_page(client, batch)
    assert act(client, batch, action="top-up", total="48").status_code == 409
    assert desk.books == before


def test_a_close_that_waits_takes_no_top_up_and_no_publish_either(desk, batch) -> None:
    hand_in(desk, batch)
    with pytest.raises(ClosesLater):
        close(batch)
    batch.refresh_from_db()
    with pytest.raises(Refused, match="closed or about to be"):
        top_up(batch, None, 1, None)
    with pytest.raises(Refused, match="is closed"):
        publish(batch)


def test_settle_puts_nothing_up_for_a_batch_that_was_closed_meanwhile(desk) -> None:
    """As an older version left it: a promise that was written and not called, and a batch closed by hand."""
    batch = make_crowd_batch(documents=1, quota=1, question="html")
    publish(batch)
    posting = batch.postings.get()
    entry = Entry.objects.create(
        study=batch.study, batch=batch, posting=posting, kind="extend", token="later", reward_cents=10, fee_cents=2,
        promised_cents=12,
    )  # fmt: skip
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.CLOSED)
    report = settle(batch.study)
    entry.refresh_from_db()
    assert entry.state == "failed"
    assert [places for _token, _hit, places, _status in desk.books["hits"]] == [1]
    assert any("1 posting stands on the market for" in sentence for sentence in report.differences)


# Every door


def test_closing_through_the_api_takes_the_postings_down(
    desk, batch, client, django_capture_on_commit_callbacks
) -> None:
    admin = make_member(batch.study, Role.ADMIN)
    token = issue_token(admin, "Test", ["write"], 7).token
    path = f"/api/v1/studies/{batch.study.slug}/batches/{batch.pk}"
    headers = {"Authorization": f"Bearer {token}"}
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.patch(path, {"state": "closed"}, content_type="application/json", headers=headers)
    assert answer.status_code == 202, answer.content
    batch.refresh_from_db()
    assert batch.state == Batch.State.CLOSED
    assert statuses(desk) == ["Disposed", "Disposed"]
    assert desk.books["held"] == 0


def test_pausing_and_opening_again_by_api_reaches_the_market(
    desk, batch, client, django_capture_on_commit_callbacks
) -> None:
    token = issue_token(make_member(batch.study, Role.ADMIN), "Test", ["write"], 7).token
    path = f"/api/v1/studies/{batch.study.slug}/batches/{batch.pk}"
    for state, in_market in (("paused", "Reviewable"), ("open", "Assignable")):
        with django_capture_on_commit_callbacks(execute=True):
            answer = client.patch(
                path,
                {"state": state},
                content_type="application/json",
                headers={"Authorization": f"Bearer {token}"},
            )
        assert answer.status_code == 202, answer.content
        batch.refresh_from_db()
        assert batch.state == state
        assert set(batch.postings.values_list("state", flat=True)) == {state}
        assert statuses(desk) == [in_market, in_market]


def test_a_batch_is_not_paused_under_its_postings_from_the_collect_page(desk, batch, client) -> None:
    client.force_login(make_member(batch.study, Role.ADMIN))
    answer = client.post(reverse("batch-state", args=[batch.study.slug, batch.pk]), {"state": "paused"})
    assert answer.status_code == 409
    assert "2 postings" in answer.content.decode()
    batch.refresh_from_db()
    assert batch.state == Batch.State.OPEN


def test_a_batch_is_not_closed_under_its_postings_from_the_collect_page(desk, batch, client) -> None:
    client.force_login(make_member(batch.study, Role.ADMIN))
    answer = client.post(reverse("batch-state", args=[batch.study.slug, batch.pk]), {"state": "closed"})
    assert answer.status_code == 409
    assert "2 postings of" in answer.content.decode()
    batch.refresh_from_db()
    assert batch.state == Batch.State.OPEN
    close(batch)
    with pytest.raises(Refused, match="can't become"):
        set_state(batch.study, batch.pk, "closed")


# Asked first, with what follows


def test_expire_is_there_while_anything_stands_and_close_while_it_can_do_something(desk, batch, client) -> None:
    assert 'value="expire"' in admins_page(client, batch)
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.CLOSED)  # as an older version left it
    page = admins_page(client, batch)
    assert 'value="expire"' in page
    assert 'value="close"' in page
    assert "Postings stand on the market for this closed batch" in page
    batch.refresh_from_db()
    close(batch)
    page = admins_page(client, batch)
    assert 'value="expire"' not in page
    assert 'value="close"' not in page


def test_expire_and_close_are_shown_with_their_consequences_before_they_are_done(desk, batch, client) -> None:
    hand_in(desk, batch)
    collect(batch)
    Submission.objects.create(
        posting=batch.postings.order_by("pk")[1],
        worker=Submission.objects.get().worker,
        market_id="at work",
        started_at=clock.now(),
    )
    client.force_login(make_member(batch.study, Role.ADMIN))
    ends = clock.now() + timedelta(seconds=600)
    page = " ".join(act(client, batch, action="expire").content.decode().split())
    assert "2 postings end on the market: nobody new can take them." in page
    assert f"1 person is at work and may hand in until {ends:%Y-%m-%d %H:}" in page
    assert "Of $0.48 promised, what nobody can claim any more is free again." in page
    page = " ".join(act(client, batch, action="close").content.decode().split())
    assert "A closed batch stays closed" in page
    assert f"1 person works on it until {ends:%Y-%m-%d %H:}" in page
    assert "it closes by itself then" in page
    assert not Job.objects.exists()
    assert statuses(desk) == ["Assignable", "Assignable"]
    act(client, batch, action="expire", sure="1")
    assert Job.objects.get().kind == "expire"


# A close that waits


def test_a_close_waits_for_people_at_work_and_for_verdicts_and_the_background_finishes_it(
    desk, batch, django_capture_on_commit_callbacks
) -> None:
    names = hand_in(desk, batch)
    second = batch.postings.order_by("pk")[1]
    held = desk.ask("accept", hit_id=second.market_id, worker_id=names[0])
    job = Job.objects.create(study=batch.study, kind="close", options={"batch": batch.pk})
    message = close_job(job, lambda *_progress: None)
    assert message.startswith("1 person works on it until ")  # and not the market's own error
    assert message.endswith("it closes by itself then.")
    batch.refresh_from_db()
    assert batch.state == Batch.State.OPEN
    assert batch.close_asked_at is not None
    Job.objects.update(state="done", ended_at=clock.now())
    assert start_waiting_closes() == 0  # one submission waits for a verdict
    desk.ask("submit", assignment_id=held, answers=form_answers(second.task))
    collect(batch)
    approve(list(Submission.objects.filter(posting__batch=batch)), None)
    assert start_waiting_closes() == 0  # it was tried a moment ago
    with clock.fixed(clock.now() + AGAIN + timedelta(seconds=1)):
        with django_capture_on_commit_callbacks(execute=True):
            assert start_waiting_closes() == 1
        assert start_waiting_closes() == 0
    batch.refresh_from_db()
    assert batch.state == Batch.State.CLOSED
    assert statuses(desk) == ["Disposed", "Disposed"]
    check_books(batch, desk.books)


def test_settle_finishes_a_close_that_waits(desk, batch) -> None:
    hand_in(desk, batch)
    with pytest.raises(ClosesLater, match="1 submission waits for your verdict"):
        close(batch)
    reject(list(Submission.objects.filter(posting__batch=batch)), "Nothing was read.", None)
    settle(batch.study)
    batch.refresh_from_db()
    assert batch.state == Batch.State.CLOSED
    assert desk.books["held"] == 0


# Told


def test_settle_and_the_doctor_tell_of_postings_that_stand_for_a_closed_batch(desk, batch) -> None:
    from deploy.doctor.markets import nothing_stands_for_a_closed_batch

    assert list(nothing_stands_for_a_closed_batch()) == []
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.CLOSED)
    [sentence] = settle(batch.study).differences
    assert sentence.startswith(f"2 postings stand on the market for “{batch.name}”, which is closed")
    [problem] = nothing_stands_for_a_closed_batch()
    assert problem.msg.startswith(f"2 postings stand on a market for closed batches ({batch.study.name}: {batch.name})")
    batch.refresh_from_db()
    close(batch)
    assert settle(batch.study).differences == []
    assert list(nothing_stands_for_a_closed_batch()) == []


def test_expiring_again_finds_what_a_closed_batch_left_open(desk, batch) -> None:
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.CLOSED)
    batch.refresh_from_db()
    assert expire(batch) == 2
    batch.study.refresh_from_db()
    assert batch.study.committed_cents == desk.books["held"] == 0
    assert batch.state == Batch.State.CLOSED


# One market that does not answer


def test_settle_goes_on_past_a_batch_that_it_cannot_reach(desk, settings, capsys) -> None:
    first = make_crowd_batch(documents=1, quota=1, question="html")
    publish(first)
    study = first.study
    facts = {"study": study, "protocol": "litepyramid", "terms": first.terms}
    unreachable = Batch.objects.create(name="Elsewhere", crowd="prolific", **facts)
    Posting.objects.create(batch=unreachable, token="elsewhere", places=1, reward_cents=1, state="open", market_id="S")
    last = Batch.objects.create(name="Last", crowd="mturk", **facts)
    last.tasks.create(document=study.documents.get(), summary=first.tasks.get().summary, quota=1)
    publish(last)
    entry = last.entries.get()
    Entry.objects.filter(pk=entry.pk).update(state="planned")
    settings.PROLIFIC_TOKEN, settings.PROLIFIC_URL = "token", "http://127.0.0.1:9"
    settings.PROLIFIC_ALLOWED_URLS, settings.SITE_URL = ["http://127.0.0.1:9"], "http://127.0.0.1:8000"
    report = settle(study)
    assert [sentence.partition(":")[0] for sentence in report.unreachable] == ["“Elsewhere” was left out"]
    entry.refresh_from_db()
    assert entry.state == "settled"  # the batch behind it was settled all the same
    with pytest.raises(CommandError, match="“Elsewhere” was left out"):
        call_command("settle", study.name)
    assert "open lines" in capsys.readouterr().out


# Half a publish


def test_after_half_a_publish_the_numbers_are_true(live_market, desk, settings, client) -> None:
    batch = make_crowd_batch(documents=40, quota=1, question="html")
    proxy = FaultyProxy(live_market.url)
    settings.MTURK_ENDPOINT_URL, settings.MTURK_ALLOWED_ENDPOINTS = proxy.url, [proxy.url]
    settings.MTURK_ATTEMPTS = 1
    try:
        proxy.fail("CreateHITWithHITType", "500")
        with pytest.raises(Refused) as stopped:
            publish(batch)
    finally:
        proxy.stop()
    standing = batch.postings.exclude(state="planned").count()
    assert 0 < standing < 40
    assert f"{standing} postings stand, {40 - standing} are planned; publish again to go on." in str(stopped.value)
    settings.MTURK_ENDPOINT_URL, settings.MTURK_ALLOWED_ENDPOINTS = live_market.url, [live_market.url]
    page = admins_page(client, batch, "launch")
    assert f"{standing} postings stand on the market by these terms." in page
    assert f"{40 - standing} postings are planned and not up yet: publish again to go on." in page
