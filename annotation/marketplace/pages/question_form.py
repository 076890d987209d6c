"""A QuestionForm as a web form: what to show, what was sent, and what is wrong with it.

Formatted content comes from strangers. It is rebuilt from a list of allowed elements and attributes; nothing else
survives, and every text is escaped.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from urllib.parse import urlsplit

from django.http import QueryDict
from django.utils.safestring import SafeString, mark_safe
from lxml import etree, html

from annotation.marketplace.questions.answers import Answer
from annotation.marketplace.questions.patterns import LONGEST_ANSWER, fits
from annotation.marketplace.questions.questions import Choice, Content, FormQuestion, FreeText, QuestionForm

OTHER = "__other__"
ELEMENTS = {
    *("a", "b", "big", "blockquote", "br", "caption", "center", "cite", "code", "col", "colgroup", "dd", "del"),
    *("dfn", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "ol"),
    *("p", "pre", "q", "samp", "small", "span", "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th"),
    *("thead", "tr", "tt", "u", "ul", "var", "div", "font"),
}
EMPTY = {"br", "hr", "img", "col"}
# Headings of a requester's text stand below the page's own.
RENAMED = {"h1": "h3", "h2": "h3", "font": "span", "center": "div", "big": "span", "tt": "code"}
ATTRIBUTES = {
    "a": ("href", "title"),
    "img": ("src", "alt", "width", "height"),
    "td": ("colspan", "rowspan"),
    "th": ("colspan", "rowspan", "scope"),
    "ol": ("start",),
}


@dataclass(frozen=True)
class Field:
    """One question, ready for the template."""

    question: FormQuestion
    content: SafeString
    key: str
    """Name of its form field."""
    kind: str
    """text, lines, number, radio, check or select."""
    options: tuple[tuple[str, SafeString, bool], ...] = ()
    """Identifier, what is shown, whether it is picked."""
    value: str = ""
    other_text: str = ""
    problem: str = ""
    multiple: bool = False

    @property
    def other_key(self) -> str:
        return f"{self.key}{OTHER}"


@dataclass(frozen=True)
class FilledForm:
    """A form as somebody filled it in."""

    answers: tuple[Answer, ...]
    problems: Mapping[str, str] = field(default_factory=dict)
    """By question identifier; empty: all is well."""


def read_answers(form: QuestionForm, fields: QueryDict) -> FilledForm:
    """Read and check the answers. A question that isn't required may stay empty."""
    answers, problems = [], {}
    for question in form.questions:
        answer = _read_answer(question, fields)
        problem = _problem(question, answer)
        if problem:
            problems[question.identifier] = problem
        answers.append(answer)
    return FilledForm(tuple(answers), problems)


def _read_answer(question: FormQuestion, fields: QueryDict) -> Answer:
    key = question.identifier
    if isinstance(question.answer, FreeText):
        return Answer(key, text=fields.get(key, "").replace("\r\n", "\n"))
    identifiers = {selection.identifier for selection in question.answer.selections}
    picked = tuple(dict.fromkeys(value for value in fields.getlist(key) if value in identifiers))
    other_text = fields.get(key + OTHER, "").strip() if question.answer.has_other else ""
    return Answer(key, selections=picked, other_text=other_text)


def _problem(question: FormQuestion, answer: Answer) -> str:
    if isinstance(question.answer, FreeText):
        return _text_problem(question.answer, answer.text, question.required)
    return _choice_problem(question.answer, len(answer.selections) + bool(answer.other_text), question.required)


def _text_problem(rule: FreeText, text: str, required: bool) -> str:
    if not text.strip():
        return "An answer is needed here." if required else ""
    if rule.numeric:
        return _number_problem(rule, text)
    if rule.min_length is not None and len(text) < rule.min_length:
        return f"At least {rule.min_length} characters are needed; these are {len(text)}."
    if rule.max_length is not None and len(text) > rule.max_length:
        return f"At most {rule.max_length} characters are allowed; these are {len(text)}."
    if rule.pattern and len(text) > LONGEST_ANSWER:
        return f"At most {LONGEST_ANSWER:,} characters are allowed; these are {len(text):,}."
    if rule.pattern and not fits(rule.pattern, text):
        return rule.error_text or "The answer does not have the form that the requester asks for."
    return ""


def _number_problem(rule: FreeText, text: str) -> str:
    if not re.fullmatch(r"\s*[+-]?\d{1,18}(\.\d{1,18})?\s*", text):
        return "A number is needed here."
    value = float(text)
    if rule.min_value is not None and value < rule.min_value:
        return f"The number must be at least {rule.min_value}."
    if rule.max_value is not None and value > rule.max_value:
        return f"The number must be at most {rule.max_value}."
    return ""


def _choice_problem(rule: Choice, count: int, required: bool) -> str:
    if not count:
        return "Pick an answer here." if required else ""
    if count < rule.min_count:
        return f"Pick at least {rule.min_count}; you have picked {count}."
    if count > max(rule.max_count, 1):
        return f"Pick at most {max(rule.max_count, 1)}; you have picked {count}."
    return ""


# Showing


def form_elements(form: QuestionForm, filled_form: FilledForm | None = None) -> list[SafeString | Field]:
    """Overviews as HTML and questions as fields, in their order."""
    by_id = {answer.identifier: answer for answer in filled_form.answers} if filled_form else {}
    problems = filled_form.problems if filled_form else {}
    return [
        _field(element, by_id.get(element.identifier), problems.get(element.identifier, ""))
        if isinstance(element, FormQuestion)
        else contents(element)
        for element in form.elements
    ]


def _field(question: FormQuestion, answer: Answer | None, problem: str) -> Field:
    rule = question.answer
    content = contents(question.content)
    if isinstance(rule, FreeText):
        kind = "number" if rule.numeric else "lines" if rule.lines > 1 else "text"
        value = answer.text if answer else rule.default
        return Field(question, content, question.identifier, kind, value=value, problem=problem)
    picked = answer.selections if answer else ()
    multiple = rule.max_count > 1
    flat = all(selection.content.kind == "Text" for selection in rule.selections)
    kind = "select" if rule.style in ("dropdown", "combobox", "list") and flat and not multiple else "radio"
    kind = "check" if multiple else kind
    options = tuple(
        (selection.identifier, contents((selection.content,), inline=True), selection.identifier in picked)
        for selection in rule.selections
    )
    other_text = answer.other_text if answer else ""
    return Field(
        question, content, question.identifier, kind, options, other_text=other_text, problem=problem, multiple=multiple
    )


def contents(pieces: tuple[Content, ...], inline: bool = False) -> SafeString:
    return mark_safe("".join(_piece(piece, inline) for piece in pieces))  # noqa: S308  # each piece is escaped below


def _piece(piece: Content, inline: bool) -> str:
    match piece.kind:
        case "Title":
            return f"<h3>{escape(piece.text)}</h3>"
        case "Text":
            text = escape(piece.text.strip())
            return text if inline else f'<p class="lines">{text}</p>'
        case "List":
            return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in piece.items) + "</ul>"
        case "Binary":
            return _medium(piece)
        case _:
            return cleaned(piece.text)


def _medium(piece: Content) -> str:
    url, label = escape(piece.url), escape(piece.text)
    if piece.media_type in ("audio", "video"):
        return f'<{piece.media_type} controls src="{url}" aria-label="{label}"></{piece.media_type}>'
    return f'<img src="{url}" alt="{label}">'


def cleaned(markup: str) -> str:
    """Formatted content with only what is allowed; a text that can't be read is shown as it stands."""
    try:
        root = html.fragment_fromstring(markup, create_parent="div")
    except (etree.ParserError, ValueError):
        return f"<p>{escape(markup)}</p>"
    return _inside(root)


def _inside(element: etree._Element) -> str:
    pieces = [escape(element.text or "")]
    for inner in element:
        pieces.append(_element(inner))
        pieces.append(escape(inner.tail or ""))
    return "".join(pieces)


def _element(element: etree._Element) -> str:
    name = element.tag
    if not isinstance(name, str) or name in ("script", "style", "iframe", "object", "embed", "template", "noscript"):
        return ""
    if name not in ELEMENTS:
        return _inside(element)
    attributes = "".join(
        f' {key}="{escape(value)}"' for key in ATTRIBUTES.get(name, ()) if (value := _attribute(key, element.get(key)))
    )
    if name == "img" and ' alt="' not in attributes:
        attributes += ' alt=""'
    if name == "a":
        attributes += ' target="_blank" rel="noopener noreferrer"'
    tag = RENAMED.get(name, name)
    return f"<{tag}{attributes}>" if name in EMPTY else f"<{tag}{attributes}>{_inside(element)}</{tag}>"


def _attribute(key: str, value: str | None) -> str:
    if value is None:
        return ""
    if key in ("href", "src"):
        return value if urlsplit(value.strip()).scheme in ("http", "https") else ""
    if key in ("width", "height", "colspan", "rowspan", "start"):
        return value if value.isdigit() and len(value) < 5 else ""
    return value


def media_origins(form: QuestionForm) -> list[str]:
    """Origins that pictures and sounds of this form come from, for the page's policy."""
    elements = form_elements(form)
    fields = [element for element in elements if isinstance(element, Field)]
    markup = "".join(str(element.content if isinstance(element, Field) else element) for element in elements)
    markup += "".join(str(option) for form_field in fields for _, option, _ in form_field.options)
    urls = {urlsplit(address) for address in re.findall(r' src="([^"]+)"', markup)}
    return sorted({f"{url.scheme}://{url.netloc}" for url in urls if re.fullmatch(r"[\w.\-:\[\]]+", url.netloc)})
