"""Telling people: events to requesters (inbox, HTTP callback, mail), messages to workers.

A callback goes only to hosts the operator has allowed (MARKETPLACE_CALLBACK_HOSTS), follows no redirect, and is tried
again for a day. Mail goes to the requester's own address. Events are hints: a notice may come late, twice or never, so
clients reconcile by listing.
"""

import http.client
import json
import logging
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction

from annotation.common import clock
from annotation.marketplace.errors import BadParameter, NotSupported
from annotation.marketplace.models import HIT, Assignment, Message, Notice, Requester, Worker

log = logging.getLogger(__name__)
VERSIONS = ("2006-05-05", "2014-08-15")
MAIL_TRANSPORT = "Email"
MAIL_SCHEME = "mailto:"
LONGEST_ADDRESS = 500
WAITS = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6), timedelta(hours=17))


def check_destination(requester: Requester, spec: dict[str, Any]) -> None:
    """A NotificationSpecification this market can serve. Raises BadParameter or NotSupported."""
    if spec["Version"] not in VERSIONS:
        raise BadParameter(f"Notification version {spec['Version']!r} is unknown; known are {', '.join(VERSIONS)}.")
    if not spec["EventTypes"]:
        raise BadParameter("Notification.EventTypes is empty: name at least one event.")
    if spec["Transport"] == MAIL_TRANSPORT:
        _check_mail_address(requester, spec.get("Destination", ""))
    else:
        _check_web_address(spec.get("Destination", ""))


def _check_mail_address(requester: Requester, address: str) -> None:
    """Where the market sends mail, nobody can have it sent to others. Without mail, events stay in the inbox."""
    own_address = requester.account.email if requester.account else ""
    if sends_mail() and address.casefold() != own_address.casefold():
        raise NotSupported(
            f"This marketplace mails events only to the e-mail address of your account, not to {address[:100]!r}."
        )


def _check_web_address(address: str) -> None:
    if len(address) > LONGEST_ADDRESS:
        raise BadParameter(f"Notification.Destination has more than {LONGEST_ADDRESS} characters.")
    if not (address.isascii() and address.isprintable()) or " " in address:
        raise BadParameter(
            "Notification.Destination has characters that no address has. Write others than ASCII as %… or xn--…."
        )
    try:
        url = urlsplit(address)
        is_web_address = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError:
        raise BadParameter("Notification.Destination is not an address.") from None
    if not is_web_address:
        raise NotSupported(
            "This marketplace posts notifications to an HTTP address: give one as Destination (with Transport SQS or "
            "SNS), or use Transport Email for mail and the inbox on the site. There are no queues or topics here."
        )
    if url.netloc.rpartition("@")[2] not in allowed_hosts(url.scheme) or "@" in url.netloc:
        raise NotSupported(
            f"The operator has not allowed notifications to {url.netloc!r} (setting MARKETPLACE_CALLBACK_HOSTS)."
        )


def sends_mail() -> bool:
    """Whether the operator has named a mail server."""
    return bool(settings.EMAIL_HOST)


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
    check_destination(requester, spec)
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
    callback = _callback(spec)
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


def _callback(spec: dict[str, Any]) -> str:
    """Where a notice is sent besides the inbox; empty: nowhere."""
    if spec["Transport"] != MAIL_TRANSPORT:
        return str(spec["Destination"])
    return f"{MAIL_SCHEME}{spec['Destination']}"[:LONGEST_ADDRESS] if sends_mail() else ""


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
    """One try. A failure is kept on the notice and tried again later, whatever it was: the next notice has its turn."""
    now = clock.now()
    try:
        problem = _mail(notice) if notice.callback.startswith(MAIL_SCHEME) else _post(notice.callback, document(notice))
    except Exception as error:
        log.exception("A notice could not be sent")
        problem = f"{type(error).__name__}: {error}"
    notice.tries += 1
    notice.problem = problem.encode("ascii", "replace").decode().replace("\0", "?")[:200]
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


def _mail(notice: Notice) -> str:
    """Mail the same document; returns what went wrong, or nothing."""
    address = notice.callback.removeprefix(MAIL_SCHEME)
    own_address = notice.requester.account.email if notice.requester.account else ""
    if not sends_mail() or address.casefold() != own_address.casefold():
        return "This is no longer the e-mail address of the account, or the market no longer sends mail."
    subject = f"{notice.event_type} {notice.hit_id}".strip()
    send_mail(subject, json.dumps(document(notice), indent=2), None, [address])
    return ""


def _post(address: str, body: dict[str, Any]) -> str:
    """Post JSON; returns what went wrong, or nothing."""
    url = urlsplit(address)
    if not address.isascii() or url.scheme not in {"http", "https"} or url.netloc not in allowed_hosts(url.scheme):
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
