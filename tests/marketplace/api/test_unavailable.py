"""While the database doesn't answer, a call gets 503 with a document, and clients try again."""

import sqlite3

import pytest
from django.conf import settings
from django.db import connection

from annotation.marketplace.models import HITType
from annotation.marketplace.people import access_keys
from tests.marketplace.fixtures import on_postgres
from tests.marketplace.wire import call

TYPE = {"Title": "t", "Description": "d", "Reward": "0.01", "AssignmentDurationInSeconds": 60}


@pytest.mark.skipif(on_postgres(), reason="SQLite has one lock for all")
def test_a_locked_database_is_503_and_the_call_can_be_tried_again(live_server, requester, monkeypatch):
    key = access_keys.issue_key(requester)
    monkeypatch.setitem(settings.DATABASES["default"]["OPTIONS"], "timeout", 0.1)
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        answer = call(live_server.url, key, "CreateHITType", **TYPE)
    finally:
        other.rollback()
        other.close()
    assert (answer.status, answer.body["__type"], answer.headers["Retry-After"]) == (503, "ServiceUnavailable", "10")
    assert not HITType.objects.exists()
    assert call(live_server.url, key, "CreateHITType", **TYPE).status == 200
