"""What a judge costs: a quote from counted tokens, a cap that the database keeps, lines of the ledger."""

import pytest
from django.db import IntegrityError, transaction

from annotation.common.errors import Refused
from annotation.crowds.judges.money import raise_cap
from annotation.crowds.judges.quote import quote_judge
from annotation.crowds.judges.run import CapReached, run_judge
from annotation.crowds.ledger import OverBudget, set_budget
from annotation.crowds.markets.models.prices import cost, count_tokens
from annotation.models import Batch, Entry, JudgeCall, JudgeRun
from tests.annotation.crowds.judges.conftest import make_judge, make_run
from tests.annotation.crowds.judges.fault_server import FaultServer
from tests.factories import make_batch, make_study

pytestmark = pytest.mark.django_db(transaction=True)


def batch_of(documents: int = 3) -> Batch:
    return make_batch(make_study(documents=documents, units=2))


def test_tokens_are_counted_in_pieces_of_four_letters() -> None:
    # Summ|ari|es? no: Summ aries -> Summ, arie, s = 3; "," = 1; 2026 = 4 digits; "ok" = 1
    assert count_tokens("Summaries, 2026 ok") == 3 + 1 + 4 + 1


def test_a_quote_is_what_the_counted_tokens_cost(server: FaultServer) -> None:
    batch = batch_of()
    judge = make_judge(batch.study, server, price_in="0.5", price_out=2, samples=2)
    quote = quote_judge(judge, batch)
    assert (quote.tasks, quote.counted, quote.calls) == (3, 3, 6)
    assert quote.tokens_out == 3 * 2 * 2 * 8  # tasks, samples, items, tokens of an item
    assert quote.micros == cost(judge, quote.tokens_in, quote.tokens_out)
    assert not server.calls
    assert quote.proposed_cents * 10_000 >= quote.micros * 1.25


def test_after_some_calls_the_endpoints_own_counts_correct_ours(server: FaultServer) -> None:
    batch = batch_of()
    run = make_run(batch, server, price_in=10, price_out=10)
    run_judge(run.batch)
    quote = quote_judge(run.judge, batch)
    # What the server counted of these three calls; the mark around a text has more or fewer pieces in each run.
    assert quote.tokens_in == pytest.approx(300, abs=5)
    assert quote.tokens_out == 60


def test_what_is_not_used_of_the_cap_is_given_back(server: FaultServer) -> None:
    run = make_run(batch_of(), server, cap_cents=400, price_in=1000, price_out=1000)
    study = run.batch.study
    study.refresh_from_db()
    assert study.committed_cents == 400
    run_judge(run.batch)
    study.refresh_from_db()
    # three calls of 100 + 20 tokens at 1,000 a million: 0.12 each, 36 cents in all
    assert study.committed_cents == 36
    lines = Entry.objects.filter(batch=run.batch).values_list("kind", "fee_cents", "promised_cents", "paid_cents")
    assert list(lines) == [("post", 400, 400, 0), ("approve", 36, -36, 36), ("release", -364, -364, 0)]


def test_the_database_refuses_a_call_that_could_go_over_the_cap_whoever_writes_it(server: FaultServer) -> None:
    run = make_run(batch_of(), server, price_in=1, price_out=1)
    worker = run.batch.study.workers.create(crowd="models")
    assignment = run.batch.tasks.first().assignments.create(worker=worker, state="expired")
    with pytest.raises(IntegrityError, match="judge_run_cap_kept"), transaction.atomic():
        JudgeCall.objects.create(
            run=run, assignment=assignment, sample=0, attempt=1, token="t", request={}, micros=run.cap_micros + 1
        )


def test_a_run_stops_at_its_cap_and_goes_on_when_it_is_raised(server: FaultServer) -> None:
    batch = batch_of(documents=4)
    judge = make_judge(batch.study, server, price_in=100, price_out=1000, max_tokens=16)
    cap = quote_judge(judge, batch).cents
    run = make_run(batch, server, cap_cents=cap, price_in=100, price_out=1000, max_tokens=16)
    # A call is booked with about 270,000 and costs 30,000: there is room for the first, and then for few more.
    JudgeRun.objects.filter(pk=run.pk).update(cap_micros=300_000)
    with pytest.raises(CapReached, match="The cap is reached"):
        run_judge(run.batch)
    run.refresh_from_db()
    assert run.committed_micros <= run.cap_micros
    assert len(server.billed) < 4
    raise_cap(run, 10_00, None)
    assert run_judge(run.batch).done == 4
    assert set(server.billed.values()) == {1}


def test_the_studys_budget_holds_for_judges_too(server: FaultServer) -> None:
    batch = batch_of()
    set_budget(batch.study, 50)
    with pytest.raises(OverBudget):
        make_run(batch, server, cap_cents=51)
    assert not Batch.objects.filter(role="model").exists()
    assert not JudgeRun.objects.exists()
    assert not Entry.objects.exists()


def test_a_cap_below_the_quote_is_refused(server: FaultServer) -> None:
    with pytest.raises(Refused, match="below the quote"):
        make_run(batch_of(), server, cap_cents=0, price_in=1000, price_out=1000)


def test_an_answer_without_usage_counts_as_the_most_it_can_cost(server: FaultServer) -> None:
    run = make_run(batch_of(1), server, price_in=1, price_out=1)
    whole = server.completion
    server.completion = lambda request, fault: whole(request, fault).replace(b'"usage"', b'"used"')
    run_judge(run.batch)
    call = JudgeCall.objects.get(run=run)
    assert call.tokens_in is None
    assert call.micros > 16
