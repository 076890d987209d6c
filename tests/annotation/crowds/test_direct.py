"""Personal links: one per person, with an end, withdrawn at will, made in bulk, and counted at once."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.common import clock
from annotation.common.errors import BadAnswers, Refused
from annotation.crowds.base import MarketRefused
from annotation.crowds.lookup import market_for
from annotation.crowds.markets.direct import links_csv, links_of, make_links, read_names, withdraw_link
from annotation.models import Assignment, Posting, Submission, Worker
from tests.annotation.crowds.test_worker_pages import fields, sentence
from tests.factories import make_batch, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def site(settings):
    settings.SITE_URL = "https://site.example.org"


@pytest.fixture
def batch():
    return make_batch(make_study(documents=2, units=2), quota=2)


def path(link) -> str:
    return link.url.removeprefix("https://site.example.org")


def test_names_come_as_lines_or_as_csv_each_once():
    assert read_names("Ada\n\n Grace  Hopper\nAda\n") == ["Ada", "Grace Hopper"]
    assert read_names('\ufeffmail,Name\na@x.org,Ada\n,\nb@x.org,"Hopper, Grace"\n') == ["Ada", "Hopper, Grace"]
    with pytest.raises(BadAnswers, match="no name in this"):
        read_names(" \n")
    with pytest.raises(BadAnswers, match="At most 1000 names"):
        read_names("\n".join(map(str, range(1001))))


def test_a_person_has_one_link_however_often_one_is_asked_for(batch):
    first = make_links(batch, ["Ada", "Grace"])
    second = make_links(batch, ["Grace", "Ada", "Edsger"])
    assert [link.name for link in second] == ["Ada", "Edsger", "Grace"]
    assert {link.url for link in first} < {link.url for link in second}
    assert (Submission.objects.count(), Worker.objects.count(), Posting.objects.count()) == (3, 3, 1)
    assert first[0].pseudonym != "Ada"


def test_work_through_a_link_counts_at_once_and_outlives_the_link(batch, django_assert_max_num_queries):
    [link] = make_links(batch, ["Ada"])
    visitor = Client(enforce_csrf_checks=True)
    assert "needs no account" in sentence(visitor.get(path(link)))
    task = visitor.post(path(link), follow=True).request["PATH_INFO"]
    end = visitor.post(task, fields(visitor, task), follow=True)
    assert "You have done 1 task." in sentence(end)
    assert "no last step" in sentence(visitor.get(f"/w/t/{task.split('/')[3]}/finish/"))
    assert Assignment.objects.counted().count() == 1
    withdraw_link(batch, link.id)
    withdrawn_page = visitor.get(path(link))
    assert (withdrawn_page.status_code, "This link was withdrawn" in sentence(withdrawn_page)) == (410, True)
    assert visitor.get(task).status_code == 410
    assert Assignment.objects.counted().count() == 1
    [renewed] = make_links(batch, ["Ada"])
    assert "1 task" in sentence(visitor.get(path(renewed)))
    with django_assert_max_num_queries(1):
        assert [(link.state, link.done) for link in links_of(batch)] == [("open", 1), ("withdrawn", 1)]
    with pytest.raises(Refused, match="withdrawn before"):
        withdraw_link(batch, link.id)
    assert not visitor.cookies


def test_a_link_ends_and_a_new_one_can_be_had(batch):
    [link] = make_links(batch, ["Ada"], days=2)
    with clock.fixed(timezone.now() + timedelta(days=2, minutes=1)):
        expired_page = Client().get(path(link))
        assert (expired_page.status_code, "The time of this address is over" in sentence(expired_page)) == (410, True)
        assert [link.state for link in links_of(batch)] == ["expired"]
        [renewed] = make_links(batch, ["Ada"], days=2)
        assert Client().get(path(renewed)).status_code == 200
    with pytest.raises(BadAnswers, match="from 1 to 365 days"):
        make_links(batch, ["Ada"], days=0)


def test_links_go_into_a_csv_that_no_spreadsheet_takes_for_formulas(batch):
    text = links_csv(make_links(batch, ["=cmd()", "Ada"]))
    head, first, second = text.splitlines()
    assert head == "name,link,until"
    assert first.startswith("'=cmd(),https://site.example.org/w/link/")
    assert second.startswith("Ada,https://")


def test_links_need_the_address_of_the_site(batch, settings):
    settings.SITE_URL = ""
    with pytest.raises(MarketRefused, match="set SITE_URL"):
        make_links(batch, ["Ada"])
    assert not Submission.objects.exists()


def test_a_blocked_person_is_told_so(batch):
    [link] = make_links(batch, ["Ada"])
    Worker.objects.update(blocked_at=timezone.now())
    assert "can't take part" in sentence(Client().get(path(link))).replace("&#x27;", "'")


def test_the_direct_crowd_pays_nobody_and_waits_for_no_market():
    market = market_for("direct")
    assert (market.pays, market.confirms, market.one_posting) == (False, False, True)
