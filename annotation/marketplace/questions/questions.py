"""What a HIT asks: ExternalQuestion, HTMLQuestion or QuestionForm, parsed and checked (docs/marketplace/questions.md).

QuestionForm is read into plain objects that a page can render; formatted content is kept as text for a sandbox.
"""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from lxml import etree

from annotation.marketplace.errors import BadXML, NotSupported

from .patterns import check_pattern
from .xml import child, children, expect_root, integer_of, local, parse_xml, read_integer, required_child, text_of

KINDS = ("ExternalQuestion", "HTMLQuestion", "QuestionForm")


@dataclass(frozen=True)
class ExternalQuestion:
    """A page of the requester's, shown in a frame."""

    url: str
    frame_height: int


@dataclass(frozen=True)
class HTMLQuestion:
    """A whole HTML page inside the HIT, shown sandboxed."""

    html: str
    frame_height: int


@dataclass(frozen=True)
class Content:
    """A piece of text or a medium in a QuestionForm."""

    kind: str
    """Title, Text, List, Binary, FormattedContent."""
    text: str = ""
    items: tuple[str, ...] = ()
    url: str = ""
    media_type: str = ""
    """image, audio or video; of a Binary."""


@dataclass(frozen=True)
class Selection:
    identifier: str
    content: Content


@dataclass(frozen=True)
class FreeText:
    """An answer in words, or a number."""

    default: str = ""
    lines: int = 1
    min_length: int | None = None
    max_length: int | None = None
    numeric: bool = False
    min_value: int | None = None
    max_value: int | None = None
    pattern: str = ""
    error_text: str = ""


@dataclass(frozen=True)
class Choice:
    """An answer picked from a list."""

    selections: tuple[Selection, ...]
    style: str = "radiobutton"
    """radiobutton, checkbox, list, dropdown, combobox or multichooser."""
    min_count: int = 1
    max_count: int = 1
    has_other: bool = False
    """A free answer is allowed as well (OtherSelection)."""


@dataclass(frozen=True)
class FormQuestion:
    identifier: str
    display_name: str
    required: bool
    content: tuple[Content, ...]
    answer: FreeText | Choice


@dataclass(frozen=True)
class QuestionForm:
    """Overviews and questions in their order."""

    elements: tuple[tuple[Content, ...] | FormQuestion, ...]

    @property
    def questions(self) -> list[FormQuestion]:
        return [element for element in self.elements if isinstance(element, FormQuestion)]


Question = ExternalQuestion | HTMLQuestion | QuestionForm
STYLES = ("radiobutton", "checkbox", "list", "dropdown", "combobox", "multichooser")


@lru_cache(maxsize=256)
def parse_question(xml: str) -> Question:
    """The question of a HIT. Raises BadXML or NotSupported with a sentence."""
    root = parse_xml(xml, "The question")
    kind = local(root)
    if kind not in KINDS:
        raise BadXML(f"The question is a <{kind}>; known are {', '.join(KINDS)}.")
    expect_root(root, kind, "The question")
    if kind == "QuestionForm":
        return _form(root, "The question")
    height = integer_of(required_child(root, "FrameHeight", "The question"), "The question")
    if height < 0:
        raise BadXML("The question: <FrameHeight> is negative.")
    if kind == "ExternalQuestion":
        return ExternalQuestion(_address(text_of(required_child(root, "ExternalURL", "The question"))), height)
    html = required_child(root, "HTMLContent", "The question").text or ""
    if not html.strip():
        raise BadXML("The question: <HTMLContent> is empty; put the page into <![CDATA[…]]>.")
    return HTMLQuestion(html, height)


def check_question(xml: str) -> None:
    """Of a new HIT: it can be read, and its patterns can be matched. Raises BadXML or NotSupported."""
    question = parse_question(xml)
    if isinstance(question, QuestionForm):
        _check_patterns(question, "The question")


def check_test(xml: str) -> None:
    """Of a new qualification type: as check_question."""
    _check_patterns(parse_test(xml), "The test")


def _check_patterns(form: QuestionForm, label: str) -> None:
    for question in form.questions:
        if isinstance(question.answer, FreeText) and question.answer.pattern:
            check_pattern(question.answer.pattern, label)


def parse_test(xml: str) -> QuestionForm:
    """The test of a qualification type: always a QuestionForm."""
    root = parse_xml(xml, "The test")
    expect_root(root, "QuestionForm", "The test")
    return _form(root, "The test")


def _address(url: str) -> str:
    try:
        address = urlsplit(url)
        is_web_address = address.scheme in {"http", "https"} and bool(address.hostname)
    except ValueError:
        is_web_address = False
    if not is_web_address:
        raise BadXML(f"The question: <ExternalURL> is {url!r}, but must be an http or https address.")
    return url


def _form(root: etree._Element, label: str) -> QuestionForm:
    elements: list[tuple[Content, ...] | FormQuestion] = []
    identifiers: set[str] = set()
    for element in root:
        if local(element) == "Overview":
            elements.append(_contents(element, label))
        elif local(element) == "Question":
            question = _question(element, label)
            if question.identifier in identifiers:
                raise BadXML(f"{label}: the QuestionIdentifier {question.identifier!r} is there twice.")
            identifiers.add(question.identifier)
            elements.append(question)
        else:
            raise BadXML(f"{label}: <{local(element)}> has no place in a QuestionForm.")
    if not identifiers:
        raise BadXML(f"{label}: a QuestionForm needs at least one <Question>.")
    return QuestionForm(tuple(elements))


def _question(element: etree._Element, label: str) -> FormQuestion:
    identifier = text_of(required_child(element, "QuestionIdentifier", label))
    if not identifier:
        raise BadXML(f"{label}: a <QuestionIdentifier> is empty.")
    return FormQuestion(
        identifier=identifier,
        display_name=text_of(child(element, "DisplayName")),
        required=text_of(child(element, "IsRequired")).lower() in {"true", "1"},
        content=_contents(required_child(element, "QuestionContent", label), label),
        answer=_answer(required_child(element, "AnswerSpecification", label), label),
    )


def _contents(element: etree._Element, label: str) -> tuple[Content, ...]:
    return tuple(_content(piece, label) for piece in element)


def _content(element: etree._Element, label: str) -> Content:
    kind = local(element)
    match kind:
        case "Title" | "Text" | "FormattedContent":
            return Content(kind, text=element.text or "")
        case "List":
            return Content(kind, items=tuple(text_of(item) for item in children(element, "ListItem")))
        case "Binary":
            medium = text_of(child(required_child(element, "MimeType", label), "Type"))
            return Content(
                kind,
                text=text_of(child(element, "AltText")),
                url=_address(text_of(required_child(element, "DataURL", label))),
                media_type=medium,
            )
        case "Application" | "EmbeddedBinary":
            raise NotSupported(f"{label}: <{kind}> (applets and plug-ins) can't be shown by today's browsers.")
        case _:
            raise BadXML(f"{label}: <{kind}> is no content of a QuestionForm.")


def _answer(element: etree._Element, label: str) -> FreeText | Choice:
    if len(element) != 1:
        raise BadXML(f"{label}: <AnswerSpecification> needs exactly one kind of answer.")
    kind = local(element[0])
    if kind == "FreeTextAnswer":
        return _free_text(element[0], label)
    if kind == "SelectionAnswer":
        return _choice(element[0], label)
    if kind == "FileUploadAnswer":
        raise NotSupported(f"{label}: this marketplace takes no file uploads (FileUploadAnswer).")
    raise BadXML(f"{label}: <{kind}> is no kind of answer.")


def _free_text(element: etree._Element, label: str) -> FreeText:
    limits = child(element, "Constraints")
    length = child(limits, "Length") if limits is not None else None
    numeric = child(limits, "IsNumeric") if limits is not None else None
    form = child(limits, "AnswerFormatRegex") if limits is not None else None
    return FreeText(
        default=text_of(child(element, "DefaultText")),
        lines=max(1, integer_of(child(element, "NumberOfLinesSuggestion"), label, 1)),
        min_length=_attribute(length, "minLength", label),
        max_length=_attribute(length, "maxLength", label),
        numeric=numeric is not None,
        min_value=_attribute(numeric, "minValue", label),
        max_value=_attribute(numeric, "maxValue", label),
        pattern=form.get("regex", "") if form is not None else "",
        error_text=form.get("errorText", "") if form is not None else "",
    )


def _attribute(element: etree._Element | None, name: str, label: str) -> int | None:
    words = element.get(name) if element is not None else None
    if words is None:
        return None
    return read_integer(words, f"{label}: {name} is")


def _choice(element: etree._Element, label: str) -> Choice:
    selection_list = required_child(element, "Selections", label)
    selections = tuple(_selection(selection, label) for selection in children(selection_list, "Selection"))
    if not selections:
        raise BadXML(f"{label}: <Selections> needs at least one <Selection>.")
    identifiers = [selection.identifier for selection in selections]
    if len(set(identifiers)) < len(identifiers):
        raise BadXML(f"{label}: a SelectionIdentifier is there twice in one question.")
    style = text_of(child(element, "StyleSuggestion")) or "radiobutton"
    if style not in STYLES:
        raise BadXML(f"{label}: StyleSuggestion {style!r} is unknown; known are {', '.join(STYLES)}.")
    return Choice(
        selections=selections,
        style=style,
        min_count=integer_of(child(element, "MinSelectionCount"), label, 1),
        max_count=integer_of(child(element, "MaxSelectionCount"), label, 1),
        has_other=child(selection_list, "OtherSelection") is not None,
    )


def _selection(element: etree._Element, label: str) -> Selection:
    identifier = text_of(required_child(element, "SelectionIdentifier", label))
    if not identifier:
        raise BadXML(f"{label}: a <SelectionIdentifier> is empty.")
    content = next((piece for piece in element if local(piece) != "SelectionIdentifier"), None)
    if content is None:
        raise BadXML(f"{label}: the selection {identifier!r} has nothing to show.")
    return Selection(identifier, _content(content, label))
