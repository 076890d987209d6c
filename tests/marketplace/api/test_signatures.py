"""Who may call: every way to sign wrongly is refused with AWS's own error, and nothing is changed."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from annotation.marketplace import people
from annotation.marketplace.models import HITType
from annotation.marketplace.people import access_keys
from tests.marketplace.wire import call, send, signed

TYPE = {"Title": "t", "Description": "d", "Reward": "0.01", "AssignmentDurationInSeconds": 60}


@pytest.fixture
def url(live_server):
    return live_server.url


@pytest.fixture
def key(url, requester):
    return access_keys.issue_key(requester)


def kind(answer) -> str:
    assert answer.status in (400, 403)
    assert answer.body["Message"]
    assert answer.headers["x-amzn-ErrorType"] == answer.body["__type"]
    assert not HITType.objects.exists()
    return answer.body["__type"]


def creation(url, key, **options):
    return signed(url, key, "CreateHITType", json.dumps(TYPE), **options)


def test_a_signed_call_is_answered(url, key):
    assert send(creation(url, key)).status == 200
    assert HITType.objects.count() == 1


def test_any_region_is_taken_as_sent(url, key):
    assert send(creation(url, key, region="eu-central-1")).status == 200


def test_unsigned(url, key):
    request = creation(url, key)
    del request.headers["Authorization"]
    assert kind(send(request)) == "MissingAuthenticationTokenException"


@pytest.mark.parametrize(
    "header",
    [
        "Basic YTpi",
        "AWS4-HMAC-SHA256 Credential=x",
        "AWS4-HMAC-SHA256 " + "Credential=a/b,SignedHeaders=host,Signature=0",
    ],
)
def test_an_authorization_that_cannot_be_read(url, key, header):
    request = creation(url, key)
    request.headers.replace_header("Authorization", header)
    assert kind(send(request)) == "IncompleteSignatureException"


def test_wrong_secret(url, key):
    assert kind(send(creation(url, access_keys.IssuedKey(key.key_id, "x" * 40)))) == "InvalidSignatureException"


@pytest.mark.parametrize("word", ["Signature=", "Credential=", "SignedHeaders="])
def test_letters_beyond_ascii_are_refused_like_any_other(url, key, word):
    request = creation(url, key)
    words = request.headers["Authorization"].replace(word, word + "é")
    request.headers.replace_header("Authorization", words)
    assert kind(send(request)).endswith("Exception")


def test_a_call_to_another_host_is_refused_before_anything_is_looked_up(url, key, django_assert_num_queries):
    request = creation(url.replace("localhost", "evil.example"), key)
    request.url = url + "/"
    request.headers["Host"] = request.url.replace("http://localhost", "evil.example").rstrip("/")
    assert kind(send(request)) == "InvalidHostException"


def test_unknown_key(url, key):
    unknown = access_keys.IssuedKey("AKIANOBODY", key.secret)
    assert kind(send(creation(url, unknown))) == "UnrecognizedClientException"


def test_revoked_key(url, key, requester):
    access_keys.revoke_key(requester, key.key_id)
    assert kind(send(creation(url, key))) == "UnrecognizedClientException"


def test_closed_requester(url, key, requester):
    requester.is_active = False
    requester.save()
    assert kind(send(creation(url, key))) == "AccessDeniedException"


def test_wrong_service_in_the_scope(url, key):
    assert kind(send(creation(url, key, service="s3"))) == "InvalidSignatureException"


@pytest.mark.parametrize("minutes", [-16, 16])
def test_stale_and_early_dates(url, key, minutes):
    request = creation(url, key, date=datetime.now(UTC) + timedelta(minutes=minutes))
    assert kind(send(request)) == "InvalidSignatureException"


@pytest.mark.parametrize("minutes", [-14, 14])
def test_dates_within_the_window(url, key, minutes):
    assert send(creation(url, key, date=datetime.now(UTC) + timedelta(minutes=minutes))).status == 200


def test_scope_of_another_day(url, key):
    request = creation(url, key)
    today = datetime.now(UTC).strftime("%Y%m%d")
    request.headers.replace_header(
        "Authorization", request.headers["Authorization"].replace(f"/{today}/", "/20200101/")
    )
    assert kind(send(request)) == "InvalidSignatureException"


def test_another_body_under_the_same_signature(url, key):
    request = creation(url, key)
    request.data = json.dumps({**TYPE, "Reward": "100"}).encode()
    assert kind(send(request)) == "InvalidSignatureException"


def test_the_same_body_under_another_calls_signature(url, key):
    request, other_request = creation(url, key), signed(url, key, "GetAccountBalance")
    request.headers.replace_header("Authorization", other_request.headers["Authorization"])
    assert kind(send(request)) == "InvalidSignatureException"


def test_another_operation_under_the_same_signature(url, key):
    request = signed(url, key, "GetAccountBalance", json.dumps(TYPE))
    request.headers.replace_header("X-Amz-Target", "MTurkRequesterServiceV20170117.CreateHITType")
    assert kind(send(request)) == "InvalidSignatureException"


def test_an_unsigned_target_is_refused(url, key):
    request = creation(url, key)
    signature = request.headers["Authorization"].replace(";x-amz-target", "")
    request.headers.replace_header("Authorization", signature)
    answer = send(request)
    assert kind(answer) == "InvalidSignatureException"
    assert "x-amz-target" in answer.body["Message"]


def test_an_unsigned_body_is_refused(url, key):
    request = creation(url, key)
    request.headers["X-Amz-Content-Sha256"] = "UNSIGNED-PAYLOAD"
    assert kind(send(request)) == "InvalidSignatureException"


def test_a_body_that_is_no_json(url, key):
    assert kind(send(signed(url, key, "CreateHITType", "{"))) == "SerializationException"


def test_another_requesters_things_are_not_there(url, key):
    stranger = access_keys.issue_key(people.make_requester("Stranger"))
    hit_type_id = send(creation(url, key)).body["HITTypeId"]
    answer = call(url, stranger, "UpdateNotificationSettings", HITTypeId=hit_type_id, Active=True)
    assert (answer.status, answer.body["TurkErrorCode"]) == (400, "AWS.MechanicalTurk.HITTypeDoesNotExist")


def test_secrets_are_shown_once_and_stored_nowhere(key, requester):
    row = requester.access_keys.get()
    assert key.secret not in {str(value) for value in vars(row).values()}
    assert access_keys.secret_of(row) == key.secret
    assert len(key.secret) == 40


def test_a_new_secret_key_voids_every_key(key, requester, settings):
    settings.SECRET_KEY = "another"
    assert access_keys.secret_of(requester.access_keys.get()) != key.secret
