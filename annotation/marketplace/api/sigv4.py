"""AWS Signature Version 4: who sent this request, and is it what they sent?

Checked: the credential scope, the date (15 minutes either way), that host, date and operation are signed, the hash of
the body, and the signature itself in constant time.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote

from django.http import HttpRequest
from django.utils import timezone

from annotation.marketplace.models import AccessKey
from annotation.marketplace.people.access_keys import secret_of

from . import failures

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "mturk-requester"
WINDOW = timedelta(minutes=15)
MUST_BE_SIGNED = ("host", "x-amz-date", "x-amz-target")
"""Else whoever overhears a request could send it on as another operation, to another host or at another time."""
USED_AGAIN_AFTER = timedelta(minutes=5)


@dataclass(frozen=True)
class Signature:
    """The parts of an Authorization header."""

    key_id: str
    date: str
    region: str
    service: str
    terminator: str
    signed_headers: list[str]
    signature: str

    @property
    def scope(self) -> str:
        return f"{self.date}/{self.region}/{self.service}/{self.terminator}"


def authenticate(request: HttpRequest, body: bytes) -> AccessKey:
    """The key that signed this request. Raises CallFailed."""
    claimed = parse_authorization(request.headers.get("Authorization") or "")
    moment = _check_date(request, claimed)
    _check_scope(claimed)
    missing = [name for name in MUST_BE_SIGNED if name not in claimed.signed_headers]
    if missing:
        raise failures.bad_signature(f"These headers must be signed: {', '.join(missing)}.")
    if not (claimed.key_id.isascii() and claimed.key_id.isalnum()):
        raise failures.unknown_key()
    key = AccessKey.objects.select_related("requester").filter(key_id=claimed.key_id).first()
    if key is None or key.revoked_at is not None:
        raise failures.unknown_key()
    expected = sign(secret_of(key), claimed, moment, canonical_request(request, claimed, _body_hash(request, body)))
    if not hmac.compare_digest(expected.encode(), claimed.signature.encode()):
        raise failures.bad_signature(
            "The request signature we calculated does not match the signature you provided. Check your secret key, "
            "and that nothing between you and this server changes the request."
        )
    if not key.requester.is_active:
        raise failures.denied("The operator has closed this requester's account.")
    _note_use(key)
    return key


def parse_authorization(header: str) -> Signature:
    if not header:
        raise failures.unsigned()
    algorithm, _, field_list = header.strip().partition(" ")
    if algorithm != ALGORITHM:
        raise failures.incomplete(f"The Authorization header must use {ALGORITHM}.")
    fields = dict(field.strip().split("=", 1) for field in field_list.split(",") if "=" in field)
    missing = [name for name in ("Credential", "SignedHeaders", "Signature") if not fields.get(name)]
    if missing:
        raise failures.incomplete(f"The Authorization header has no {', '.join(missing)}.")
    credential = fields["Credential"].split("/")
    if len(credential) != 5:
        raise failures.incomplete("Credential must be KEY/DATE/REGION/SERVICE/aws4_request.")
    headers = [name.lower() for name in fields["SignedHeaders"].split(";")]
    key_id, date, region, service, terminator = credential
    return Signature(key_id, date, region, service, terminator, headers, fields["Signature"])


def _check_date(request: HttpRequest, claimed: Signature) -> str:
    moment = request.headers.get("X-Amz-Date") or ""
    try:
        sent_at = datetime.strptime(moment, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise failures.incomplete("The X-Amz-Date header must be there, as YYYYMMDDTHHMMSSZ.") from None
    # The real time, not the market's clock: signatures guard against replay, also where tests move the clock.
    if abs(timezone.now() - sent_at) > WINDOW:
        raise failures.bad_signature(
            f"Signature expired: {moment} is more than 15 minutes away from this server's time."
        )
    if claimed.date != moment[:8]:
        raise failures.bad_signature("The date in the credential scope is not the date of X-Amz-Date.")
    return moment


def _check_scope(claimed: Signature) -> None:
    if claimed.service != SERVICE:
        raise failures.bad_signature(f"Credential should be scoped to correct service: {SERVICE!r}.")
    if claimed.terminator != "aws4_request":
        raise failures.bad_signature("Credential should be scoped with a valid terminator: 'aws4_request'.")
    if not re.fullmatch(r"[a-z0-9-]{1,40}", claimed.region):
        raise failures.bad_signature("Credential should be scoped to a valid region, such as us-east-1.")


def _body_hash(request: HttpRequest, body: bytes) -> str:
    real = hashlib.sha256(body).hexdigest()
    stated = request.headers.get("X-Amz-Content-Sha256")
    if stated is not None and stated.lower() != real:
        raise failures.bad_signature("X-Amz-Content-Sha256 is not the hash of the body; unsigned bodies are not taken.")
    return real


def canonical_request(request: HttpRequest, claimed: Signature, body_hash: str) -> str:
    lines = [
        request.method or "",
        quote(request.path, safe="/~-._"),
        _canonical_query(request.META.get("QUERY_STRING", "")),
    ]
    for name in claimed.signed_headers:
        value = request.headers.get(name)
        if value is None:
            raise failures.bad_signature(f"The signed header {name!r} is missing.")
        lines.append(f"{name}:{' '.join(value.split())}")
    return "\n".join([*lines, "", ";".join(claimed.signed_headers), body_hash])


def _canonical_query(query: str) -> str:
    pairs = sorted((quote(n, safe="~"), quote(v, safe="~")) for n, v in parse_qsl(query, keep_blank_values=True))
    return "&".join(f"{name}={value}" for name, value in pairs)


def sign(secret: str, claimed: Signature, moment: str, canonical: str) -> str:
    key = f"AWS4{secret}".encode()
    for scope_part in (claimed.date, claimed.region, claimed.service, claimed.terminator):
        key = hmac.new(key, scope_part.encode(), hashlib.sha256).digest()
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = f"{ALGORITHM}\n{moment}\n{claimed.scope}\n{digest}"
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _note_use(key: AccessKey) -> None:
    """When a key was last used, to five minutes: a write for every call would be dear."""
    now = timezone.now()
    if key.last_used_at is None or abs(now - key.last_used_at) > USED_AGAIN_AFTER:
        AccessKey.objects.filter(pk=key.pk).update(last_used_at=now)
