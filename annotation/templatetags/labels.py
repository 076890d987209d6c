"""What is kept in English, in the reader's language."""

from django import template

from annotation.common.addresses import to_address
from annotation.common.labels import label
from annotation.common.translation import translated

register = template.Library()
register.filter("word", label)
register.filter("in_address", to_address)


@register.filter
def said(text: str) -> str:
    """What `analysis` or `scoring` says in English, in the reader's language."""
    return translated(text)
