"""Markdown made safe: no HTML of the writer's, no address that could run a script, nothing loaded from elsewhere."""

from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    # "js-default" is CommonMark with tables; html=False shows tags as the text they are. Pictures are left out:
    # one from another host would tell that host who works here.
    return MarkdownIt("js-default", {"html": False, "linkify": False, "typographer": False}).disable("image")


def render_markdown(text: str) -> SafeString:
    """The text as HTML that can stand on any page: its highest headings come right below the page's own title."""
    parser = _parser()
    tokens = parser.parse(text)
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    highest = min((int(token.tag[1]) for token in headings), default=1)
    for token in headings:
        token.tag = f"h{min(int(token.tag[1]) - highest + 2, 6)}"
    for token in tokens:
        for child in token.children or []:
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer")
                child.attrSet("target", "_blank")
    html = str(parser.renderer.render(tokens, parser.options, {}))
    return mark_safe(html)  # noqa: S308  markdown-it escapes what it gets, and HTML is off
