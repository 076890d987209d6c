"""Our own marketplace signs who comes: nobody enters under another worker's id. Against the real one, over a socket."""

import hashlib
import hmac
import re
from html import unescape
from http.cookiejar import CookieJar
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from django.test import Client

from annotation.common import clock
from annotation.crowds.launch.publish import publish
from annotation.crowds.markets.mturk.signed_entry import entry_signature
from annotation.models import Assignment, Submission, Worker
from tests.annotation.crowds.conftest import make_crowd_batch

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "a-long-word-for-tests"


class Browser:
    """A worker's browser on the market's pages."""

    def __init__(self, desk, name: str) -> None:
        self.desk, self.opener = desk, build_opener(HTTPCookieProcessor(CookieJar()))
        self.worker_id = desk.ask("account", name=name, password=PASSWORD)
        form = self.get("/sign-in/")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)[1]
        fields = {"csrfmiddlewaretoken": token, "username": name, "password": PASSWORD}
        self.opener.open(f"{desk.market.url}/sign-in/", urlencode(fields).encode()).read()

    def get(self, path: str) -> str:
        return self.opener.open(self.desk.market.url + path).read().decode()

    def frame(self, path: str) -> str:
        """The address in the page's frame."""
        return unescape(re.search(r'<iframe[^>]* src="([^"]+)"', self.get(path))[1])


@pytest.fixture
def site(desk, settings):
    settings.MARKET_ORIGINS, settings.MTURK_SIGNED_ENTRY = [desk.market.url], True
    return desk


@pytest.fixture
def wanda(site):
    return Browser(site, f"wanda{Worker.objects.count()}-{site.requester}")


def make_postings(documents: int = 1):
    batch = make_crowd_batch(documents=documents, quota=1)
    publish(batch)
    return list(batch.postings.order_by("pk"))


def accepted(worker: Browser, posting) -> str:
    """The frame's address once the HIT is taken."""
    assignment_id = worker.desk.ask("accept", hit_id=posting.market_id, worker_id=worker.worker_id)
    return worker.frame(f"/work/{assignment_id}/")


def visit(address: str):
    url = urlsplit(address)
    return Client().get(f"{url.path}?{url.query}")


def address_with(address: str, **values: str) -> str:
    """The address with other values; None takes one out."""
    pairs = [(name, values.pop(name, value)) for name, value in parse_qsl(urlsplit(address).query)]
    return f"{address.partition('?')[0]}?{urlencode([pair for pair in pairs if pair[1] is not None])}"


def turned_away(address: str) -> None:
    answer = visit(address)
    assert answer.status_code == 403
    text = " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())
    assert "Nothing shows that the market itself sent you" in text
    assert "Open the task again from your work on the market's own pages" in unescape(text)
    assert not Worker.objects.exists()
    assert not Submission.objects.exists()
    assert not Assignment.objects.exists()


def test_the_worker_whom_the_market_sends_comes_in_and_a_preview_tells_nobody(wanda):
    [posting] = make_postings()
    preview = wanda.frame(f"/hits/{posting.market_id}/")
    assert not {"signature", "workerId"} & set(parse_qs(urlsplit(preview).query))
    assert "This is a preview" in visit(preview).content.decode()
    address = accepted(wanda, posting)
    with clock.fixed(clock.now()):  # the address says until when it is good
        answer = visit(address)
        assert (answer.status_code, answer["Location"][:5]) == (302, "/w/t/")
        assert Submission.objects.get().worker.external_id == wanda.worker_id
        assert visit(address)["Location"] == answer["Location"]  # the market shows the frame anew
    assert Submission.objects.count() == 1


def test_who_knows_a_workers_id_and_saw_the_preview_does_not_come_in(wanda):
    [posting] = make_postings()
    preview = wanda.frame(f"/hits/{posting.market_id}/")
    made_up = address_with(preview, assignmentId="MADE-UP") + f"&workerId={wanda.worker_id}"
    turned_away(made_up)
    turned_away(f"{made_up}&signature=")
    turned_away(f"{made_up}&signature={'0' * 64}")
    turned_away(f"{made_up}&signature=%C3%A9")


def test_no_part_of_a_signed_address_can_be_another(wanda):
    first, second = make_postings(documents=2)
    address = accepted(wanda, first)
    for change in ("assignmentId", "workerId"):
        turned_away(address_with(address, **{change: "OTHER"}))
    turned_away(address_with(address, hitId=None))
    turned_away(address_with(address, signature=None))
    # The same submission at another task of the study: its HIT is another, and that is signed.
    elsewhere = address.replace(first.token, second.token)
    assert visit(elsewhere).status_code == 404
    turned_away(address_with(elsewhere, hitId=second.market_id))


def test_a_key_can_be_changed_for_another_while_people_work(wanda, settings):
    [posting] = make_postings()
    address = accepted(wanda, posting)
    page = f"/work/{parse_qs(urlsplit(address).query)['assignmentId'][0]}/"
    old = settings.MTURK_ACCESS_KEY_ID
    new = wanda.desk.ask("key", requester=wanda.desk.requester)
    doubly_signed = wanda.frame(page)
    assert len(parse_qs(urlsplit(doubly_signed).query)["signature"]) == 2
    assert visit(doubly_signed).status_code == 302  # the site still has the old key
    settings.MTURK_ACCESS_KEY_ID, settings.MTURK_SECRET_ACCESS_KEY = new["key"], new["secret"]
    assert visit(doubly_signed).status_code == 302  # and now the new one
    wanda.desk.ask("revoke", requester=wanda.desk.requester, key=old)
    assert visit(wanda.frame(page)).status_code == 302
    assert visit(address).status_code == 403  # signed by the old key alone: the page, opened again, has a new address


def test_a_revoked_key_signs_nothing(wanda, settings):
    [posting] = make_postings()
    wanda.desk.ask("key", requester=wanda.desk.requester)
    wanda.desk.ask("revoke", requester=wanda.desk.requester, key=settings.MTURK_ACCESS_KEY_ID)
    turned_away(accepted(wanda, posting))


def test_without_a_key_nobody_is_let_in_and_the_page_names_no_setting(wanda, settings, caplog):
    [posting] = make_postings()
    address = accepted(wanda, posting)
    settings.MTURK_ACCESS_KEY_ID = settings.MTURK_SECRET_ACCESS_KEY = ""
    settings.MTURK_DEMO_KEY_FILE = None
    caplog.set_level("ERROR")
    turned_away(address)
    assert "AWS_ACCESS_KEY_ID" not in visit(address).content.decode()
    assert "No worker of the market can be let in" in caplog.text


def test_a_market_that_does_not_sign_works_as_before(wanda, settings):
    settings.MTURK_SIGNED_ENTRY = False
    [posting] = make_postings()
    assert visit(address_with(accepted(wanda, posting), signature=None)).status_code == 302


def test_what_is_signed_is_what_the_documentation_says(settings):
    settings.MTURK_ACCESS_KEY_ID, settings.MTURK_SECRET_ACCESS_KEY = "AKIA", "secret"
    by_hand = hmac.new(b"secret", b"frame\nA1\nH1\nW1", hashlib.sha256).hexdigest()
    assert entry_signature("A1", "H1", "W1") == by_hand
