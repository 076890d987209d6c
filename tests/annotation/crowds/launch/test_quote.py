"""The quote: what a launch costs, what it pays by the hour, and what speaks against it, with nothing spent."""

from dataclasses import replace

import pytest

from annotation.common.errors import Refused
from annotation.crowds.base import MarketRefused, MarketUnreachable
from annotation.crowds.collect import collect
from annotation.crowds.launch.close import top_up
from annotation.crowds.launch.publish import publish
from annotation.crowds.launch.quote import quote
from annotation.crowds.ledger import OverBudget, set_budget
from annotation.crowds.lookup import market_for
from annotation.crowds.pay.approve import approve, bonus
from annotation.crowds.terms import terms_of
from annotation.crowds.terms.requirements import LOCALE, PERCENT_APPROVED, approved_more_than, relaxed
from annotation.guidance import give_defaults, write_text
from annotation.models import Assignment, Batch, Entry, Posting, Submission, Task
from tests.annotation.crowds.conftest import make_crowd_batch
from tests.factories import make_worker

pytestmark = [pytest.mark.django_db]


def quote_of(batch: Batch):
    return quote(batch, terms_of(batch))


def untouched(batch: Batch, desk) -> None:
    """Nothing was promised, here or there."""
    batch.study.refresh_from_db()
    assert batch.study.committed_cents == 0
    assert not Entry.objects.filter(batch=batch).exclude(state="failed").exists()
    assert batch.state == Batch.State.DRAFT
    assert desk.books["hits"] == []


def test_reward_fee_and_total(desk) -> None:
    price = quote_of(make_crowd_batch(documents=3, quota=4, reward_cents=15))
    # 12 places × 15 cents; 20 % of 15 is 3 cents for each
    assert (price.postings, price.places) == (3, 12)
    assert (price.reward_cents, price.fee_cents, price.total_cents) == (180, 36, 216)
    assert price.balance_cents == 1_000_00
    assert price.problems == []


@pytest.mark.parametrize(
    ("places", "sizes"), [(9, [9]), (10, [9, 1]), (18, [9, 9]), (20, [9, 9, 2])], ids=lambda value: str(value)
)
def test_ten_places_are_cheaper_as_nine_and_one(desk, places, sizes) -> None:
    batch = make_crowd_batch(documents=1, quota=places, reward_cents=50)
    assert quote_of(batch).fee_cents == places * 10  # 20 %, never 40 %
    publish(batch)
    assert sorted(batch.postings.values_list("places", flat=True), reverse=True) == sizes


def test_a_fee_of_one_cent_either_way_is_not_split(desk) -> None:
    assert quote_of(make_crowd_batch(documents=1, quota=12, reward_cents=2)).postings == 1


def test_masters_cost_five_percent_more(desk) -> None:
    masters = [{"QualificationTypeId": "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "Comparator": "Exists"}]
    assert quote_of(make_crowd_batch(documents=1, quota=1, reward_cents=100, requirements=masters)).fee_cents == 25


def test_the_wage_follows_the_pilots_active_time(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=3, reward_cents=10, minutes=1)
    assert quote_of(batch).hourly_cents == 600  # the estimate: 10 cents a minute
    task, study = Task.objects.get(batch=batch), batch.study
    for seconds in (60, 120, 900):
        signals = {"loads": {"abcd": {"active": seconds}}}
        Assignment.objects.create(task=task, worker=make_worker(study), state="submitted", signals=signals)
    study.minimum_wage_cents = 725
    study.save()
    price = quote_of(batch)
    assert price.hourly_cents == 300  # the median of 120 s
    assert "3 answers" in price.wage_source
    assert "below the study's minimum wage of 7.25" in price.warnings[0]


def test_a_launch_over_the_budget_is_refused(desk) -> None:
    batch = make_crowd_batch(documents=2, quota=1)  # 24 cents
    set_budget(batch.study, 23)
    with pytest.raises(Refused, match="of the study's budget"):
        publish(batch)
    untouched(batch, desk)


def test_the_database_refuses_it_too(desk, monkeypatch) -> None:
    batch = make_crowd_batch(documents=2, quota=1)
    set_budget(batch.study, 23)
    monkeypatch.setattr("annotation.crowds.launch.publish.refuse_problems", lambda offer: None)
    with pytest.raises(OverBudget, match="Nothing was spent"):
        publish(batch)
    untouched(batch, desk)
    assert not Posting.objects.filter(batch=batch).exists()


def test_a_balance_that_is_too_low_is_refused(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=1, reward_cents=900_00)
    with pytest.raises(Refused, match="put money in first"):
        publish(batch)
    untouched(batch, desk)


def test_when_the_balance_runs_out_in_mid_batch_the_rest_is_not_promised(desk, monkeypatch) -> None:
    batch = make_crowd_batch(documents=3, quota=1, reward_cents=400_00)
    monkeypatch.setattr("annotation.crowds.launch.publish.refuse_problems", lambda offer: None)
    with pytest.raises(MarketRefused, match="2 postings stand, 1 are planned"):
        publish(batch)
    batch.study.refresh_from_db()
    assert batch.study.committed_cents == desk.books["held"] == 960_00
    assert batch.state == Batch.State.OPEN


def test_a_question_that_is_too_large_is_refused(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=1, question="html")
    batch.tasks.get().summary.__class__.objects.filter(tasks__batch=batch).update(text="long " * 14_000)
    with pytest.raises(Refused, match="at most 65,535"):
        publish(batch)
    untouched(batch, desk)


def test_a_closed_endpoint_gives_one_sentence(desk, settings) -> None:
    batch = make_crowd_batch()
    url = settings.MTURK_ENDPOINT_URL
    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:9"
    settings.MTURK_ALLOWED_ENDPOINTS, settings.MTURK_ATTEMPTS = ["http://127.0.0.1:9"], 1
    with pytest.raises(Refused, match="does not answer") as refusal:
        publish(batch)
    assert str(refusal.value).count(". ") <= 2
    settings.MTURK_ENDPOINT_URL = url
    untouched(batch, desk)


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254", "http://127.0.0.1:8000/x", "ftp://127.0.0.1", "http://a:b@h"]
)
def test_an_endpoint_that_is_not_allowed_is_not_called(desk, settings, url) -> None:
    batch = make_crowd_batch()
    settings.MTURK_ENDPOINT_URL = url
    with pytest.raises(Refused, match="MTURK_ALLOWED_ENDPOINTS"):
        publish(batch)
    untouched(batch, desk)


def test_a_wrong_key_is_said_to_be_one(desk, settings) -> None:
    settings.MTURK_SECRET_ACCESS_KEY = "x" * 40
    [problem] = quote_of(make_crowd_batch()).problems
    assert "does not accept the access key" in problem


def test_paying_what_is_not_submitted_is_refused(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=1)
    publish(batch)
    posting = batch.postings.get()
    [worker] = desk.ask("workers", count=1)
    market_id = desk.ask("accept", hit_id=posting.market_id, worker_id=worker)
    submission = Submission.objects.create(
        posting=posting,
        market_id=market_id,
        worker=batch.study.workers.create(crowd="mturk", external_id=worker, pseudonym="w-1"),
    )
    [(_one, sentence)] = approve([submission], None).refused
    assert "not submitted yet" in sentence
    with pytest.raises(Refused, match="once the work is submitted"):
        bonus(submission, 100, "Thanks.", None)
    Submission.objects.filter(pk=submission.pk).update(state="submitted")  # were we wrong about it, the market says no
    [(_one, sentence)] = approve([submission], None, without_answers=True).refused
    assert "The market says" in sentence
    [(_one, sentence)] = bonus(submission, 100, "Thanks.", None).refused
    assert "The market says" in sentence
    assert (desk.books["paid"], desk.books["bonuses"]) == (0, [])
    batch.study.refresh_from_db()
    assert batch.study.committed_cents == desk.books["held"] == 12


def test_a_bonus_over_the_budget_is_refused(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=1, question="html")
    publish(batch)
    posting = batch.postings.get()
    [worker] = desk.ask("workers", count=1)
    desk.ask("work", hit_id=posting.market_id, worker_id=worker, answers={"x": "1"})
    assert collect(batch).unmatched == 1  # a form without its answers is kept, and told
    set_budget(batch.study, 100)
    with pytest.raises(OverBudget, match="budget"):
        bonus(Submission.objects.get(), 80, "Thanks.", None)
    with pytest.raises(OverBudget):
        top_up(batch, None, 8, None)
    assert desk.books["bonuses"] == []
    with pytest.raises(Refused, match="committed already"):
        set_budget(batch.study, 5)


def test_the_same_bonus_is_paid_once(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=1, question="html")
    publish(batch)
    [worker] = desk.ask("workers", count=1)
    desk.ask("work", hit_id=batch.postings.get().market_id, worker_id=worker, answers={"x": "1"})
    collect(batch)
    submission = Submission.objects.get()
    assert bonus(submission, 25, "Thanks.", None).done == 1
    with pytest.raises(Refused, match="paid before"):
        bonus(submission, 25, "Thanks.", None)
    assert bonus(submission, 25, "For the second remark.", None).done == 1
    assert len(desk.books["bonuses"]) == 2


def test_unreachable_is_no_refusal() -> None:
    assert not issubclass(MarketUnreachable, MarketRefused)


def test_a_launch_says_what_is_missing_before_the_first_task_and_where_preset_and_batch_differ(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=2, preset="realsumm")
    warnings = " ".join(quote(batch, terms_of(batch)).warnings)
    assert "The preset means 4 answers a task, and this batch asks for 2" in warnings
    assert "Missing for workers: consent text, instructions, qualification test." in warnings
    batch.tasks.update(quota=4)
    write_text(batch.study, "consent", "We record your answers.", None)
    warnings = " ".join(quote(batch, terms_of(batch)).warnings)
    assert "The preset means" not in warnings
    assert "consent" not in warnings


def test_a_launch_names_default_texts_as_such_until_somebody_writes_their_own(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=1)
    give_defaults(batch.study)
    warnings = quote(batch, terms_of(batch)).warnings
    assert "Missing for workers: qualification test. The Guidance page has them." in warnings
    assert any(words.startswith("Workers read the default text: consent text, instructions.") for words in warnings)
    write_text(batch.study, "instructions", "Read it twice.", None, batch.protocol)
    assert any(
        words.startswith("Workers read the default text: consent text. ")
        for words in quote(batch, terms_of(batch)).warnings
    )
    write_text(batch.study, "consent", "We record your answers.", None)
    assert not any("default text" in words for words in quote(batch, terms_of(batch)).warnings)


def test_a_wage_below_the_usual_minimum_warns_until_the_study_has_its_own(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=1, reward_cents=5, minutes=1)  # 3.00 an hour
    assert any("below 8.00, the usual minimum" in warning for warning in quote(batch, terms_of(batch)).warnings)
    batch.study.minimum_wage_cents = 250
    batch.study.save()
    assert not any("an hour is below" in warning for warning in quote(batch, terms_of(batch)).warnings)


def test_a_market_is_called_by_its_own_name(settings) -> None:
    settings.MTURK_NAME = "The lab's market"
    assert str(market_for("mturk").title) == "The lab's market"
    settings.MTURK_NAME = ""
    assert str(market_for("mturk").title) == "Mechanical Turk API"


def test_a_launch_says_how_many_workers_of_the_market_qualify_and_offers_relaxed_terms(desk) -> None:
    desk.ask("workers", count=12)
    batch = make_crowd_batch(documents=1, quota=4, preset="realsumm")
    preset = terms_of(batch)
    terms = replace(preset, requirements=[approved_more_than(2_000_000), *preset.requirements])
    strict = quote(batch, terms)
    assert strict.qualified is not None
    assert strict.qualified[0] >= 12
    assert strict.qualified[1] == 0  # nobody has so many approved HITs
    assert strict.shuts_out
    assert any("0 may take it by these requirements" in warning for warning in strict.warnings)
    kinder = replace(terms, requirements=relaxed(terms.requirements))
    assert [rule["QualificationTypeId"] for rule in kinder.requirements] == [PERCENT_APPROVED, LOCALE]
    anybody = quote(batch, replace(terms, requirements=[]))
    assert anybody.qualified == (strict.qualified[0], strict.qualified[0])
    assert not anybody.shuts_out


def test_a_market_that_does_not_tell_holds_nothing_up(desk, settings) -> None:
    settings.MTURK_ALLOWED_ENDPOINTS = []
    assert market_for("mturk").qualified({"requirements": []}) is None
