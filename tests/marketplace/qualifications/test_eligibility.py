"""Workers get qualifications; requirements compare them."""

import pytest

from annotation.marketplace.errors import AlreadySubmitted, QualificationTypeDoesNotExist, TimeIsUp, TooSoon
from annotation.marketplace.models import QualificationRequest
from annotation.marketplace.qualifications import qualifications, requests
from annotation.marketplace.qualifications.eligibility import (
    ADULT,
    LOCALE,
    MASTERS,
    NUMBER_APPROVED,
    PERCENT_APPROVED,
    WorkerProfile,
    describe,
    is_met,
    profile_of,
)
from annotation.marketplace.questions.answers import Answer, build_answers
from tests.marketplace.fixtures import FORM, KEY, at

pytestmark = [pytest.mark.postgres, pytest.mark.sqlite]  # on both databases
HAS = WorkerProfile({"3Q": 5}, "US", "CA")
LACKS = WorkerProfile({})


@pytest.mark.parametrize(
    ("comparator", "values", "has", "lacks"),
    [
        ("Exists", [], True, False),
        ("DoesNotExist", [], False, True),
        ("EqualTo", [5], True, False),
        ("NotEqualTo", [5], False, False),
        ("NotEqualTo", [4], True, False),
        ("LessThan", [5], False, False),
        ("LessThan", [6], True, False),
        ("LessThanOrEqualTo", [5], True, False),
        ("GreaterThan", [5], False, False),
        ("GreaterThan", [4], True, False),
        ("GreaterThanOrEqualTo", [5], True, False),
        ("In", [1, 5], True, False),
        ("NotIn", [1, 5], False, False),
        ("NotIn", [1, 2], True, False),
    ],
)
def test_comparators(comparator, values, has, lacks):
    requirement = {"QualificationTypeId": "3Q", "Comparator": comparator, "IntegerValues": values}
    assert (is_met(requirement, HAS), is_met(requirement, LACKS)) == (has, lacks)


@pytest.mark.parametrize(
    ("comparator", "places", "met"),
    [
        ("EqualTo", [{"Country": "US"}], True),
        ("EqualTo", [{"Country": "US", "Subdivision": "CA"}], True),
        ("EqualTo", [{"Country": "US", "Subdivision": "NY"}], False),
        ("NotEqualTo", [{"Country": "US"}], False),
        ("In", [{"Country": "DE"}, {"Country": "US"}], True),
        ("NotIn", [{"Country": "DE"}, {"Country": "FR"}], True),
    ],
)
def test_places(comparator, places, met):
    requirement = {"QualificationTypeId": LOCALE, "Comparator": comparator, "LocaleValues": places}
    assert is_met(requirement, HAS) == met
    assert not is_met(requirement, LACKS)


def test_system_qualifications_follow_the_record(anna):
    assert profile_of(anna).values == {PERCENT_APPROVED: 100, NUMBER_APPROVED: 0, ADULT: 0}
    anna.approved_count, anna.rejected_count, anna.is_adult, anna.is_master = 2, 1, True, True
    values = profile_of(anna).values
    assert (values[PERCENT_APPROVED], values[NUMBER_APPROVED], values[ADULT], values[MASTERS]) == (66, 2, 1, 1)


def test_requirements_in_words():
    requirement = {"QualificationTypeId": "3Q", "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [80]}
    assert describe(requirement, {"3Q": "Colours"}) == "Colours is at least 80"
    place = {
        "QualificationTypeId": LOCALE,
        "Comparator": "In",
        "LocaleValues": [{"Country": "US", "Subdivision": "CA"}],
    }
    assert describe(place, {}) == "Location is one of US-CA"


@pytest.fixture
def tested(requester):
    return qualifications.create_type(
        requester, name="Colours", description="d", test=FORM, answer_key=KEY, test_seconds=600, retry_seconds=3600
    )


def paper(colour: str) -> str:
    return build_answers([Answer("colour", selections=(colour,))])


def test_a_test_with_a_key_is_scored_at_once(tested, anna):
    with at():
        request = requests.request_qualification(anna, tested.qualification_type_id)
        assert request.state == "Started"
        assert requests.request_qualification(anna, tested.qualification_type_id) == request
        requests.submit_test(anna, request.request_id, paper("green"))
        assert profile_of(anna).values[tested.qualification_type_id] == 0
        with pytest.raises(AlreadySubmitted):
            requests.submit_test(anna, request.request_id, paper("blue"))
        with pytest.raises(TooSoon):
            requests.request_qualification(anna, tested.qualification_type_id)
    with at(hours=1):
        second = requests.request_qualification(anna, tested.qualification_type_id)
        requests.submit_test(anna, second.request_id, paper("blue"))
    assert profile_of(anna).values[tested.qualification_type_id] == 100


def test_a_test_has_its_time(tested, anna):
    with at():
        request = requests.request_qualification(anna, tested.qualification_type_id)
    with at(seconds=600), pytest.raises(TimeIsUp):
        requests.submit_test(anna, request.request_id, paper("blue"))
    assert tested.qualification_type_id not in profile_of(anna).values
    with at(hours=2):
        assert requests.request_qualification(anna, tested.qualification_type_id).pk != request.pk


def test_auto_granted_and_by_hand(requester, anna):
    auto = qualifications.create_type(requester, name="A", description="d", auto_granted=True, auto_granted_value=3)
    hand = qualifications.create_type(requester, name="H", description="d")
    assert requests.request_qualification(anna, auto.qualification_type_id).state == "Granted"
    request = requests.request_qualification(anna, hand.qualification_type_id)
    assert request.state == "Pending"
    with pytest.raises(TooSoon):
        requests.request_qualification(anna, hand.qualification_type_id)
    qualifications.accept_request(requester, request.request_id, 70)
    values = profile_of(anna).values
    assert (values[auto.qualification_type_id], values[hand.qualification_type_id]) == (3, 70)
    qualifications.disassociate(requester, hand.qualification_type_id, anna.worker_id)
    assert hand.qualification_type_id not in profile_of(anna).values


def test_a_deleted_type_rejects_what_is_open_and_frees_its_name(requester, anna):
    hand = qualifications.create_type(requester, name="H", description="d")
    request = requests.request_qualification(anna, hand.qualification_type_id)
    qualifications.delete_type(requester, hand.qualification_type_id)
    request.refresh_from_db()
    assert request.state == QualificationRequest.State.REJECTED
    with pytest.raises(QualificationTypeDoesNotExist):
        requests.request_qualification(anna, hand.qualification_type_id)
    assert qualifications.create_type(requester, name="H", description="d").pk != hand.pk


def test_inactive_types_cannot_be_asked_for(requester, anna):
    sleeping = qualifications.create_type(requester, name="S", description="d", status="Inactive")
    with pytest.raises(QualificationTypeDoesNotExist):
        requests.request_qualification(anna, sleeping.qualification_type_id)
