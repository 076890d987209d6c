"""Scripts of a page, with all that they import named at once: a browser finds one import after the other otherwise."""

import posixpath
import re
from functools import cache
from pathlib import Path

from django import template
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()
IMPORT = re.compile(r"""^(?:import|export)\b[^"';]*["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)


@register.simple_tag
def preload_modules(script: str) -> SafeString:
    """A link for a module script and for each module that it imports, directly or not."""
    rows = ((static(name),) for name in module_names(script))
    return format_html_join("\n", '<link rel="modulepreload" href="{}">', rows)


@cache
def module_names(script: str) -> list[str]:
    """The script and what it imports, each once, in the order in which they are found."""
    names = [script]
    for name in names:
        names += [other for other in _imports(name) if other not in names]
    return names


def _imports(name: str) -> list[str]:
    path = finders.find(name)
    if path is None:
        return []
    text = Path(path).read_text(encoding="utf-8")
    return [posixpath.normpath(posixpath.join(posixpath.dirname(name), place)) for place in IMPORT.findall(text)]
