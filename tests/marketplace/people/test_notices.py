"""Events reach an allowed callback, are tried again when it fails, and go nowhere else."""

import json
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from annotation.common import clock
from annotation.marketplace import people
from annotation.marketplace.errors import BadParameter, NotSupported
from annotation.marketplace.hits import hits, lifecycle
from annotation.marketplace.models import Notice
from annotation.marketplace.people import notices
from tests.marketplace.fixtures import at, make_hit


@pytest.fixture
def callback(settings):
    """A server that keeps what is posted to it, and answers with the first of `answers`."""

    class Handler(BaseHTTPRequestHandler):
        documents: list[dict] = []
        answers: list[int] = []

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.documents.append(body)
            status = self.answers.pop(0) if self.answers else 200
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.end_headers()

        def log_message(self, *words):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Handler.address = f"http://127.0.0.1:{server.server_port}/events"
    settings.MARKETPLACE_CALLBACK_HOSTS = [f"127.0.0.1:{server.server_port}"]
    yield Handler
    server.shutdown()
    server.server_close()


def spec(address: str, *events: str) -> dict:
    return {"Destination": address, "Transport": "SQS", "Version": "2006-05-05", "EventTypes": list(events)}


def test_an_event_is_posted_and_is_in_the_inbox(requester, callback):
    hit = make_hit(requester)
    hits.set_notification(requester, hit.hit_type.hit_type_id, spec(callback.address, "HITCreated"), None)
    second = make_hit(requester)
    assert lifecycle.tick().delivered == 1
    assert [event["HITId"] for event in callback.documents[0]["Events"]] == [second.hit_id]
    assert callback.documents[0]["Events"][0]["EventType"] == "HITCreated"
    notice = requester.notices.get()
    assert (notice.tries, notice.next_try_at, notice.problem) == (1, None, "")
    assert notice.delivered_at is not None
    assert lifecycle.tick().delivered == 0


def test_a_failing_callback_is_tried_again_later(requester, callback):
    callback.answers[:] = [500, 302, 200]
    hit = make_hit(requester)
    with at():
        hits.set_notification(requester, hit.hit_type.hit_type_id, spec(callback.address, "HITCreated"), None)
        make_hit(requester)
        assert lifecycle.tick().delivered == 0
        assert lifecycle.tick().delivered == 0  # not before its time
    with at(minutes=1):
        assert lifecycle.tick().delivered == 0  # a redirect is not followed
        assert "302" in requester.notices.get().problem
    with at(minutes=11):
        assert lifecycle.tick().delivered == 1
    assert len(callback.documents) == 3


def test_after_the_last_try_it_stays_in_the_inbox(requester, callback):
    callback.answers[:] = [500] * 10
    hit = make_hit(requester)
    with at():
        hits.set_notification(requester, hit.hit_type.hit_type_id, spec(callback.address, "HITCreated"), None)
        make_hit(requester)
    for hour in range(0, 72, 2):
        with at(hours=hour):
            notices.deliver_due(hit.created_at.replace(year=2030))
    notice = Notice.objects.get()
    assert (notice.tries, notice.next_try_at, notice.delivered_at) == (6, None, None)


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254/latest",
        "http://127.0.0.1:22/",
        "file:///etc/passwd",
        "arn:aws:sns:us-east-1:1:topic",
        "https://user@{host}/x",
    ],
)
def test_only_allowed_hosts_are_called(requester, callback, settings, address):
    address = address.replace("{host}", settings.MARKETPLACE_CALLBACK_HOSTS[0])
    with pytest.raises(NotSupported):
        notices.check_destination(requester, spec(address, "Ping"))


def test_a_host_that_is_no_longer_allowed_gets_nothing(requester, callback, settings):
    hit = make_hit(requester)
    hits.set_notification(requester, hit.hit_type.hit_type_id, spec(callback.address, "HITCreated"), None)
    make_hit(requester)
    settings.MARKETPLACE_CALLBACK_HOSTS = []
    assert lifecycle.tick().delivered == 0
    assert callback.documents == []


@pytest.mark.parametrize(
    "address",
    [
        "https://[::1/",
        "https://a.example/" + "x" * 500,
        "https://a.example/tür",
        "https://tür.example/",
        "https://a.example:99999/",
        "https://a.example/two words",
    ],
)
def test_addresses_that_are_none(requester, settings, address):
    settings.MARKETPLACE_CALLBACK_HOSTS = ["a.example", "tür.example"]
    with pytest.raises(BadParameter):
        notices.check_destination(requester, spec(address, "Ping"))


def test_one_bad_notice_does_not_stop_the_others(requester, callback, settings):
    """A notice that was stored before such addresses were refused."""
    settings.MARKETPLACE_CALLBACK_HOSTS.append("tür.example")
    bad_addresses = [callback.address + "/tür", "http://tür.example/", "http://[::1/", callback.address + "/a b", "x:"]
    for n, address in enumerate([*bad_addresses, callback.address]):
        due = clock.now() - timedelta(minutes=10 - n)
        Notice.objects.create(requester=requester, event_type="Ping", at=due, callback=address, next_try_at=due)
    assert lifecycle.tick().delivered == 1
    assert len(callback.documents) == 1
    assert [bool(notice.problem) for notice in Notice.objects.order_by("pk")] == [True] * 5 + [False]


def mail_spec(address: str) -> dict:
    return {**spec(address, "HITCreated"), "Transport": "Email"}


def test_events_are_mailed_to_the_requesters_own_address_only(requester, settings, mailoutbox):
    settings.EMAIL_HOST = "mail.example"
    requester.account = people.make_account("lab", "a-fine-long-phrase", email="lab@example.org")
    requester.save()
    hit = make_hit(requester)
    with pytest.raises(NotSupported, match="only to the e-mail address of your account"):
        hits.set_notification(requester, hit.hit_type.hit_type_id, mail_spec("somebody@else.example"), None)
    hits.set_notification(requester, hit.hit_type.hit_type_id, mail_spec("Lab@example.org"), None)
    second = make_hit(requester)
    assert lifecycle.tick().delivered == 1
    assert [(mail.to, second.hit_id in mail.subject) for mail in mailoutbox] == [(["Lab@example.org"], True)]


def test_without_a_mail_server_events_stay_in_the_inbox(requester, mailoutbox):
    hit = make_hit(requester)
    hits.set_notification(requester, hit.hit_type.hit_type_id, mail_spec("lab@example.org"), None)
    make_hit(requester)
    assert lifecycle.tick().delivered == 0
    assert mailoutbox == []
    assert requester.notices.get().callback == ""
