"""A lab's own protocol works everywhere: what the site knows of a protocol, the protocol says itself."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.urls import reverse

from analysis.tables import TableError
from annotation import protocols
from annotation.guidance import give_defaults, newest_text
from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Batch, Judgment, PracticeItem, Role, Study, Summary, Task
from annotation.protocols import PROTOCOLS, Item, Protocol
from annotation.protocols.base import named
from annotation.results.quality import quality_content
from annotation.studies.batches import create_batch
from annotation.studies.second_rounds import find_contested, open_second_round, read_thresholds
from annotation.transfer.datasheet import datasheet
from annotation.transfer.importing.study import import_study
from tests.annotation.transfer.whole_export import export_study
from tests.browser.looking import markup
from tests.factories import make_member, make_study, make_worker

ROOM = Path(__file__).resolve().parents[3] / "annotation"


class Worth(Protocol):
    """The least that a protocol must say."""

    name = "worth"
    title = "Worth passing on"
    template = "annotation/judging/litepyramid.html"
    scale_min = 0
    scale_max = 3

    def tasks(self, batch: Batch, quota: int) -> list[Task]:
        rows = Summary.objects.filter(document__study=batch.study).order_by("pk").values_list("document_id", "pk")
        return [Task(batch=batch, document_id=document, summary_id=summary, quota=quota) for document, summary in rows]

    def items(self, assignment: Assignment) -> list[Item]:
        return named(assignment, [Item(assignment.task.summary_id or 0, "worth", "Would you pass it on?")])


@pytest.fixture
def worth_protocol(monkeypatch) -> Worth:
    protocol = Worth()
    monkeypatch.setitem(PROTOCOLS, "worth", protocol)
    return protocol


@pytest.fixture
def judged_batch(db, worth_protocol) -> Batch:
    """Four workers on two summaries: 3, 3, 3, 0 for the first one, 2 by all for the second."""
    batch = create_batch(make_study(documents=2), "First", "worth", quota=4, state="open")
    for number in range(4):
        worker = make_worker(batch.study)
        for _ in range(2):
            assignment = lease_task(batch, worker)
            (item,) = worth_protocol.items(assignment)
            first = assignment.task.document.doc_id == "doc0"
            value = (0 if number == 3 else 3) if first else 2
            submit_judgments(worker, assignment.key, {item.field: str(value)}, assignment.key)
    return batch


@pytest.fixture
def admin(client, judged_batch) -> Study:
    client.force_login(make_member(judged_batch.study, Role.ADMIN))
    return judged_batch.study


def test_its_instructions_are_its_own_and_none_is_fine(db, worth_protocol):
    study = make_study()
    worth_protocol.instructions = "Pass it on?"
    give_defaults(study)
    assert newest_text(study, "instructions", "worth").body == "Pass it on?"
    worth_protocol.instructions = ""
    give_defaults(make_study())  # an empty text would be refused


def test_a_practice_item_may_expect_every_value_of_its_scale_and_no_other(client, admin):
    item = {"protocol": "worth", "kind": "test", "question": "Would you?", "expected": "2"}
    item["summary"] = str(Summary.objects.filter(document__study=admin).first().pk)
    assert "0, 1, 2, 3." in client.get(reverse("guidance", args=[admin.slug]) + "?protocol=worth").text
    response = client.post(reverse("guidance-item", args=[admin.slug]), {**item, "expected": "4"})
    assert "The expected answer must be 0, 1, 2 or 3: nobody could give another." in response.text
    assert client.post(reverse("guidance-item", args=[admin.slug]), item).status_code == 302
    assert PracticeItem.objects.get().expected == 2
    for kind in ("tutorial", "test"):
        PracticeItem.objects.update(kind=kind)
        page = markup(client.get(reverse(kind, args=[admin.batches.get().pk])).text)
        assert re.findall(r'<input type="radio" name="answer:\d+" value="(\d)"', page) == ["0", "1", "2", "3"]


def test_ratings_far_apart_are_contested_and_looked_at_again_on_its_own_scale(client, judged_batch):
    """3 beside 0 is more than 2 apart while all others agree: who gave 0 looks again, alone."""
    contested = find_contested(judged_batch, read_thresholds(judged_batch, {}))
    assert (contested.looks, set(contested.rows["reason"])) == (1, {"alone"})
    Batch.objects.filter(pk=judged_batch.pk).update(state="closed")
    judged_batch.refresh_from_db()
    second = open_second_round(judged_batch, contested.thresholds)
    task = second.tasks.get()
    client.force_login(task.reserved_for.user)
    page = markup(client.post(reverse("take", args=[second.pk]), follow=True).text)
    assert re.findall(r'type="radio"[^>]* name="answer:\w+" value="(\d)"', page) == ["0", "1", "2", "3"]
    assert "Present" not in page
    client.force_login(make_member(judged_batch.study, Role.ADMIN))
    assert "SummEval’s rule" in client.get(reverse("round", args=[judged_batch.study.slug, judged_batch.pk])).text


def test_quality_compares_its_dimensions_by_distance(judged_batch):
    (content,) = quality_content(judged_batch.study)["protocols"]
    assert (content["name"], content["level"], "unit" in content["by"]) == ("worth", "interval", True)


def test_its_pages_and_sheets_know_it(client, admin):
    for name in ("study", "collect", "rounds", "quality", "scus"):
        assert client.get(reverse(name, args=[admin.slug])).status_code == 200, name
    sheet = datasheet(admin)
    assert "Quality criterion 1: worth" in sheet.markdown()
    assert "0 to 3." in sheet.markdown()
    assert "A whole number for one dimension of one summary, by one person." in sheet.markdown("card")


def test_what_was_exported_can_be_imported_again(judged_batch, tmp_path):
    export_study(judged_batch.study, tmp_path)
    import_study(tmp_path, "again")
    imported = Judgment.objects.filter(assignment__task__batch__study__name="again")
    values = sorted(imported.values_list("assignment__task__batch__protocol", "unit", "value", "scale_max"))
    assert values == [("worth", "worth", value, 3) for value in (0, 2, 2, 2, 2, 3, 3, 3)]


def test_an_imported_value_off_its_scale_is_named(judged_batch, tmp_path):
    export_study(judged_batch.study, tmp_path)
    path = tmp_path / "judgments.csv"
    header, first, *other_lines = path.read_text().splitlines()
    cells = first.split(",")
    cells[header.split(",").index("value")] = "7"
    path.write_text("\n".join([header, ",".join(cells), *other_lines]) + "\n")
    with pytest.raises(TableError, match="a value on the scale 0 to 3 of Worth passing on"):
        import_study(tmp_path, "again")


# The sources


def named_in_code(path: Path) -> Iterator[str]:
    """Where a protocol's name decides: in a comparison, in a filter, as all the keys of a table."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Compare):
            places: list[ast.AST | None] = [node.left, *node.comparators]
        elif isinstance(node, ast.Call):
            places = [word.value for word in node.keywords if re.search(r"protocol(__in)?$", word.arg or "")]
            places = places if _method(node) in ("filter", "exclude", "get", "Q") else []
            places += node.args if _method(node) == "isin" else []
        elif isinstance(node, ast.Dict):
            places = node.keys if node.keys and all(map(_is_name, node.keys)) else []
        else:
            places = []
        if any(_is_name(inner) for place in places for inner in getattr(place, "elts", [place])):
            yield f"{path.relative_to(ROOM)}:{node.lineno}"


def _method(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def _is_name(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value in PROTOCOLS


def test_nothing_outside_the_protocols_decides_by_a_protocols_name():
    sources = [path for path in sorted(ROOM.rglob("*.py")) if "protocols" not in path.relative_to(ROOM).parts]
    assert [place for path in sources for place in named_in_code(path)] == []


def test_no_page_decides_by_a_protocols_name():
    names = "|".join(PROTOCOLS)
    deciding = re.compile(rf"""{{%\s*(?:el)?if\b[^%]*["'](?:{names})["']""")
    assert [path.name for path in sorted(ROOM.rglob("*.html")) if deciding.search(path.read_text())] == []


@pytest.mark.parametrize(
    "line",
    [
        'if batch.protocol == "likert": pass',
        'known = protocol in ("litepyramid", "other")',
        'study.batches.exclude(protocol="scu")',
        'rows.filter(task__batch__protocol__in=["litepyramid"])',
        'frame["protocol"].isin(["litepyramid", "likert"])',
        '{"litepyramid": "nominal", "likert": "interval"}',
    ],
)
def test_such_lines_would_be_noticed(line, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.annotation.protocols.test_own_protocol.ROOM", tmp_path)
    path = tmp_path / "module.py"
    path.write_text(line)
    assert list(named_in_code(path)) == ["module.py:1"]


def test_a_name_that_is_gone_is_left_out_and_read_as_ratings():
    assert [protocol.name for protocol in protocols.among(["likert", "gone", "scu"])] == ["scu", "likert"]
    assert protocols.level_of("gone") == "interval"
