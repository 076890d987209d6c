"""Answers: QuestionFormAnswers XML made from what a form sent, and read back to score a qualification test."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lxml import etree

from annotation.marketplace.errors import BadParameter, BadXML

from .xml import child, children, expect_root, integer_of, local, parse_xml, required_child, text_of

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


def check_answer_key(xml: str) -> None:
    """Raises BadXML unless this is an AnswerKey that can be scored."""
    score_answers(xml, {})


def score_answers(key_xml: str, answers: Mapping[str, Answer]) -> int:
    """The qualification's value for these answers, by the AnswerKey."""
    label = "The answer key"
    root = parse_xml(key_xml, label)
    expect_root(root, "AnswerKey", label)
    questions = children(root, "Question")
    if not questions:
        raise BadXML(f"{label}: needs at least one <Question>.")
    total = sum(_score_question(question, answers, label) for question in questions)
    mapping = child(root, "QualificationValueMapping")
    return total if mapping is None else _map_value(mapping, total, label)


def _score_question(question: etree._Element, answers: Mapping[str, Answer], label: str) -> int:
    answer = answers.get(text_of(required_child(question, "QuestionIdentifier", label)))
    default = integer_of(child(question, "DefaultScore"), label, 0)
    picked = set(answer.selections) if answer else None
    score = None
    for option in children(question, "AnswerOption"):
        selections = {text_of(selection) for selection in children(option, "SelectionIdentifier")}
        option_score = integer_of(required_child(option, "AnswerScore", label), label)
        if score is None and picked == selections:
            score = option_score
    return default if score is None else score


def _map_value(mapping: etree._Element, total: int, label: str) -> int:
    if len(mapping) != 1:
        raise BadXML(f"{label}: <QualificationValueMapping> needs exactly one mapping.")
    rule = mapping[0]
    match local(rule):
        case "PercentageMapping":
            maximum = integer_of(required_child(rule, "MaximumSummedScore", label), label)
            if maximum <= 0:
                raise BadXML(f"{label}: <MaximumSummedScore> must be more than zero.")
            return round(100 * total / maximum)
        case "ScaleMapping":
            words = text_of(required_child(rule, "SummedScoreMultiplier", label))
            try:
                return round(total * float(words))
            except (ValueError, OverflowError):
                raise BadXML(f"{label}: <SummedScoreMultiplier> is {words!r}, but must be a number.") from None
        case "RangeMapping":
            for span in children(rule, "SummedScoreRange"):
                low = integer_of(required_child(span, "InclusiveLowerBound", label), label)
                high = integer_of(required_child(span, "InclusiveUpperBound", label), label)
                value = integer_of(required_child(span, "QualificationValue", label), label)
                if low <= total <= high:
                    return value
            return integer_of(required_child(rule, "OutOfRangeQualificationValue", label), label)
        case name:
            raise BadXML(f"{label}: <{name}> is no mapping; known are PercentageMapping, ScaleMapping, RangeMapping.")
