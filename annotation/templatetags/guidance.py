"""Guidance as pages show it."""

from collections.abc import Sequence

from django import template
from django.utils.safestring import SafeString

from annotation.common.markdown import render_markdown
from annotation.protocols.descriptions import Choice

register = template.Library()


@register.filter
def markdown(text: str) -> SafeString:
    return render_markdown(text)


@register.filter
def percent(share: float) -> str:
    return f"{100 * share:g} %"


@register.filter
def choice_label(value: float, choices: Sequence[Choice]) -> str:
    """The words on the button that stands for a value."""
    return next((choice.label for choice in choices if float(choice.value) == value), f"{value:g}")


@register.filter
def percent_number(share: float) -> str:
    return f"{100 * share:g}"
