"""The Explorer in Chromium, wide and narrow: from the list to a document and on, by keys, each view an address."""

import pytest
from playwright.sync_api import expect

from annotation.models import FilterDecision, Role
from annotation.results.explorer.index import compare, refresh
from tests.annotation.results.test_explorer import make_judged_study
from tests.browser.helpers import let_in
from tests.browser.looking import fits, wait_for_page
from tests.browser.test_axe import axe, axe_check  # noqa: F401  fixtures
from tests.factories import make_member

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_document_is_found_read_and_passed_on_by_keys_alone(page, live_server):
    study = make_judged_study(documents=3)
    FilterDecision.objects.create(study=study, rules=["majority-dissent"])
    refresh(study)
    compare(study, "litepyramid_recall", "m")
    let_in(page.context, live_server.url, make_member(study, Role.ANALYST))
    page.goto(f"{live_server.url}/studies/{study.slug}/explorer/")
    expect(page.get_by_role("heading", name="3 documents")).to_be_visible()
    page.get_by_label("Metric").select_option("m")
    page.get_by_label("Order").select_option("disagreement")
    page.get_by_role("button", name="Show").click()
    wait_for_page(page, page.get_by_role("columnheader", name="Disagreement"))
    page.locator("body").press("Enter")
    page.wait_for_url("**/explorer/*/?**")
    first = page.locator("h1").inner_text()
    assert "sort=disagreement" in page.url
    page.keyboard.press("j")
    wait_for_page(page, page.locator("h1").filter(has_not_text=first))
    page.keyboard.press("k")
    wait_for_page(page, page.locator("h1").filter(has_text=first))
    page.keyboard.press("]")
    page.wait_for_url("**system=**")
    expect(page.locator("#judges")).to_contain_text(page.locator(".explore-systems .chosen h3").inner_text())
    address = page.url
    page.keyboard.press("/")
    expect(page.get_by_label("Words")).to_be_focused()
    page.keyboard.type("doc2")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="1 document")).to_be_visible()
    page.goto(address)  # the address alone brings the view back
    expect(page.locator("h1")).to_have_text(first)
    fits(page)  # tables scroll inside themselves


def test_axe_finds_no_fault_on_the_pages_for_readers_and_programs(axe_check, page, live_server):  # noqa: F811
    study = make_judged_study(documents=2)
    refresh(study)
    compare(study, "litepyramid_recall", "m")
    let_in(page.context, live_server.url, make_member(study, Role.ANALYST))
    axe_check.visit("explorer", study.slug, query="?metric=m&sort=disagreement")
    axe_check.visit("explorer", study.slug, query="?q=nowhere")
    axe_check.visit("explorer-document", study.slug, study.documents.first().pk, query="?metric=m")
    axe_check.visit("tokens")
    axe_check.visit("api:reference")
    assert axe_check.faults == []
