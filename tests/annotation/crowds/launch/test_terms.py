"""What a batch offers a crowd: the papers' presets, and every wrong field named in one refusal."""

import pytest

from annotation.common.errors import Refused
from annotation.common.money import to_cents
from annotation.crowds.terms import BadTerms, Terms, set_terms
from annotation.crowds.terms.presets import PRESETS
from annotation.crowds.terms.requirements import LOCALE, NUMBER_APPROVED, PERCENT_APPROVED
from annotation.models import Posting
from annotation.protocols import PROTOCOLS
from tests.factories import make_batch, make_study

DAY = 24 * 3600


def requirements_of(terms: Terms) -> dict[str, tuple[str, object]]:
    return {
        rule["QualificationTypeId"]: (rule["Comparator"], rule.get("IntegerValues") or rule.get("LocaleValues"))
        for rule in terms.requirements
    }


def test_realsumm_pays_by_group_and_asks_for_careful_workers() -> None:
    # Bhandari et al. 2020 and its files: $0.20 and $0.15, 90 minutes, 1 day, 3 days, ≥ 99 %, more than 5,000 approved.
    terms = Terms.parse({"preset": "realsumm"})
    assert (terms.reward_for("abs"), terms.reward_for("ext")) == (20, 15)
    assert (terms.duration_seconds, terms.lifetime_seconds, terms.auto_approve_seconds) == (5400, DAY, 3 * DAY)
    assert requirements_of(terms)[PERCENT_APPROVED] == ("GreaterThanOrEqualTo", [99])
    assert requirements_of(terms)[NUMBER_APPROVED] == ("GreaterThan", [5000])
    assert {"Country": "US"} in requirements_of(terms)[LOCALE][1]


def test_summeval_pays_twelve_dollars_an_hour() -> None:
    # Fabbri et al. 2021: 10,000 approved, 97 %, United States, United Kingdom, Australia, 12 USD per hour.
    terms = Terms.parse({"preset": "summeval"})
    assert terms.reward_cents * 60 / terms.minutes == 1200
    assert requirements_of(terms)[NUMBER_APPROVED] == ("GreaterThanOrEqualTo", [10_000])
    assert requirements_of(terms)[PERCENT_APPROVED] == ("GreaterThanOrEqualTo", [97])
    assert requirements_of(terms)[LOCALE] == ("In", [{"Country": "US"}, {"Country": "GB"}, {"Country": "AU"}])


def test_litepyramids_two_phases() -> None:
    # Shapira et al. 2019: $0.50 with 2 workers, $0.45 with 5; auto-approval after 2 days.
    first, second = Terms.parse({"preset": "litepyramid-1"}), Terms.parse({"preset": "litepyramid-2"})
    assert (first.reward_cents, second.reward_cents) == (50, 45)
    assert first.auto_approve_seconds == second.auto_approve_seconds == 2 * DAY
    assert (PRESETS["litepyramid-1"]["quota"], PRESETS["litepyramid-2"]["quota"]) == (2, 5)
    assert {preset["protocol"] for preset in PRESETS.values()} == {"scu", "litepyramid", "likert"} <= set(PROTOCOLS)


def test_what_is_said_goes_before_the_preset() -> None:
    terms = Terms.parse({"preset": "realsumm", "reward_cents": "30", "reward_by_group": "{}", "title": " Two  words "})
    assert (terms.reward_for("ext"), terms.title) == (30, "Two words")


def test_terms_survive_their_storage() -> None:
    terms = Terms.parse({"preset": "realsumm", "exclude_batches": "3, 5"})
    assert Terms.parse(terms.as_json()) == terms


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("reward_cents", "0.2", "whole number"),
        ("title", "x" * 129, "at most 128"),
        ("duration_seconds", 5, "from 30"),
        ("auto_approve_seconds", 31 * DAY, "to 2592000"),
        ("question", "pdf", "external, html"),
        ("minutes", "soon", "number above 0"),
        ("requirements", [{"QualificationTypeId": "X", "Comparator": "Foo"}], "Comparator must be one of"),
        ("requirements", [{"QualificationTypeId": "X", "Comparator": "Exists"}] * 11, "at most 10"),
        (
            "requirements",
            [{"QualificationTypeId": "X", "Comparator": "In", "IntegerValues": list(range(16))}],
            "1 to 15 values",
        ),
        (
            "requirements",
            [{"QualificationTypeId": PERCENT_APPROVED, "Comparator": "GreaterThan", "IntegerValues": [250]}],
            "Requirement 1: .*from 0 to 100",
        ),
        (
            "requirements",
            [{"QualificationTypeId": PERCENT_APPROVED, "Comparator": "NotIn", "IntegerValues": [50, -1]}],
            "from 0 to 100",
        ),
        (
            "requirements",
            [{"QualificationTypeId": LOCALE, "Comparator": "In", "LocaleValues": [{"Country": 5}]}],
            "a place is written",
        ),
        ("requirements", r'[{"QualificationTypeId": "a\u0000", "Comparator": "Exists"}]', "requirements holds a char"),
        ("reward_by_group", r'{"a\u0000bs": 5}', "reward_by_group holds a character"),
        ("reward_by_group", '{"abs": NaN}', "reward_by_group holds a character or number"),
        ("codes", {"done": "\ud800"}, "codes holds a character"),
        ("groups_allow", "a\x00, b", "groups_allow holds a character"),
        ("title", "a\x00", "title holds a character"),
        ("colour", "red", "no term “colour”"),
        ("preset", "nobody", "Known: realsumm"),
    ],
)
def test_a_wrong_field_is_named(name, value, sentence) -> None:
    with pytest.raises(BadTerms, match=sentence):
        Terms.parse({"reward_cents": 10, name: value})


def test_all_wrong_fields_are_named_at_once() -> None:
    with pytest.raises(BadTerms, match=r"reward_cents .* question .* Nothing was changed"):
        Terms.parse({"reward_cents": -1, "question": "pdf"})


@pytest.mark.parametrize(
    ("text", "cents"), [("0.15", 15), ("2", 200), ("$1.5", 150), ("0.05", 5), ("0,20 $", 20), ("1,5", 150)]
)
def test_amounts_are_read_as_people_write_them(text, cents) -> None:
    assert to_cents(text) == cents


@pytest.mark.parametrize("text", ["0.155", "-1", "1,500", "1.5.0", "", "ten"])
def test_anything_else_is_no_amount(text) -> None:
    with pytest.raises(ValueError, match="not an amount"):
        to_cents(text)


@pytest.mark.django_db
def test_terms_stay_once_something_stands_on_the_market() -> None:
    batch = make_batch(make_study())
    terms = Terms.parse({"reward_cents": 10})
    set_terms(batch, terms, crowd="mturk")
    Posting.objects.create(batch=batch, token="t", places=1, reward_cents=10)
    set_terms(batch, terms)
    with pytest.raises(Refused, match="on the market"):
        set_terms(batch, Terms.parse({"reward_cents": 11}))
