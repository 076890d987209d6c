"""The documentation as a site: `make docs` builds it into var/docs. It loads nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Pyramidion"
author = "Pyramidion"
language = "en"

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["screens/make.py", "**/.ipynb_checkpoints"]

# Anchors of headings as on code hosts, so that the same links work in both places.
myst_heading_anchors = 4
myst_links_external_new_tab = False

html_theme = "furo"
html_title = "Pyramidion"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5a7a", "color-brand-content": "#1f5a7a"},
    "dark_css_variables": {"color-brand-primary": "#8fc1dc", "color-brand-content": "#8fc1dc"},
}
pygments_style = "friendly"
pygments_dark_style = "monokai"

CONTENTS = "\n\n```{{toctree}}\n:hidden:\n{options}\n\n{pages}\n```\n"


def hang_pages_below(app: Sphinx, docname: str, source: list[str]) -> None:
    """A folder's README is its front page, and the folder's other pages hang below it: new ones by themselves."""
    if docname.endswith("/README"):
        source[0] += CONTENTS.format(options=":glob:", pages="*")
    if docname == root_doc:
        listed_pages = set(re.findall(r"^(?:.* <)?([\w/-]+)>?$", source[0], re.M)) | {root_doc}
        new = sorted(page.stem for page in Path(app.srcdir).glob("*.md") if page.stem not in listed_pages)
        source[0] += CONTENTS.format(options=":caption: More", pages="\n".join(new)) if new else ""


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", hang_pages_below)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
