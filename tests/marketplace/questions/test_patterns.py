"""A requester's pattern can't freeze the market: it is matched in linear time, or refused when the HIT is made."""

import pytest

from annotation.marketplace.errors import BadXML
from annotation.marketplace.hits.hits import TypeValues, create_hit, register_hit_type
from annotation.marketplace.models import HIT
from annotation.marketplace.pages.question_form import read_answers
from annotation.marketplace.qualifications import qualifications
from annotation.marketplace.questions.patterns import LONGEST_ANSWER, check_pattern
from annotation.marketplace.questions.questions import parse_question
from tests.marketplace.fixtures import XSD, make_hit
from tests.marketplace.pages.test_frame import _fields

SLOW = "a?" * 30 + "a" * 30
"""A matcher that goes back tries 2^30 ways."""


def form(pattern: str) -> str:
    return (
        f'<QuestionForm xmlns="{XSD}/2017-11-06/QuestionForm.xsd"><Question><QuestionIdentifier>year'
        "</QuestionIdentifier><QuestionContent><Text>When?</Text></QuestionContent><AnswerSpecification><FreeTextAnswer>"
        f'<Constraints><AnswerFormatRegex regex="{pattern}" errorText="A year"/></Constraints></FreeTextAnswer>'
        "</AnswerSpecification></Question></QuestionForm>"
    )


def problem(pattern: str, answer: str) -> str:
    return read_answers(parse_question(form(pattern)), _fields(year=answer)).problems.get("year", "")


@pytest.mark.parametrize(
    ("pattern", "answer", "expected"),
    [
        ("^[1-9][0-9]{3}$", "1987", ""),
        ("^[1-9][0-9]{3}$", "87", "A year"),
        ("^(19|20)[0-9]{2}$", "2187", "A year"),
        ("^(a|a)*b$", "a" * 5000, "A year"),
        ("^(a+)+b$", "a" * 5000, "A year"),
        ("^ü+$", "üüü", ""),
        ("^a$", "a" * (LONGEST_ANSWER + 1), "At most 10,000 characters are allowed; these are 10,001."),
        ("(a)\\1", "b", ""),  # stored before such patterns were refused: its requester judges
    ],
)
def test_an_answer_is_held_against_the_pattern(pattern, answer, expected):
    assert problem(pattern, answer) == expected


def test_a_pattern_that_would_be_tried_for_ever_is_matched_at_once():
    assert problem(SLOW, "a" * 29 + "b") == "A year"


@pytest.mark.parametrize(
    "pattern", ["(a)\\1", "(?=a)b", "(?&lt;!a)b", "((a{100}){100}){100}", "[", "a" * 1001, "a{2000}"]
)
def test_what_cannot_be_matched_in_linear_time_is_refused_when_it_is_made(requester, pattern):
    with pytest.raises(BadXML, match="AnswerFormatRegex"):
        make_hit(requester, question=form(pattern))
    assert not HIT.objects.exists()
    with pytest.raises(BadXML, match="AnswerFormatRegex"):
        qualifications.create_type(requester, name="Years", description="d", test=form(pattern), test_seconds=60)


def test_good_patterns_are_taken(requester):
    values = TypeValues(title="t", description="d", reward_cents=1, assignment_seconds=60)
    create_hit(requester, register_hit_type(requester, values), form(SLOW), lifetime_seconds=60)
    check_pattern("(?i)^[a-z]{2,10}$", "The question")
