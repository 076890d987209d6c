"""A market lets its workers in by its own rules, in its own file; around it nobody knows a market by name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

import annotation
from annotation.crowds.base import Comer
from annotation.crowds.lookup import MARKETS
from annotation.crowds.markets.direct import Direct
from annotation.crowds.markets.mturk import MTurk
from annotation.crowds.markets.prolific import Prolific
from annotation.crowds.worker.entry import posting_at
from annotation.models import Posting, Submission, Worker
from tests.factories import make_batch, make_study

HOUSE = Path(annotation.__file__).parent
ORIGIN = "https://lab.example"


def constants(node: ast.AST) -> Iterator[str]:
    """Strings by which this node decides: compared, matched, or looked up in a table."""
    deciding: list[ast.AST | None] = []
    if isinstance(node, ast.Compare):
        deciding = [node.left, *node.comparators]
    elif isinstance(node, ast.Dict):
        deciding = [*node.keys]
    elif isinstance(node, ast.Subscript):
        deciding = [node.slice]
    elif isinstance(node, ast.MatchValue):
        deciding = [node.value]
    for side in deciding:
        values = side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]
        yield from (value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str))


def is_of_a_market(path: Path) -> bool:
    if path.parts[0] == "models":  # the tables, which are no market's
        return False
    return any(folder.removesuffix(".py").partition("_")[0] in MARKETS for folder in path.parts)


def test_no_market_is_known_by_name_outside_its_own_files():
    paths = [path for path in HOUSE.rglob("*.py") if not is_of_a_market(path.relative_to(HOUSE))]
    assert len(paths) > 100
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    files = {
        f"{path.relative_to(HOUSE)}:{node.lineno}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if set(constants(node)) & set(MARKETS)
    }
    assert {place.partition(":")[0] for place in files} == {"common/libraries.py"}  # there "models" are requirements
    deciding = re.compile(rf"{{%[^%]*== *[\"']({'|'.join(MARKETS)})[\"']")
    assert [path for path in HOUSE.rglob("*.html") if deciding.search(path.read_text(encoding="utf-8"))] == []


class Lab(Direct):
    """A market as a lab might have it: it shows a preview, frames the pages, and takes the work back."""

    name = "lab"
    confirms = True

    def entry(self, posting, query):
        person = query.get("person", "")
        return Comer(f"{posting.pk}-{person}", person, submit_to=ORIGIN) if person else None

    def origins(self):
        return [f"{ORIGIN}/work"]

    def hand_in(self, origin):
        return f"{origin}/take-back"


@pytest.fixture
def posting(db, monkeypatch, settings) -> Posting:
    monkeypatch.setitem(MARKETS, "lab", Lab)
    settings.MARKET_ORIGINS = []
    batch = make_batch(make_study())
    batch.crowd = "lab"
    batch.save(update_fields=["crowd"])
    return Posting.objects.create(
        batch=batch, task=batch.tasks.first(), token="lab-token", places=1, reward_cents=0, state="open"
    )


def test_a_worker_comes_in_looks_works_and_leaves_by_the_rules_of_a_market_of_ones_own(posting):
    browser, address = Client(), reverse("crowd-entry", args=["lab", posting.token])
    preview = browser.get(address)
    assert preview.status_code == 200
    assert ORIGIN in preview["Content-Security-Policy"]
    assert not Worker.objects.exists()
    task = browser.get(address, {"person": "Ada"}, follow=True)
    assert task.status_code == 200
    submission = Submission.objects.get()
    worker = submission.worker
    assert (worker.external_id, worker.crowd, submission.market_id) == ("Ada", "lab", f"{posting.pk}-Ada")
    Submission.objects.update(saved_at=submission.started_at, receipt="AAAA-BBBB")
    submission.assignments.update(state="submitted", submitted_at=submission.started_at)
    end = browser.get(reverse("crowd-finish", args=[task.request["PATH_INFO"].split("/")[3]]))
    assert f'action="{ORIGIN}/take-back"' in end.content.decode()


def test_a_market_without_an_entry_lets_nobody_in(posting, monkeypatch):
    monkeypatch.setitem(MARKETS, "lab", Direct)
    for crowd in ("lab", "direct", "nowhere"):
        answer = Client().get(reverse("crowd-entry", args=[crowd, posting.token]), {"person": "Ada"})
        assert answer.status_code == 404
        assert "no such task here" in answer.content.decode()
    assert not Worker.objects.exists()


def test_the_addresses_of_the_markets_are_what_they_were(posting, settings):
    settings.SITE_URL = "https://site.example"
    assert MTurk().address(posting) == "https://site.example" + reverse("crowd-mturk", args=[posting.token])
    parameters = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    start = "https://site.example" + reverse("crowd-prolific", args=[posting.token])
    assert Prolific().address(posting) == f"{start}?{parameters}"
    assert posting_at(posting.token, "lab") == posting
