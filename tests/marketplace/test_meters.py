"""What an operator measures: the market's figures at /metrics, for whoever shows the token."""

from datetime import timedelta

import pytest
from django.test import Client

from annotation.common import clock
from annotation.marketplace.hits import assignments, work
from annotation.marketplace.models import Notice
from tests.marketplace.fixtures import make_hit, submit_work

pytestmark = pytest.mark.django_db


def test_metrics_tell_of_hits_assignments_money_and_requests_to_who_shows_the_token(settings, requester, anna, bob):
    settings.DEMO, settings.METRICS_TOKEN = False, "right"
    hit = make_hit(requester, places=3)  # 10 cents and a fee of 2 for each place
    assignment = submit_work(anna, hit.hit_id)
    assignments.approve_assignment(requester, assignment.assignment_id)
    work.accept_hit(bob, hit.hit_id)
    Notice.objects.create(requester=requester, event_type="Ping", at=clock.now(), callback="https://x.example/")
    assert Client().get("/metrics").status_code == 404
    assert Client().get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 404
    answer = Client().get("/metrics", headers={"Authorization": "Bearer right"})
    assert answer.status_code == 200
    lines = answer.content.decode().splitlines()
    assert 'pyramidion_market_hits{kind="Assignable"} 1.0' in lines
    assert 'pyramidion_market_hits{kind="Disposed"} 0.0' in lines
    assert 'pyramidion_market_assignments{kind="Accepted"} 1.0' in lines
    assert 'pyramidion_market_assignments{kind="Approved"} 1.0' in lines
    sums = {"put_in": 1e7, "available": 1e7 - 36, "held": 24, "paid": 10, "fees": 2, "owed": 10}
    for pot, cents in sums.items():
        [line] = [row for row in lines if row.startswith(f'pyramidion_market_money_cents{{kind="{pot}"}}')]
        assert float(line.split()[1]) == cents
    assert 'pyramidion_market_notices{kind="given_up"} 1.0' in lines
    assert 'pyramidion_market_due_seconds{kind="oldest"} 0.0' in lines
    assert any(line.startswith("pyramidion_request_seconds_bucket{") for line in lines)


def test_a_clock_that_nobody_minds_shows(settings, requester):
    settings.DEMO, settings.METRICS_TOKEN = True, ""
    hit = make_hit(requester, lifetime=60)
    with clock.fixed(hit.expires_at + timedelta(seconds=400)):
        html = Client().get("/metrics").content.decode()
    assert 'pyramidion_market_due_seconds{kind="oldest"} 400.0' in html
