"""Every documented limit, from both sides; and every refusal leaves things as they were."""

import json
from datetime import timedelta

import pytest

from annotation.common import clock
from annotation.marketplace import people
from annotation.marketplace.api import contract
from annotation.marketplace.api.operations import HANDLERS
from annotation.marketplace.books import books
from annotation.marketplace.errors import Refused
from annotation.marketplace.hits import assignments, work
from annotation.marketplace.models import HIT, HITType, RequestToken, Transfer
from annotation.marketplace.people import access_keys
from annotation.marketplace.qualifications.eligibility import ADULT, LOCALE, MASTERS, NUMBER_APPROVED
from tests.marketplace.fixtures import ANSWER, EXTERNAL, FORM, XSD, at, make_hit, submit_work

pytestmark = [pytest.mark.postgres, pytest.mark.sqlite]  # on both databases
DAY = 86400
TYPE = {"Title": "t", "Description": "d", "Reward": "0.01", "AssignmentDurationInSeconds": 60}
NEW = {**TYPE, "Question": EXTERNAL, "LifetimeInSeconds": 60}


def call(requester, name, **params):
    """As the door does it, without the wire."""
    return HANDLERS[name](requester, contract.check_parameters(name, json.loads(json.dumps(params))))


def error_of(requester, name, **params) -> str:
    """The TurkErrorCode; asserts that nothing was changed."""
    before = HIT.objects.count(), HITType.objects.count(), Transfer.objects.count(), RequestToken.objects.count()
    with pytest.raises(Refused) as raised:
        call(requester, name, **params)
    assert before == (
        HIT.objects.count(),
        HITType.objects.count(),
        Transfer.objects.count(),
        RequestToken.objects.count(),
    )
    assert len(str(raised.value)) > 10
    return raised.value.code


def question_of(size: int) -> str:
    """An ExternalQuestion of exactly so many bytes."""
    start, end = EXTERNAL.split("?n=1")
    return start + "?n=" + "1" * (size - len(start) - len(end) - 3) + end


@pytest.mark.parametrize(
    ("name", "allowed_value", "excess"),
    [
        ("Title", "t" * 128, "t" * 129),
        ("Title", "t", ""),
        ("Description", "d" * 2000, "d" * 2001),
        ("Keywords", "k" * 1000, "k" * 1001),
        ("Reward", "0.01", "$1"),
        ("Reward", "1", "1.001"),
        ("Reward", "1.", "-1"),
        ("Reward", "1.5", "1,5"),
        ("Reward", "0.10", " 0.10\n"),
        ("AssignmentDurationInSeconds", 30, 29),
        ("AssignmentDurationInSeconds", 365 * DAY, 365 * DAY + 1),
        ("AutoApprovalDelayInSeconds", 0, -1),
        ("AutoApprovalDelayInSeconds", 30 * DAY, 30 * DAY + 1),
        ("LifetimeInSeconds", 30, 29),
        ("LifetimeInSeconds", 365 * DAY, 365 * DAY + 1),
        ("MaxAssignments", 1, 0),
        ("MaxAssignments", 10, 2**31),
        ("RequesterAnnotation", "a" * 255, "a" * 256),
        ("UniqueRequestToken", "u" * 64, "u" * 65),
        ("UniqueRequestToken", "u", ""),
    ],
)
def test_limits_of_a_hit(requester, name, allowed_value, excess):
    assert error_of(requester, "CreateHIT", **{**NEW, name: excess}) == "ParameterValidationError"
    assert call(requester, "CreateHIT", **{**NEW, name: allowed_value})["HIT"]["HITStatus"] == "Assignable"


def test_a_question_of_65535_bytes_and_one_more(requester):
    assert call(requester, "CreateHIT", **{**NEW, "Question": question_of(65_535)})
    assert error_of(requester, "CreateHIT", **{**NEW, "Question": question_of(65_536)}) == "XMLParseError"
    umlauts = question_of(65_535).replace("111", "ü11", 1)  # as many characters, one byte more
    assert error_of(requester, "CreateHIT", **{**NEW, "Question": umlauts}) == "XMLParseError"


BOMB = '<!DOCTYPE q [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    "question",
    [
        BOMB + EXTERNAL.replace("?n=1", "&b;"),
        '<!DOCTYPE q [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + EXTERNAL.replace("?n=1", "&x;"),
        '<!DOCTYPE q SYSTEM "http://127.0.0.1:9/x.dtd">' + EXTERNAL,
        "<!DOCTYPE ExternalQuestion>" + EXTERNAL,
        EXTERNAL.replace("?n=1", "&nothing;"),
        EXTERNAL.replace("</FrameHeight>", ""),
        EXTERNAL.replace("600", "tall"),
        EXTERNAL.replace("600", "-1"),
        EXTERNAL.replace("https://example.org", "javascript:alert(1)"),
        EXTERNAL.replace("https://example.org", "https://[::1"),
        EXTERNAL.replace("2006-07-14/ExternalQuestion.xsd", "2006-07-14/Other.xsd"),
        "<ExternalQuestion><ExternalURL>https://a.example</ExternalURL></ExternalQuestion>",
        f'<Other xmlns="{XSD}/2006-07-14/ExternalQuestion.xsd"/>',
        "not xml",
        "   ",
        FORM.replace("<QuestionIdentifier>colour</QuestionIdentifier>", ""),
        FORM.replace("radiobutton", "slider"),
        FORM.replace(">green<", ">blue<"),
    ],
)
def test_questions_that_are_not_taken(requester, question):
    assert error_of(requester, "CreateHIT", **{**NEW, "Question": question}) == "XMLParseError"


@pytest.mark.parametrize(
    "extra", [{"HITLayoutId": "3A"}, {"HITReviewPolicy": {"PolicyName": "SimplePlurality/2011-09-01"}}]
)
def test_a_question_and_a_layout_or_a_policy_without_its_parameters_are_refused(requester, extra):
    assert error_of(requester, "CreateHIT", **NEW, **extra) == "ParameterValidationError"


def test_a_hit_needs_a_question(requester):
    assert error_of(requester, "CreateHIT", **TYPE, LifetimeInSeconds=60) == "ParameterValidationError"


def require(type_id=NUMBER_APPROVED, comparator="GreaterThan", **members):
    values = {} if "LocaleValues" in members or comparator in ("Exists", "DoesNotExist") else {"IntegerValues": [1]}
    return {"QualificationTypeId": type_id, "Comparator": comparator, **values, **members}


US = {"Country": "US"}
COUNTRIES = [{"Country": a + b} for a in "ABCDEF" for b in "GHIJKL"]


@pytest.mark.parametrize(
    ("allowed_value", "excess"),
    [
        ([require()] * 10, [require()] * 11),
        ([require(comparator="EqualTo")], [require(comparator="Foo")]),
        (
            [require(comparator="In", IntegerValues=list(range(15)))],
            [require(comparator="In", IntegerValues=list(range(16)))],
        ),
        ([require(LOCALE, "In", LocaleValues=COUNTRIES[:30])], [require(LOCALE, "In", LocaleValues=COUNTRIES[:31])]),
        ([require(LOCALE, "EqualTo", LocaleValues=[US])], [require(LOCALE, "EqualTo", LocaleValues=[US, US])]),
        ([require(LOCALE, "NotIn", LocaleValues=[US])], [require(LOCALE, "LessThan", LocaleValues=[US])]),
        (
            [require(LOCALE, "EqualTo", LocaleValues=[US])],
            [require(LOCALE, "EqualTo", LocaleValues=[{"Country": "USA"}])],
        ),
        (
            [require(LOCALE, "EqualTo", LocaleValues=[US])],
            [require(LOCALE, "EqualTo", LocaleValues=[{"Country": "us"}])],
        ),
        ([require(MASTERS, "Exists")], [require(MASTERS, "Exists", IntegerValues=[1])]),
        ([require(ADULT, "EqualTo")], [require(ADULT, "EqualTo", LocaleValues=[US])]),
        ([require()], [require(IntegerValues=[])]),
        ([require(comparator="LessThan")], [require(comparator="LessThan", IntegerValues=[1, 2])]),
        ([require(ActionsGuarded="PreviewAndAccept")], [require(ActionsGuarded="Everything")]),
        ([require(RequiredToPreview=True)], [require(RequiredToPreview=True, ActionsGuarded="Accept")]),
    ],
)
def test_limits_of_requirements(requester, allowed_value, excess):
    assert error_of(requester, "CreateHITType", **TYPE, QualificationRequirements=excess) == "ParameterValidationError"
    assert call(requester, "CreateHITType", **TYPE, QualificationRequirements=allowed_value)["HITTypeId"]


def test_requirements_name_types_that_are_there(requester):
    unknown = [require("3UNKNOWN")]
    assert (
        error_of(requester, "CreateHITType", **TYPE, QualificationRequirements=unknown)
        == "QualificationTypeDoesNotExist"
    )


def test_limits_of_messages(requester, anna):
    ids = [f"A{n}" for n in range(101)]
    longest = {"Subject": "s" * 200, "MessageText": "m" * 4096, "WorkerIds": ids[:100]}
    assert len(call(requester, "NotifyWorkers", **longest)["NotifyWorkersFailureStatuses"]) == 100
    for excess in ({"Subject": "s" * 201}, {"MessageText": "m" * 4097}, {"WorkerIds": ids}, {"WorkerIds": []}):
        assert error_of(requester, "NotifyWorkers", **{**longest, **excess}) == "ParameterValidationError"


@pytest.mark.parametrize("size", [0, 101, -1, "many"])
def test_page_sizes_beyond_the_limits(requester, size):
    assert error_of(requester, "ListHITs", MaxResults=size) == "ParameterValidationError"


def test_page_sizes_within_the_limits(requester):
    for _ in range(3):
        make_hit(requester)
    assert call(requester, "ListHITs", MaxResults=1)["NumResults"] == 1
    assert call(requester, "ListHITs", MaxResults=100)["NumResults"] == 3


def test_a_small_hit_stays_small_and_a_large_one_grows(requester):
    small_hit, large_hit = make_hit(requester, places=8), make_hit(requester, places=10)
    operation = "CreateAdditionalAssignmentsForHIT"
    call(requester, operation, HITId=small_hit.hit_id, NumberOfAdditionalAssignments=1)
    code = error_of(requester, operation, HITId=small_hit.hit_id, NumberOfAdditionalAssignments=1)
    assert code == "InvalidMaximumAssignmentsIncrease"
    call(requester, operation, HITId=large_hit.hit_id, NumberOfAdditionalAssignments=1)
    for count in (0, -1):
        assert (
            error_of(requester, operation, HITId=large_hit.hit_id, NumberOfAdditionalAssignments=count)
            == "ParameterValidationError"
        )


def test_fees_are_those_of_the_documentation(requester):
    def fee(reward: int, places: int = 1, **values) -> int:
        return make_hit(requester, reward_cents=reward, places=places, **values).fee_cents

    masters = [require(MASTERS, "Exists")]
    assert fee(100) == 20  # 20 %
    assert fee(100, places=9) == 20
    assert fee(100, places=10) == 40  # another 20 % from ten assignments on
    assert fee(100, requirements=masters) == 25  # Masters: 5 % more
    assert fee(100, places=10, requirements=masters) == 45
    assert fee(1) == 1  # 0.2 cents, but at least one cent
    assert fee(12) == 2  # 2.4 cents
    assert fee(13) == 3  # 2.6 cents


def test_a_token_works_once_a_day(requester):
    with at():
        hit_id = call(requester, "CreateHIT", **NEW, UniqueRequestToken="a")["HIT"]["HITId"]
        with pytest.raises(Refused, match=hit_id) as raised:
            call(requester, "CreateHIT", **{**NEW, "Title": "other"}, UniqueRequestToken="a")
        assert raised.value.turk_error_code == "AWS.MechanicalTurk.HitAlreadyExists"
        assert HIT.objects.count() == 1
    with at(hours=23.9):
        assert error_of(requester, "CreateHIT", **NEW, UniqueRequestToken="a") == "HitAlreadyExists"
    with at(hours=24):
        assert call(requester, "CreateHIT", **NEW, UniqueRequestToken="a")["HIT"]["HITId"] != hit_id
    stranger = people.make_requester("Stranger")
    books.top_up(stranger, 100)
    assert call(stranger, "CreateHIT", **NEW, UniqueRequestToken="a")


def test_tokens_of_extensions_and_bonuses(requester, anna):
    hit = make_hit(requester, places=2)
    assignment = submit_work(anna, hit.hit_id)
    extend = {"HITId": hit.hit_id, "NumberOfAdditionalAssignments": 7, "UniqueRequestToken": "x"}
    call(requester, "CreateAdditionalAssignmentsForHIT", **extend)
    assert error_of(requester, "CreateAdditionalAssignmentsForHIT", **extend) == "HitAlreadyExists"
    bonus = {"WorkerId": anna.worker_id, "AssignmentId": assignment.assignment_id, "BonusAmount": "1", "Reason": "r"}
    call(requester, "SendBonus", **bonus, UniqueRequestToken="x")
    assert error_of(requester, "SendBonus", **bonus, UniqueRequestToken="x") == "HitAlreadyExists"
    anna.refresh_from_db()
    hit.refresh_from_db()
    assert (anna.earned_cents, hit.max_assignments) == (100, 9)


def test_a_balance_too_low_changes_nothing(db, anna):
    poor = people.make_requester("Poor")
    books.top_up(poor, 23)
    dear = {**NEW, "Reward": "0.10", "MaxAssignments": 2}  # 2 · (10 + 2) = 24 cents
    assert error_of(poor, "CreateHIT", **{**dear, "Title": "t"}) in ("InsufficientFunds",)
    books.top_up(poor, 1)
    hit_id = call(poor, "CreateHIT", **dear)["HIT"]["HITId"]
    assert call(poor, "GetAccountBalance") == {"AvailableBalance": "0.00", "OnHoldBalance": "0.24"}
    extend = {"HITId": hit_id, "NumberOfAdditionalAssignments": 1}
    assert error_of(poor, "CreateAdditionalAssignmentsForHIT", **extend) == "InsufficientFunds"
    assignment = submit_work(anna, hit_id)
    bonus = {"WorkerId": anna.worker_id, "AssignmentId": assignment.assignment_id, "BonusAmount": "0.01", "Reason": "r"}
    assert error_of(poor, "SendBonus", **bonus) == "InsufficientFunds"
    call(poor, "ApproveAssignment", AssignmentId=assignment.assignment_id)  # its money was held
    assert books.books_agree(poor)


def test_judging_what_is_not_submitted(requester, anna):
    assignment = work.accept_hit(anna, make_hit(requester).hit_id)
    params = {"AssignmentId": assignment.assignment_id}
    assert error_of(requester, "ApproveAssignment", **params) == "InvalidAssignmentState"
    assert error_of(requester, "RejectAssignment", **params, RequesterFeedback="no") == "InvalidAssignmentState"
    assert error_of(requester, "GetAssignment", **params) == "InvalidAssignmentState"
    bonus = {"WorkerId": anna.worker_id, "BonusAmount": "1.00", "Reason": "early"}
    assert error_of(requester, "SendBonus", **params, **bonus) == "InvalidAssignmentState"
    work.return_assignment(anna, assignment.assignment_id)
    assert error_of(requester, "ApproveAssignment", **params) == "InvalidAssignmentState"


def test_a_bonus_to_somebody_who_did_nothing(requester, anna, bob):
    assignment = submit_work(anna, make_hit(requester).hit_id)
    bonus = {"AssignmentId": assignment.assignment_id, "BonusAmount": "1.00", "Reason": "gift"}
    assert error_of(requester, "SendBonus", WorkerId=bob.worker_id, **bonus) == "AssignmentDoesNotExist"
    assert error_of(requester, "SendBonus", WorkerId="A1NOBODY", **bonus) == "AssignmentDoesNotExist"


def test_another_requesters_things_are_not_there(requester, anna):
    stranger = people.make_requester("Stranger")
    books.top_up(stranger, 10_000)
    hit = make_hit(requester)
    assignment = submit_work(anna, hit.hit_id)
    for name in ("GetHIT", "DeleteHIT", "ListAssignmentsForHIT", "UpdateHITReviewStatus", "ListBonusPayments"):
        assert error_of(stranger, name, HITId=hit.hit_id) == "HITDoesNotExist"
    for name in ("ApproveAssignment", "GetAssignment"):
        assert error_of(stranger, name, AssignmentId=assignment.assignment_id) == "AssignmentDoesNotExist"
    new = {"HITTypeId": hit.hit_type.hit_type_id, "Question": EXTERNAL, "LifetimeInSeconds": 60}
    assert error_of(stranger, "CreateHITWithHITType", **new) == "HITTypeDoesNotExist"
    assert call(stranger, "ListHITs")["HITs"] == []


def test_pages_are_stable_while_things_come_and_go(requester, workers):
    hit = make_hit(requester, places=12)

    def deliver(worker, minutes):
        with clock.fixed(hit.created_at + timedelta(minutes=minutes)):
            return submit_work(worker, hit.hit_id).assignment_id

    early = work.accept_hit(workers[0], hit.hit_id)  # accepted first, submitted last
    ids = [deliver(worker, n) for n, worker in enumerate(workers[1:6])]
    first = call(requester, "ListAssignmentsForHIT", HITId=hit.hit_id, MaxResults=3)
    ids += [deliver(workers[6], 8)]
    with clock.fixed(hit.created_at + timedelta(minutes=9)):
        work.submit_assignment(early.assignment_id, ANSWER)
    token = first["NextToken"]
    assert error_of(requester, "ListHITs", NextToken=token) == "ParameterValidationError"
    listed_ids = [assignment["AssignmentId"] for assignment in first["Assignments"]]
    while token:
        page = call(requester, "ListAssignmentsForHIT", HITId=hit.hit_id, MaxResults=3, NextToken=token)
        listed_ids += [assignment["AssignmentId"] for assignment in page["Assignments"]]
        token = page["NextToken"]
    assert listed_ids == [*ids, early.assignment_id]


LISTS = [
    ("ListHITs", {}),
    ("ListReviewableHITs", {}),
    ("ListAssignmentsForHIT", {"HITId": "hit"}),
    ("ListBonusPayments", {"HITId": "hit"}),
    ("ListQualificationTypes", {"MustBeRequestable": True}),
    ("ListQualificationRequests", {}),
    ("ListWorkersWithQualificationType", {"QualificationTypeId": "type"}),
    ("ListHITsForQualificationType", {"QualificationTypeId": "type"}),
    ("ListWorkerBlocks", {}),
    ("ListReviewPolicyResultsForHIT", {"HITId": "hit"}),
]


def test_every_list_operation_is_here():
    assert {name for name, _ in LISTS} == {name for name in HANDLERS if name.startswith("List")}


def test_lists_take_a_constant_number_of_queries(requester, workers, django_assert_max_num_queries):
    from annotation.marketplace.people.workers import block_worker
    from annotation.marketplace.qualifications import qualifications, requests

    hit = make_hit(requester, places=12)
    types = [qualifications.create_type(requester, name=f"type {n}", description="d") for n in range(10)]
    requirements = [{"QualificationTypeId": types[0].qualification_type_id, "Comparator": "DoesNotExist"}]
    for n in range(10):
        submit_work(workers[n], make_hit(requester, title=f"t{n}", requirements=requirements).hit_id)
        assignment = submit_work(workers[n], hit.hit_id)
        assignments.send_bonus(requester, workers[n].worker_id, assignment.assignment_id, 1, "r")
        qualifications.associate(requester, types[1].qualification_type_id, workers[n].worker_id, 1, False)
        requests.request_qualification(workers[n], types[2].qualification_type_id)
    for worker in workers:
        block_worker(requester, worker.worker_id, "r")
    for name, params in LISTS:
        place = 0 if name == "ListHITsForQualificationType" else 1
        ids = {"hit": hit.hit_id, "type": types[place].qualification_type_id}
        real = {key: ids.get(value, value) if isinstance(value, str) else value for key, value in params.items()}
        with django_assert_max_num_queries(3):
            answer = call(requester, name, **real)
        assert answer.get("NumResults", 10) == 10


def test_keys_can_be_made_and_revoked_any_number_of_times(requester):
    first, second = access_keys.issue_key(requester), access_keys.issue_key(requester)
    assert first.secret != second.secret
    access_keys.revoke_key(requester, first.key_id)
    access_keys.revoke_key(requester, first.key_id)
    with pytest.raises(Refused):
        access_keys.revoke_key(people.make_requester("Stranger"), second.key_id)
