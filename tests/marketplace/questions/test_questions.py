"""Questions, tests and answer keys are read as MTurk's schemas say."""

import pytest

from annotation.marketplace.errors import BadXML, NotSupported
from annotation.marketplace.questions.answers import (
    Answer,
    build_answers,
    check_answer_key,
    parse_answers,
    score_answers,
)
from annotation.marketplace.questions.questions import (
    Choice,
    ExternalQuestion,
    FreeText,
    HTMLQuestion,
    parse_question,
    parse_test,
)
from tests.marketplace.fixtures import EXTERNAL, FORM, HTML, KEY, XSD

LONG_FORM = f"""<?xml version="1.0" encoding="UTF-8"?>
<QuestionForm xmlns="{XSD}/2017-11-06/QuestionForm.xsd">
  <Overview><Title>Game</Title><Text>Look.</Text><List><ListItem>one</ListItem><ListItem>two</ListItem></List></Overview>
  <!-- a comment has no place in what workers see -->
  <Question>
    <QuestionIdentifier>move</QuestionIdentifier><DisplayName>Q1</DisplayName><IsRequired>true</IsRequired>
    <QuestionContent><Binary><MimeType><Type>image</Type><SubType>gif</SubType></MimeType>
      <DataURL>https://example.org/board.gif</DataURL><AltText>The board</AltText></Binary></QuestionContent>
    <AnswerSpecification><FreeTextAnswer><Constraints><Length minLength="2" maxLength="9"/>
      <AnswerFormatRegex regex="[A-C][1-3]" errorText="A field"/></Constraints><DefaultText>C1</DefaultText>
      <NumberOfLinesSuggestion>3</NumberOfLinesSuggestion></FreeTextAnswer></AnswerSpecification>
  </Question>
  <Question>
    <QuestionIdentifier>who</QuestionIdentifier><IsRequired>false</IsRequired>
    <QuestionContent><FormattedContent><![CDATA[<b>Who?</b>]]></FormattedContent></QuestionContent>
    <AnswerSpecification><SelectionAnswer><MinSelectionCount>0</MinSelectionCount><MaxSelectionCount>2</MaxSelectionCount>
      <StyleSuggestion>checkbox</StyleSuggestion><Selections>
      <Selection><SelectionIdentifier>x</SelectionIdentifier><Text>X</Text></Selection>
      <Selection><SelectionIdentifier>o</SelectionIdentifier><Text>O</Text></Selection>
      <OtherSelection/></Selections></SelectionAnswer></AnswerSpecification>
  </Question>
</QuestionForm>"""


def test_the_three_kinds_of_question():
    assert parse_question(EXTERNAL) == ExternalQuestion("https://example.org/task?n=1", 600)
    page = parse_question(HTML)
    assert isinstance(page, HTMLQuestion)
    assert page.html.startswith("<!DOCTYPE html>")  # a DOCTYPE of the page, not of the XML
    assert [question.identifier for question in parse_question(FORM).questions] == ["colour"]


@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-8859-1", "us-ascii"])
def test_the_declared_encoding_does_not_matter(encoding):
    declared = f'<?xml version="1.0" encoding="{encoding}"?>' + FORM.replace("Colours", "Größe")
    assert parse_question(declared).elements[0][0].text == "Größe"


def test_a_question_form_in_all_its_parts():
    form = parse_question(LONG_FORM)
    overview, move, choice = form.elements
    assert [(piece.kind, piece.text, piece.items) for piece in overview][-1] == ("List", "", ("one", "two"))
    assert move.answer == FreeText("C1", 3, 2, 9, False, None, None, "[A-C][1-3]", "A field")
    assert (move.content[0].media_type, move.content[0].text, move.required) == ("image", "The board", True)
    rule = choice.answer
    assert isinstance(rule, Choice)
    assert (rule.style, rule.min_count, rule.max_count, rule.has_other) == ("checkbox", 0, 2, True)
    assert choice.content[0].text == "<b>Who?</b>"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FreeTextAnswer>", "FileUploadAnswer>"),
        ("<Text>Look.</Text>", "<Application/>"),
    ],
)
def test_what_browsers_and_we_cannot_do_is_said(old, new):
    with pytest.raises(NotSupported):
        parse_question(LONG_FORM.replace(old, new))


def test_a_test_is_always_a_question_form():
    with pytest.raises(BadXML, match="QuestionForm"):
        parse_test(HTML)


def test_answers_go_there_and_back():
    answers = [Answer("a", text="x < y & z"), Answer("b", selections=("one", "two")), Answer("c", other_text="else")]
    assert list(parse_answers(build_answers(answers)).values()) == answers


def key(mapping: str) -> str:
    """colour: blue 10, green 4, nothing else 1; shape: only round and red together 5."""
    return (
        f'<AnswerKey xmlns="{XSD}/2005-10-01/AnswerKey.xsd">'
        "<Question><QuestionIdentifier>colour</QuestionIdentifier>"
        "<AnswerOption><SelectionIdentifier>blue</SelectionIdentifier><AnswerScore>10</AnswerScore></AnswerOption>"
        "<AnswerOption><SelectionIdentifier>green</SelectionIdentifier><AnswerScore>4</AnswerScore></AnswerOption>"
        "<DefaultScore>1</DefaultScore></Question>"
        "<Question><QuestionIdentifier>shape</QuestionIdentifier><AnswerOption><SelectionIdentifier>round"
        "</SelectionIdentifier><SelectionIdentifier>red</SelectionIdentifier><AnswerScore>5</AnswerScore>"
        f"</AnswerOption></Question>{mapping}</AnswerKey>"
    )


PERCENT = "<PercentageMapping><MaximumSummedScore>15</MaximumSummedScore></PercentageMapping>"
SCALE = "<ScaleMapping><SummedScoreMultiplier>2.0</SummedScoreMultiplier></ScaleMapping>"
RANGES = (
    "<RangeMapping><SummedScoreRange><InclusiveLowerBound>5</InclusiveLowerBound><InclusiveUpperBound>10"
    "</InclusiveUpperBound><QualificationValue>50</QualificationValue></SummedScoreRange>"
    "<OutOfRangeQualificationValue>0</OutOfRangeQualificationValue></RangeMapping>"
)


@pytest.mark.parametrize(
    ("mapping", "colour", "shape", "value"),
    [
        ("", ("blue",), ("red", "round"), 15),  # 10 + 5, in whatever order
        ("", ("yellow",), ("round",), 1),  # the default, and half an answer is none
        (PERCENT, ("blue",), (), 67),  # 100 · 10/15 = 66.7
        (SCALE, ("green",), ("round", "red"), 18),  # 2 · (4 + 5)
        (RANGES, ("blue",), (), 50),
        (RANGES, ("blue",), ("round", "red"), 0),  # 15 lies outside 5–10
    ],
)
def test_answer_keys_score(mapping, colour, shape, value):
    answers = {"colour": Answer("colour", selections=colour), "shape": Answer("shape", selections=shape)}
    mapping_xml = f"<QualificationValueMapping>{mapping}</QualificationValueMapping>" if mapping else ""
    assert score_answers(key(mapping_xml), answers) == value


@pytest.mark.parametrize(
    "xml",
    [
        KEY.replace("AnswerScore", "Score"),
        KEY.replace(">10<", ">ten<"),
        KEY.replace("PercentageMapping", "MagicMapping"),
        f'<AnswerKey xmlns="{XSD}/2005-10-01/AnswerKey.xsd"/>',
        "<!DOCTYPE a>" + KEY,
        KEY.replace(">10<", f">{'9' * 400}<"),
        KEY.replace("<AnswerScore>10<", f"<AnswerScore>{2**31}<"),
        KEY.replace("<AnswerScore>10<", f"<AnswerScore>{2**31 - 1}<"),  # 100 times that is no value of a qualification
        key("<QualificationValueMapping>" + SCALE.replace("2.0", "1e308") + "</QualificationValueMapping>"),
        key("<QualificationValueMapping>" + SCALE.replace("2.0", "nan") + "</QualificationValueMapping>"),
        key("<QualificationValueMapping>" + SCALE.replace("2.0", "2e9") + "</QualificationValueMapping>"),
        key(f"<QualificationValueMapping>{RANGES.replace('>50<', '>99999999999<')}</QualificationValueMapping>"),
    ],
)
def test_answer_keys_that_cannot_score_are_refused(xml):
    with pytest.raises(BadXML):
        check_answer_key(xml)
