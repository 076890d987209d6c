"""Answers: QuestionFormAnswers XML made from what a form sent, and read back to score a qualification test."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lxml import etree

from annotation.marketplace.errors import BadParameter, BadXML

from .xml import child, children, expect_root, integer_of, local, needed, parse_xml, text_of

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"
MOST_CHARACTERS = 10**6
"""Of one submit: far more than any form sends, far less than would hurt."""


@dataclass(frozen=True)
class Given:
    """A worker's answer to one question."""

    identifier: str
    text: str = ""
    selections: tuple[str, ...] = ()
    other: str = ""


def answers_from_fields(fields: Iterable[tuple[str, str]]) -> str:
    """The XML for form fields, a FreeText answer each; several values of one name are joined by "|", as MTurk does."""
    joined: dict[str, str] = {}
    for name, value in fields:
        joined[name] = f"{joined[name]}|{value}" if name in joined else value
    if sum(len(name) + len(value) for name, value in joined.items()) > MOST_CHARACTERS:
        raise BadParameter("The answers are too long to be stored. Nothing was submitted.")
    return build_answers([Given(name, text=value) for name, value in joined.items()])


def build_answers(given: Iterable[Given]) -> str:
    root = etree.Element("QuestionFormAnswers", nsmap={None: NAMESPACE})
    for one in given:
        answer = etree.SubElement(root, "Answer")
        _add(answer, "QuestionIdentifier", one.identifier)
        if one.selections or one.other:
            for selection in one.selections:
                _add(answer, "SelectionIdentifier", selection)
            if one.other:
                _add(answer, "OtherSelectionText", one.other)
        else:
            _add(answer, "FreeText", one.text)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + etree.tostring(root, encoding="unicode")


def _add(parent: etree._Element, name: str, text: str) -> None:
    # Control characters can't be written in XML at all; what a worker typed around them is kept.
    clean = "".join(c for c in text if c in "\t\n\r" or (ord(c) >= 32 and not 0xD800 <= ord(c) <= 0xDFFF))
    etree.SubElement(parent, name).text = clean.replace("\ufffe", "").replace("\uffff", "")


def check_answers(xml: str) -> None:
    """Raises BadXML unless this is a QuestionFormAnswers document."""
    parse_answers(xml)


def parse_answers(xml: str) -> dict[str, Given]:
    """Answers by question identifier."""
    if len(xml) > 2 * MOST_CHARACTERS:
        raise BadXML("The answers are too long.")
    root = parse_xml(xml, "The answers", most_bytes=8 * MOST_CHARACTERS)
    expect_root(root, "QuestionFormAnswers", "The answers")
    found = {}
    for element in children(root, "Answer"):
        identifier = text_of(needed(element, "QuestionIdentifier", "The answers"))
        free = child(element, "FreeText")
        found[identifier] = Given(
            identifier,
            text=(free.text or "") if free is not None else "",
            selections=tuple(text_of(one) for one in children(element, "SelectionIdentifier")),
            other=text_of(child(element, "OtherSelectionText")),
        )
    return found


# Answer keys


def check_answer_key(xml: str) -> None:
    """Raises BadXML unless this is an AnswerKey that can be scored."""
    score_answers(xml, {})


def score_answers(key_xml: str, given: Mapping[str, Given]) -> int:
    """The qualification's value for these answers, by the AnswerKey."""
    what = "The answer key"
    root = parse_xml(key_xml, what)
    expect_root(root, "AnswerKey", what)
    asked = children(root, "Question")
    if not asked:
        raise BadXML(f"{what}: needs at least one <Question>.")
    total = sum(_score_question(question, given, what) for question in asked)
    mapping = child(root, "QualificationValueMapping")
    return total if mapping is None else _map_value(mapping, total, what)


def _score_question(question: etree._Element, given: Mapping[str, Given], what: str) -> int:
    answer = given.get(text_of(needed(question, "QuestionIdentifier", what)))
    default = integer_of(child(question, "DefaultScore"), what, 0)
    picked = set(answer.selections) if answer else None
    score = None
    for option in children(question, "AnswerOption"):
        wanted = {text_of(one) for one in children(option, "SelectionIdentifier")}
        worth = integer_of(needed(option, "AnswerScore", what), what)
        if score is None and picked == wanted:
            score = worth
    return default if score is None else score


def _map_value(mapping: etree._Element, total: int, what: str) -> int:
    if len(mapping) != 1:
        raise BadXML(f"{what}: <QualificationValueMapping> needs exactly one mapping.")
    rule = mapping[0]
    match local(rule):
        case "PercentageMapping":
            most = integer_of(needed(rule, "MaximumSummedScore", what), what)
            if most <= 0:
                raise BadXML(f"{what}: <MaximumSummedScore> must be more than zero.")
            return round(100 * total / most)
        case "ScaleMapping":
            words = text_of(needed(rule, "SummedScoreMultiplier", what))
            try:
                return round(total * float(words))
            except (ValueError, OverflowError):
                raise BadXML(f"{what}: <SummedScoreMultiplier> is {words!r}, but must be a number.") from None
        case "RangeMapping":
            for span in children(rule, "SummedScoreRange"):
                low = integer_of(needed(span, "InclusiveLowerBound", what), what)
                high = integer_of(needed(span, "InclusiveUpperBound", what), what)
                value = integer_of(needed(span, "QualificationValue", what), what)
                if low <= total <= high:
                    return value
            return integer_of(needed(rule, "OutOfRangeQualificationValue", what), what)
        case name:
            raise BadXML(f"{what}: <{name}> is no mapping; known are PercentageMapping, ScaleMapping, RangeMapping.")
