"""Calls by hand: a signed HTTP request whose every part a test can bend."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from annotation.marketplace.people.access_keys import IssuedKey

PREFIX = "MTurkRequesterServiceV20170117."


@dataclass(frozen=True)
class Answer:
    status: int
    body: dict
    headers: dict


def signed(
    url: str,
    key: IssuedKey,
    operation: str,
    body: str = "{}",
    *,
    service: str = "mturk-requester",
    region: str = "us-east-1",
    date: datetime | None = None,
) -> AWSRequest:
    """A request signed by botocore, ready to be sent or bent."""
    headers = {"X-Amz-Target": PREFIX + operation, "Content-Type": "application/x-amz-json-1.1"}
    request = AWSRequest("POST", url + "/", headers=headers, data=body.encode())
    signer = SigV4Auth(Credentials(key.key_id, key.secret), service, region)
    if date is None:
        signer.add_auth(request)
        return request
    # What add_auth does, at another time.
    request.context["timestamp"] = date.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    signer._modify_request_before_signing(request)
    text = signer.string_to_sign(request, signer.canonical_request(request))
    signer._inject_signature_to_request(request, signer.signature(text, request))
    return request


def send(request: AWSRequest) -> Answer:
    raw = urllib.request.Request(request.url, request.data, dict(request.headers.items()), method="POST")
    try:
        with urllib.request.urlopen(raw, timeout=20) as response:
            return Answer(response.status, json.loads(response.read()), dict(response.headers))
    except urllib.error.HTTPError as error:
        return Answer(error.code, json.loads(error.read()), dict(error.headers))


def call(url: str, key: IssuedKey, operation: str, **params) -> Answer:
    return send(signed(url, key, operation, json.dumps(params)))
