"""The documentation as a site: built without a warning, so that no link or anchor is dead; nothing from elsewhere."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPHINX = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b"]
LOADED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "form": "action",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """`make docs`, into a folder of its own. MyST checks links and anchors; a warning is an error."""
    out = tmp_path_factory.mktemp("site")
    command = [*SPHINX, "html", str(ROOT / "docs"), str(out)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return out


class References(HTMLParser):
    """What a page loads by itself, as against what a reader may follow."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loaded: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if value := dict(attrs).get(LOADED.get(tag, "")):
            self.loaded.add(value)


def test_every_page_is_there_and_reached_from_the_contents(site: Path):
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in ROOT.glob("docs/**/*.md")}
    assert {page for page in pages if not (site / page).exists()} == set()  # one outside the contents is a warning
    contents = (site / "index.html").read_text()
    for caption in ("Start", "By role", "How it works", "Reference"):
        assert f">{caption}<" in contents


def test_nothing_is_loaded_from_elsewhere(site: Path):
    foreign = {
        (path.name, address)
        for path in site.rglob("*.html")
        for address in References(path.read_text()).loaded
        if "://" in address or address.startswith("//")
    }
    assert foreign == set()
    styles = [path for path in site.rglob("*.css") if "url(http" in path.read_text() or "@import" in path.read_text()]
    assert styles == []


def test_a_dead_link_would_fail(tmp_path):
    (tmp_path / "conf.py").write_text((ROOT / "docs" / "conf.py").read_text())
    (tmp_path / "index.md").write_text("# A\n\n[there](#a) [nowhere](#b) [no page](c.md)\n")
    command = [*SPHINX, "dummy", str(tmp_path), str(tmp_path / "o")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.count("cross-reference target not found") == 2
