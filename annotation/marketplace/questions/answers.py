"""Answers: QuestionFormAnswers XML made from what a form sent, and read back to score a qualification test."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lxml import etree

from annotation.marketplace.errors import BadParameter, BadXML

from .xml import INTEGERS, child, children, expect_root, integer_of, local, parse_xml, required_child, text_of

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"
MOST_CHARACTERS = 10**6
"""Of one submit: far more than any form sends, far less than would hurt."""


@dataclass(frozen=True)
class Answer:
    """A worker's answer to one question."""

    identifier: str
    text: str = ""
    selections: tuple[str, ...] = ()
    other_text: str = ""


def answers_from_fields(fields: Iterable[tuple[str, str]]) -> str:
    """The XML for form fields, a FreeText answer each; several values of one name are joined by "|", as MTurk does."""
    texts_by_name: dict[str, str] = {}
    for name, value in fields:
        texts_by_name[name] = f"{texts_by_name[name]}|{value}" if name in texts_by_name else value
    if sum(len(name) + len(value) for name, value in texts_by_name.items()) > MOST_CHARACTERS:
        raise BadParameter("The answers are too long to be stored. Nothing was submitted.")
    return build_answers([Answer(name, text=value) for name, value in texts_by_name.items()])


def build_answers(answers: Iterable[Answer]) -> str:
    root = etree.Element("QuestionFormAnswers", nsmap={None: NAMESPACE})
    for answer in answers:
        element = etree.SubElement(root, "Answer")
        _add(element, "QuestionIdentifier", answer.identifier)
        if answer.selections or answer.other_text:
            for selection in answer.selections:
                _add(element, "SelectionIdentifier", selection)
            if answer.other_text:
                _add(element, "OtherSelectionText", answer.other_text)
        else:
            _add(element, "FreeText", answer.text)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + etree.tostring(root, encoding="unicode")


def _add(parent: etree._Element, name: str, text: str) -> None:
    # Control characters can't be written in XML at all; what a worker typed around them is kept.
    clean = "".join(c for c in text if c in "\t\n\r" or (ord(c) >= 32 and not 0xD800 <= ord(c) <= 0xDFFF))
    etree.SubElement(parent, name).text = clean.replace("\ufffe", "").replace("\uffff", "")


def parse_answers(xml: str) -> dict[str, Answer]:
    """Answers by question identifier. Raises BadXML unless this is a QuestionFormAnswers document."""
    if len(xml) > 2 * MOST_CHARACTERS:
        raise BadXML("The answers are too long.")
    root = parse_xml(xml, "The answers", most_bytes=8 * MOST_CHARACTERS)
    expect_root(root, "QuestionFormAnswers", "The answers")
    answers = {}
    for element in children(root, "Answer"):
        identifier = text_of(required_child(element, "QuestionIdentifier", "The answers"))
        free = child(element, "FreeText")
        answers[identifier] = Answer(
            identifier,
            text=(free.text or "") if free is not None else "",
            selections=tuple(text_of(selection) for selection in children(element, "SelectionIdentifier")),
            other_text=text_of(child(element, "OtherSelectionText")),
        )
    return answers


# Answer keys

LABEL = "The answer key"


def check_answer_key(xml: str) -> None:
    """Raises BadXML unless this is an AnswerKey that can be scored, and whatever is answered gives a value to store."""
    root = _answer_key(xml)
    scores = [_scores(question) for question in children(root, "Question")]
    for total in (sum(map(min, scores)), sum(map(max, scores))):
        value = _mapped(root, total)
        if not INTEGERS[0] <= value <= INTEGERS[1]:
            raise BadXML(f"{LABEL} can give the value {value:.0e}; it must be {INTEGERS[0]} to {INTEGERS[1]}.")


def score_answers(key_xml: str, answers: Mapping[str, Answer]) -> int:
    """The qualification's value for these answers, by the AnswerKey."""
    root = _answer_key(key_xml)
    return _mapped(root, sum(_score_question(question, answers) for question in children(root, "Question")))


def _answer_key(xml: str) -> etree._Element:
    root = parse_xml(xml, LABEL)
    expect_root(root, "AnswerKey", LABEL)
    if not children(root, "Question"):
        raise BadXML(f"{LABEL}: needs at least one <Question>.")
    return root


def _scores(question: etree._Element) -> list[int]:
    """Every score this question can give; the default comes first."""
    required_child(question, "QuestionIdentifier", LABEL)
    options = children(question, "AnswerOption")
    return [integer_of(child(question, "DefaultScore"), LABEL, 0), *(_option_score(option) for option in options)]


def _option_score(option: etree._Element) -> int:
    return integer_of(required_child(option, "AnswerScore", LABEL), LABEL)


def _score_question(question: etree._Element, answers: Mapping[str, Answer]) -> int:
    """The first option whose selections are exactly those picked, or the default."""
    answer = answers.get(text_of(required_child(question, "QuestionIdentifier", LABEL)))
    picked = set(answer.selections) if answer else None
    for option in children(question, "AnswerOption"):
        if picked == {text_of(selection) for selection in children(option, "SelectionIdentifier")}:
            return _option_score(option)
    return _scores(question)[0]


def _mapped(root: etree._Element, total: int) -> int:
    mapping = child(root, "QualificationValueMapping")
    if mapping is None:
        return total
    if len(mapping) != 1:
        raise BadXML(f"{LABEL}: <QualificationValueMapping> needs exactly one mapping.")
    rule = mapping[0]
    match local(rule):
        case "PercentageMapping":
            return round(100 * total / _maximum(rule))
        case "ScaleMapping":
            return round(total * _multiplier(rule))
        case "RangeMapping":
            return _in_range(rule, total)
        case name:
            raise BadXML(f"{LABEL}: <{name}> is no mapping; known are PercentageMapping, ScaleMapping, RangeMapping.")


def _maximum(rule: etree._Element) -> int:
    maximum = integer_of(required_child(rule, "MaximumSummedScore", LABEL), LABEL)
    if maximum <= 0:
        raise BadXML(f"{LABEL}: <MaximumSummedScore> must be more than zero.")
    return maximum


def _multiplier(rule: etree._Element) -> float:
    words = text_of(required_child(rule, "SummedScoreMultiplier", LABEL))
    try:
        multiplier = float(words)
    except ValueError:
        multiplier = math.nan
    if not abs(multiplier) <= INTEGERS[1]:
        raise BadXML(f"{LABEL}: <SummedScoreMultiplier> is {words[:80]!r}, but must be a number up to {INTEGERS[1]}.")
    return multiplier


def _in_range(rule: etree._Element, total: int) -> int:
    value = integer_of(required_child(rule, "OutOfRangeQualificationValue", LABEL), LABEL)
    for span in reversed(children(rule, "SummedScoreRange")):  # all are read, and the first that fits wins
        low, high, inside = (
            integer_of(required_child(span, name, LABEL), LABEL)
            for name in ("InclusiveLowerBound", "InclusiveUpperBound", "QualificationValue")
        )
        value = inside if low <= total <= high else value
    return value
