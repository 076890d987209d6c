"""Making a study in the browser: look first, the files stay chosen, then make it; and what goes wrong is said."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.models import AuditEvent, Role, Score, Study, Summary
from tests.annotation.transfer.test_import import write_folder
from tests.browser.conftest import NARROW
from tests.browser.helpers import let_in
from tests.browser.looking import fits, wait_for_page
from tests.browser.test_axe import axe, axe_check  # noqa: F401  fixtures
from tests.factories import make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)


def open_form(page: Page, server: str, folder: Path) -> Page:
    """The form, filled in."""
    let_in(page.context, server, make_member(make_study(), Role.ADMIN))
    page.goto(server)
    page.get_by_role("link", name="New study").click()
    wait_for_page(page, page.get_by_role("heading", name="New study"))
    page.get_by_label("Name").fill("From the browser")
    page.get_by_label("Files at most").set_input_files(sorted(write_folder(folder).iterdir()))
    return page


@pytest.fixture
def form(page: Page, live_server, tmp_path) -> Page:
    return open_form(page, live_server.url, tmp_path / "in")


def test_look_then_make_with_the_files_chosen_once(form: Page):
    form.get_by_role("button", name="Look into the files").focus()
    form.keyboard.press("Enter")
    expect(form.get_by_role("heading", name="What is in the files")).to_be_visible()
    expect(form.locator("#found")).to_contain_text("Nothing was made yet.")
    expect(form.locator("#sending")).to_be_hidden()
    fits(form)
    assert not Study.objects.filter(name="From the browser").exists()
    form.get_by_role("button", name="Make the study").click()
    expect(form.get_by_role("status").first).to_contain_text("“From the browser” is made, and you are its admin.")
    expect(form.get_by_role("heading", level=1)).to_have_text("From the browser")
    fits(form)


def test_a_bad_file_is_told_and_another_can_be_chosen(form: Page, tmp_path):
    folder = write_folder(tmp_path / "in", **{"scores.csv": "doc_id,system,metric,value\nnowhere,1,m,1\n"})
    form.get_by_label("Files at most").set_input_files(sorted(folder.iterdir()))
    form.get_by_role("button", name="Make the study").click()
    expect(form.get_by_role("alert")).to_contain_text("scores.csv, row 1")
    fits(form)
    form.get_by_label("Files at most").set_input_files(
        sorted(file for file in folder.iterdir() if file.stem != "scores")
    )
    form.get_by_role("button", name="Make the study").click()
    expect(form.get_by_role("status").first).to_contain_text("is made")


def test_a_connection_that_breaks_is_told_and_the_form_stays(browser, live_server, tmp_path):
    context = browser.new_context(viewport=NARROW)  # the console tells of the break, which is no fault here
    form = open_form(context.new_page(), live_server.url, tmp_path / "in")
    form.route("**/new-study/", lambda route: route.abort())
    form.get_by_role("button", name="Make the study").click()
    expect(form.locator("#sending")).to_contain_text("The connection broke")
    form.unroute("**/new-study/")
    form.get_by_role("button", name="Make the study").click()
    expect(form.get_by_role("status").first).to_contain_text("is made")
    context.close()


def test_axe_finds_no_fault(axe_check, page, live_server, tmp_path):  # noqa: F811
    let_in(page.context, live_server.url, make_member(make_study(), Role.ADMIN))
    axe_check.visit("new-study")
    page.get_by_label("Name").fill("Looked at")
    page.get_by_label("Files at most").set_input_files(sorted(write_folder(tmp_path / "in").iterdir()))
    page.get_by_role("button", name="Look into the files").click()
    expect(page.get_by_role("heading", name="What is in the files")).to_be_visible()
    axe_check.check("found")
    assert axe_check.faults == []


def test_axe_finds_no_fault_where_it_asks_how_to_read(axe_check, page, live_server, tmp_path):  # noqa: F811
    let_in(page.context, live_server.url, make_member(make_study(), Role.ADMIN))
    axe_check.visit("new-study")
    (tmp_path / "articles.csv").write_bytes("Article ID;Article;Gold\n1;Käse;Käse.\n".encode("cp1252"))
    (tmp_path / "summaries.csv").write_text("doc_id;system;summary\n1;a;Cheese.\n")
    page.get_by_label("Name").fill("Asked")
    page.get_by_label("Files at most").set_input_files([tmp_path / "articles.csv", tmp_path / "summaries.csv"])
    page.get_by_role("button", name="Make the study").click()
    expect(page.get_by_role("heading", name="How the files are read")).to_be_visible()
    axe_check.check("asked")
    assert axe_check.faults == []
    fits(page)
    page.get_by_role("button", name="Read it so").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Asked")


def test_axe_finds_no_fault_on_metrics_and_record_with_content(axe_check, page, live_server):  # noqa: F811
    study = make_study(documents=2, systems=3)
    admin = make_member(study, Role.ADMIN)
    let_in(page.context, live_server.url, admin)
    for place, summary in enumerate(Summary.objects.filter(document__study=study).order_by("system__name")):
        owner = {"study": study, "system": summary.system, "document": summary.document}
        Score.objects.create(**owner, metric="people", value=place, extra={"role": "human"})
        Score.objects.create(**owner, metric="length", value=place // 2)
    AuditEvent.objects.create(action="POST ledger", study=study, name="ada", facts={"form.budget": "400"})
    axe_check.visit("metrics", study.slug)
    expect(page.get_by_role("heading", name="Which metric follows people")).to_be_visible()
    fits(page)
    axe_check.visit("record", study.slug)
    expect(page.get_by_text("Set the budget to $400.00")).to_be_visible()
    fits(page)
    axe_check.visit("study", study.slug)
    for name in ("Add a system from a file of summaries", "Rename or delete this study"):
        page.get_by_text(name).click()
    axe_check.check("study, opened")
    fits(page)
    assert axe_check.faults == []
