"""Telling people: events to requesters (inbox, HTTP callback), messages to workers.

A callback goes only to hosts the operator has allowed (MARKETPLACE_CALLBACK_HOSTS), follows no redirect, and is tried
again for a day. Events are hints: a notice may come late, twice or never, so clients reconcile by listing.
"""

import http.client
import json
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from annotation.common import clock
from annotation.marketplace.errors import BadParameter, NotSupported
from annotation.marketplace.models import HIT, Assignment, Message, Notice, Requester, Worker

VERSIONS = ("2006-05-05", "2014-08-15")
INBOX_TRANSPORT = "Email"
LONGEST_ADDRESS = 500
WAITS = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6), timedelta(hours=17))


def check_destination(spec: dict[str, Any]) -> None:
    """A NotificationSpecification this market can serve. Raises BadParameter or NotSupported."""
    if spec["Version"] not in VERSIONS:
        raise BadParameter(f"Notification version {spec['Version']!r} is unknown; known are {', '.join(VERSIONS)}.")
    if not spec["EventTypes"]:
        raise BadParameter("Notification.EventTypes is empty: name at least one event.")
    if spec["Transport"] == INBOX_TRANSPORT:
        return
    if len(spec["Destination"]) > LONGEST_ADDRESS:
        raise BadParameter(f"Notification.Destination has more than {LONGEST_ADDRESS} characters.")
    try:
        url = urlsplit(spec["Destination"])
    except ValueError:
        raise BadParameter("Notification.Destination is not an address.") from None
    if url.scheme not in {"http", "https"} or not url.hostname:
        raise NotSupported(
            "This marketplace posts notifications to an HTTP address: give one as Destination (with Transport SQS or "
            "SNS), or use Transport Email for the inbox on the site. There are no queues or topics here."
        )
    if url.netloc.rpartition("@")[2] not in allowed_hosts(url.scheme) or "@" in url.netloc:
        raise NotSupported(
            f"The operator has not allowed notifications to {url.netloc!r} (setting MARKETPLACE_CALLBACK_HOSTS)."
        )


def allowed_hosts(scheme: str) -> set[str]:
    """Hosts as they stand in an address, with and without the scheme's own port."""
    port = {"http": ":80", "https": ":443"}[scheme]
    return {form for host in settings.MARKETPLACE_CALLBACK_HOSTS for form in (host, host + port)}


def announce(hit: HIT, event_type: str, assignment: Assignment | None = None) -> None:
    """Note an event of a HIT, if its requester asked to hear of such."""
    hit_type = hit.hit_type
    if hit_type.notification_active and event_type in hit_type.notification.get("EventTypes", []):
        _note(hit.requester_id, hit_type.notification, event_type, hit, assignment)


def send_test(requester: Requester, spec: dict[str, Any], event_type: str) -> None:
    """SendTestEventNotification: one notice, now."""
    check_destination(spec)
    notice = _note(requester.pk, spec, event_type)
    if notice.callback:
        deliver(notice)


def _note(
    requester_id: int,
    spec: dict[str, Any],
    event_type: str,
    hit: HIT | None = None,
    assignment: Assignment | None = None,
) -> Notice:
    now = clock.now()
    callback = "" if spec["Transport"] == INBOX_TRANSPORT else spec["Destination"]
    return Notice.objects.create(
        requester_id=requester_id,
        event_type=event_type,
        hit_type_id=hit.hit_type.hit_type_id if hit else "",
        hit_id=hit.hit_id if hit else "",
        assignment_id=assignment.assignment_id if assignment else "",
        at=now,
        callback=callback,
        next_try_at=now if callback else None,
    )


def deliver_due(now: datetime, limit: int = 100) -> int:
    """Post the callbacks that are due; returns how many arrived."""
    arrived = 0
    for _ in range(limit):
        notice = _claim(now)
        if notice is None:
            break
        arrived += deliver(notice)
    return arrived


def _claim(now: datetime) -> Notice | None:
    """A notice to post, put off for others meanwhile. No transaction stays open while the callback is waited for."""
    with transaction.atomic():
        due = Notice.objects.select_for_update(skip_locked=True).filter(next_try_at__lte=now)
        notice = due.order_by("next_try_at", "pk").first()
        if notice is not None:
            notice.next_try_at = now + WAITS[0]
            notice.save(update_fields=["next_try_at"])
        return notice


def deliver(notice: Notice) -> bool:
    """One try. A failure is kept on the notice and tried again later."""
    now = clock.now()
    problem = _post(notice.callback, document(notice))
    notice.tries += 1
    notice.problem = problem[:200]
    if problem:
        next_wait = WAITS[notice.tries - 1 : notice.tries]
        notice.next_try_at = now + next_wait[0] if next_wait else None
    else:
        notice.delivered_at, notice.next_try_at = now, None
    notice.save(update_fields=["tries", "problem", "next_try_at", "delivered_at"])
    return not problem


def document(notice: Notice) -> dict[str, Any]:
    """What is posted: the shape of MTurk's event documents."""
    event = {
        "EventType": notice.event_type,
        "EventTimestamp": notice.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "HITTypeId": notice.hit_type_id,
        "HITId": notice.hit_id,
        "AssignmentId": notice.assignment_id,
    }
    return {
        "EventDocId": str(notice.pk),
        "EventDocVersion": VERSIONS[0],
        "CustomerId": notice.requester.requester_id,
        "Events": [{name: value for name, value in event.items() if value}],
    }


def _post(address: str, body: dict[str, Any]) -> str:
    """Post JSON; returns what went wrong, or nothing."""
    url = urlsplit(address)
    if url.scheme not in {"http", "https"} or url.netloc not in allowed_hosts(url.scheme):
        return "The operator no longer allows this host."
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname or "", url.port, timeout=5)
    try:
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        connection.close()
    return "" if 200 <= status < 300 else f"The callback answered {status}."


def tell_worker(worker: Worker, subject: str, body: str, requester: Requester | None = None) -> Message:
    """A message in the worker's inbox."""
    return Message.objects.create(
        worker=worker, requester=requester, subject=subject[:200], body=body, sent_at=clock.now()
    )
