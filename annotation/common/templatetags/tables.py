"""A table as every page shows it: in a box that scrolls, takes the focus and has a name."""

import re

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token, token_kwargs
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import smart_split

register = template.Library()
OPTION = re.compile(r"\w+=")


class NumberColumn(str):
    """The title of a column of numbers, which stand on the right."""


@register.filter
def numbers(title: str) -> NumberColumn:
    return NumberColumn(title)


@register.filter
def unseen(title: str) -> SafeString:
    """The title of a column of buttons: for screen readers alone."""
    return format_html('<span class="visually-hidden">{}</span>', title)


@register.tag
def table(parser: Parser, token: Token) -> "TableNode":
    """`{% table _("Worker") _("Tasks")|numbers label=_("People") css="card" %}` rows `{% endtable %}`.

    `label` names the table, or the element whose id is `labelledby`.
    """
    _, *arguments = smart_split(token.contents)  # Django's own splitting takes no filter behind _("…")
    titles = [parser.compile_filter(argument) for argument in arguments if not OPTION.match(argument)]
    options = token_kwargs([argument for argument in arguments if OPTION.match(argument)], parser)
    rows = parser.parse(("endtable",))
    parser.delete_first_token()
    return TableNode(titles, options, rows)


class TableNode(template.Node):
    def __init__(self, titles: list[FilterExpression], options: dict[str, FilterExpression], rows: NodeList) -> None:
        self.titles = titles
        self.options = options
        self.nodelist = rows

    def render(self, context: template.Context) -> SafeString:
        options = {name: option.resolve(context) for name, option in self.options.items()}
        css = options.pop("css", "")
        return format_html(
            '<div class="table{}" tabindex="0" role="group" {}>'
            "<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>",
            css and f" {css}",
            format_html_join(" ", 'aria-{}="{}"', options.items()),
            format_html_join("", "{}", ((_heading(title.resolve(context)),) for title in self.titles)),
            self.nodelist.render(context),
        )


def _heading(title: str) -> SafeString:
    alignment = SafeString(' class="n"' if isinstance(title, NumberColumn) else "")
    return format_html('<th scope="col"{}>{}</th>', alignment, title)
