"""What a HIT asks: ExternalQuestion, HTMLQuestion or QuestionForm, parsed and checked (docs/marketplace/questions.md).

QuestionForm is read into plain objects that a page can render; formatted content is kept as text for a sandbox.
"""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from lxml import etree

from annotation.marketplace.errors import BadXML, NotSupported

from .xml import child, children, expect_root, integer_of, local, needed, parse_xml, text_of

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
    other: bool = False
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

    parts: tuple[tuple[Content, ...] | FormQuestion, ...]

    @property
    def questions(self) -> list[FormQuestion]:
        return [part for part in self.parts if isinstance(part, FormQuestion)]


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
    height = integer_of(needed(root, "FrameHeight", "The question"), "The question")
    if height < 0:
        raise BadXML("The question: <FrameHeight> is negative.")
    if kind == "ExternalQuestion":
        return ExternalQuestion(_address(text_of(needed(root, "ExternalURL", "The question"))), height)
    html = needed(root, "HTMLContent", "The question").text or ""
    if not html.strip():
        raise BadXML("The question: <HTMLContent> is empty; put the page into <![CDATA[…]]>.")
    return HTMLQuestion(html, height)


def parse_test(xml: str) -> QuestionForm:
    """The test of a qualification type: always a QuestionForm."""
    root = parse_xml(xml, "The test")
    expect_root(root, "QuestionForm", "The test")
    return _form(root, "The test")


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        good = False
    if not good:
        raise BadXML(f"The question: <ExternalURL> is {url!r}, but must be an http or https address.")
    return url


def _form(root: etree._Element, what: str) -> QuestionForm:
    parts: list[tuple[Content, ...] | FormQuestion] = []
    seen: set[str] = set()
    for element in root:
        if local(element) == "Overview":
            parts.append(_contents(element, what))
        elif local(element) == "Question":
            question = _question(element, what)
            if question.identifier in seen:
                raise BadXML(f"{what}: the QuestionIdentifier {question.identifier!r} is there twice.")
            seen.add(question.identifier)
            parts.append(question)
        else:
            raise BadXML(f"{what}: <{local(element)}> has no place in a QuestionForm.")
    if not seen:
        raise BadXML(f"{what}: a QuestionForm needs at least one <Question>.")
    return QuestionForm(tuple(parts))


def _question(element: etree._Element, what: str) -> FormQuestion:
    identifier = text_of(needed(element, "QuestionIdentifier", what))
    if not identifier:
        raise BadXML(f"{what}: a <QuestionIdentifier> is empty.")
    return FormQuestion(
        identifier=identifier,
        display_name=text_of(child(element, "DisplayName")),
        required=text_of(child(element, "IsRequired")).lower() in {"true", "1"},
        content=_contents(needed(element, "QuestionContent", what), what),
        answer=_answer(needed(element, "AnswerSpecification", what), what),
    )


def _contents(element: etree._Element, what: str) -> tuple[Content, ...]:
    return tuple(_content(one, what) for one in element)


def _content(element: etree._Element, what: str) -> Content:
    kind = local(element)
    match kind:
        case "Title" | "Text" | "FormattedContent":
            return Content(kind, text=element.text or "")
        case "List":
            return Content(kind, items=tuple(text_of(item) for item in children(element, "ListItem")))
        case "Binary":
            medium = text_of(child(needed(element, "MimeType", what), "Type"))
            return Content(
                kind,
                text=text_of(child(element, "AltText")),
                url=_address(text_of(needed(element, "DataURL", what))),
                media_type=medium,
            )
        case "Application" | "EmbeddedBinary":
            raise NotSupported(f"{what}: <{kind}> (applets and plug-ins) can't be shown by today's browsers.")
        case _:
            raise BadXML(f"{what}: <{kind}> is no content of a QuestionForm.")


def _answer(element: etree._Element, what: str) -> FreeText | Choice:
    if len(element) != 1:
        raise BadXML(f"{what}: <AnswerSpecification> needs exactly one kind of answer.")
    kind = local(element[0])
    if kind == "FreeTextAnswer":
        return _free_text(element[0], what)
    if kind == "SelectionAnswer":
        return _choice(element[0], what)
    if kind == "FileUploadAnswer":
        raise NotSupported(f"{what}: this marketplace takes no file uploads (FileUploadAnswer).")
    raise BadXML(f"{what}: <{kind}> is no kind of answer.")


def _free_text(element: etree._Element, what: str) -> FreeText:
    limits = child(element, "Constraints")
    length = child(limits, "Length") if limits is not None else None
    numeric = child(limits, "IsNumeric") if limits is not None else None
    form = child(limits, "AnswerFormatRegex") if limits is not None else None
    return FreeText(
        default=text_of(child(element, "DefaultText")),
        lines=max(1, integer_of(child(element, "NumberOfLinesSuggestion"), what, 1)),
        min_length=_attribute(length, "minLength", what),
        max_length=_attribute(length, "maxLength", what),
        numeric=numeric is not None,
        min_value=_attribute(numeric, "minValue", what),
        max_value=_attribute(numeric, "maxValue", what),
        pattern=form.get("regex", "") if form is not None else "",
        error_text=form.get("errorText", "") if form is not None else "",
    )


def _attribute(element: etree._Element | None, name: str, what: str) -> int | None:
    words = element.get(name) if element is not None else None
    if words is None:
        return None
    try:
        return int(words)
    except ValueError:
        raise BadXML(f"{what}: {name}={words!r} must be a whole number.") from None


def _choice(element: etree._Element, what: str) -> Choice:
    listed = needed(element, "Selections", what)
    found = tuple(_selection(one, what) for one in children(listed, "Selection"))
    if not found:
        raise BadXML(f"{what}: <Selections> needs at least one <Selection>.")
    identifiers = [one.identifier for one in found]
    if len(set(identifiers)) < len(identifiers):
        raise BadXML(f"{what}: a SelectionIdentifier is there twice in one question.")
    style = text_of(child(element, "StyleSuggestion")) or "radiobutton"
    if style not in STYLES:
        raise BadXML(f"{what}: StyleSuggestion {style!r} is unknown; known are {', '.join(STYLES)}.")
    return Choice(
        selections=found,
        style=style,
        min_count=integer_of(child(element, "MinSelectionCount"), what, 1),
        max_count=integer_of(child(element, "MaxSelectionCount"), what, 1),
        other=child(listed, "OtherSelection") is not None,
    )


def _selection(element: etree._Element, what: str) -> Selection:
    identifier = text_of(needed(element, "SelectionIdentifier", what))
    if not identifier:
        raise BadXML(f"{what}: a <SelectionIdentifier> is empty.")
    content = next((one for one in element if local(one) != "SelectionIdentifier"), None)
    if content is None:
        raise BadXML(f"{what}: the selection {identifier!r} has nothing to show.")
    return Selection(identifier, _content(content, what))
