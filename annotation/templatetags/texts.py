"""The language of a study's texts, for those who hear them read aloud."""

from django import template
from django.utils.html import format_html
from django.utils.translation import get_language

from annotation.models import Study

register = template.Library()


@register.simple_tag
def lang_of(study: Study) -> str:
    """An attribute for an element that holds a text of the study; nothing where it is the page's own language."""
    language = study.language
    return "" if not language or language == get_language() else format_html('lang="{}"', language)
