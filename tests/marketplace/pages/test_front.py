"""The front door: the quick start runs, the operations are all there, the look is the site's."""

import html
import json
import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.marketplace.api.contract import operation_names
from annotation.marketplace.api.operations import HANDLERS
from annotation.marketplace.hits import work
from annotation.marketplace.models import HIT
from annotation.marketplace.pages.operations import ALL, parameters
from annotation.marketplace.pages.render import AREAS
from annotation.marketplace.people.access_keys import issue_key
from annotation.marketplace.qualifications import qualifications
from annotation.marketplace.templatetags.market import money, span
from tests.marketplace.fixtures import ANSWER
from tests.marketplace.pages.visitors import a_requester, a_worker

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]


def quick_start(url: str) -> str:
    page = Client(headers={"host": url.removeprefix("http://")}).get("/").content.decode()
    return html.unescape(re.search(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.S)[1])


def test_the_quick_start_on_the_front_page_runs(live_server):
    lab, wanda = a_requester(), a_worker()
    key = issue_key(lab)
    script = (
        quick_start(live_server.url)
        .replace("AKIA…", key.key_id)
        .replace('secret_access_key="…"', f'secret_access_key="{key.secret}"')
    )
    assert f'endpoint_url="{live_server.url}"' in script
    publish, _, approve = script.partition("for a in")
    names_there: dict = {}
    exec(publish, names_there)
    hit = HIT.objects.get()
    work.submit_assignment(work.accept_hit(wanda, hit.hit_id).assignment_id, ANSWER)
    exec("for a in" + approve, names_there)
    wanda.refresh_from_db()
    assert wanda.earned_cents == 10


def test_every_operation_has_its_page_and_its_handler():
    assert sorted(operation.name for operation in ALL) == sorted(operation_names()) == sorted(HANDLERS)
    assert len(ALL) == 39
    page = Client().get("/operations/").content.decode()
    for operation in ALL:
        assert f'/operations/{operation.name}/"' in page
        assert Client().get(f"/operations/{operation.name}/").status_code == 200
    assert Client().get("/operations/MakeCoffee/").status_code == 404


def test_limits_come_from_the_service_model():
    by_name = {parameter.name: parameter for parameter in parameters("CreateHIT")}
    assert by_name["Reward"].required
    assert by_name["Reward"].limits == r"pattern ^[0-9]+(\.)?[0-9]{0,2}$"
    assert by_name["UniqueRequestToken"].limits == "1 to 64"


def test_the_tokens_are_the_sites():
    """Two products, one look: the tokens stand once, in the file that every page loads before its own."""
    sheets = {path.name: path.read_text() for path in (ROOT / "annotation").rglob("*.css")}
    assert [name for name, text in sheets.items() if ":root" in text] == ["base.css"]
    first = "{% static 'common/base.css' %}"
    own_sheet = re.compile(r"\{% static '(annotation/common/site|marketplace/market).css' %\}")
    pages = [text for text in map(Path.read_text, (ROOT / "annotation").rglob("*.html")) if own_sheet.search(text)]
    assert [0 < text.find(first) < own_sheet.search(text).start() for text in pages] == [True] * 5


def test_templates_have_no_inline_script_or_style():
    for path in (ROOT / "annotation/marketplace/templates").rglob("*.html"):
        text = path.read_text()
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", text), path.name


@pytest.mark.parametrize(
    ("cents", "words"), [(0, "$0.00"), (5, "$0.05"), (123456789, "$1,234,567.89"), (-250, "−$2.50"), (None, "–")]
)
def test_money_is_said_with_its_currency(cents, words):
    assert money(cents) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (59, "59 s"), (90, "1 min 30 s"), (3600, "1 h"), (93784, "1 d 2 h"), (None, "–")]
)
def test_spans_of_time_have_two_units(seconds, words):
    assert span(seconds) == words


@pytest.mark.parametrize("role", ["worker", "requester", "operator"])
def test_every_page_in_the_navigation_is_documented(role):
    name = {"worker": "workers", "requester": "requesters", "operator": "operator"}[role]
    text = (ROOT / f"docs/marketplace/{name}.md").read_text()
    missing = [reverse(address) for _, address, _ in AREAS[role] if f"`{reverse(address)}`" not in text]
    assert missing == []


def test_anybody_learns_how_many_workers_meet_requirements_and_no_names(client):
    a_worker()
    many = [{"QualificationTypeId": "00000000000000000040", "Comparator": "GreaterThan", "IntegerValues": [5000]}]
    answer = client.get("/qualified/", {"requirements": json.dumps(many)}).json()
    assert answer == {"workers": 1, "qualified": 0}
    assert client.get("/qualified/").json() == {"workers": 1, "qualified": 1}
    for wrong in ("{", "[1]", '[{"QualificationTypeId": "x"}]', "7"):
        assert client.get("/qualified/", {"requirements": wrong}).status_code == 400
    kind = qualifications.create_type(a_requester(), name="Passed", description="d")
    own = json.dumps([{"QualificationTypeId": kind.qualification_type_id, "Comparator": "Exists"}])
    assert "market's own" in client.get("/qualified/", {"requirements": own}).json()["message"]
