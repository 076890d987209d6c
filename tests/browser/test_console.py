"""The admins' crowd pages in Chromium: a launch by keyboard whose price follows what is typed, and no fault by axe."""

from collections.abc import Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.crowds.markets.direct import make_links
from annotation.models import Batch, Entry, Posting, Role
from annotation.studies.batches import create_batch
from tests.annotation.crowds.conftest import make_crowd_batch, point_at
from tests.annotation.crowds.market import LiveMarket
from tests.annotation.crowds.test_console import published, submit_answers
from tests.browser.conftest import NARROW, WIDE
from tests.browser.helpers import let_in
from tests.browser.looking import fits
from tests.browser.test_axe import AXE, AxeCheck
from tests.factories import make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def market() -> Iterator[LiveMarket]:
    market = LiveMarket()
    yield market
    market.stop()


def test_a_batch_is_launched_by_keyboard_at_the_price_that_the_button_names(browser, live_server, market, settings):
    requester = market.ask("requester", cents=100_00)
    point_at(settings, market.url, requester)
    settings.SITE_URL = live_server.url
    batch = create_batch(make_study(documents=2, units=2), "Pilot", "litepyramid", 2)
    context = browser.new_context(viewport=NARROW)
    let_in(context, live_server.url, make_member(batch.study, Role.ADMIN))
    page = context.new_page()
    page.goto(live_server.url + reverse("launch", args=[batch.study.slug, batch.pk]) + "?preset=realsumm")
    # 4 abstractive summaries at $0.20 and a fee of $0.04
    expect(page.get_by_role("button", name="Publish for $0.96")).to_be_visible()
    page.get_by_label("For group abs").fill("0.25")
    publish = page.get_by_role("button", name="Publish for $1.20")
    expect(publish).to_be_visible()
    assert "document 0 by system0" in page.frame_locator("iframe.preview").locator("#summary-text").inner_text()
    fits(page)
    assert market.ask("books", requester=requester["id"])["held"] == 0
    publish.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/monitor/")
    expect(page.get_by_text("postings were put up")).to_be_visible()
    context.close()
    assert market.ask("books", requester=requester["id"])["held"] == 120
    assert Posting.objects.filter(state="open").count() == 2


def test_a_new_price_takes_the_focus_from_nobody(browser, live_server, market, settings):
    point_at(settings, market.url, market.ask("requester", cents=100_00))
    settings.SITE_URL = live_server.url
    batch = create_batch(make_study(documents=2, units=2), "Pilot", "litepyramid", 2)
    context = browser.new_context(viewport=WIDE)
    let_in(context, live_server.url, make_member(batch.study, Role.ADMIN))
    page = context.new_page()
    page.goto(live_server.url + reverse("launch", args=[batch.study.slug, batch.pk]) + "?preset=realsumm")
    expect(page.get_by_role("button", name="Publish for $0.96")).to_be_visible()
    page.get_by_label("For group abs").fill("0.25")
    publish = page.get_by_role("button", name="Publish for $1.20")
    publish.evaluate("(one) => (one.dataset.old = 'yes')")
    page.get_by_label("For group abs").press("Tab")  # leaving the field asks for the price once more
    expect(page.locator("[data-old]")).to_have_count(0)
    expect(publish).to_be_focused()
    context.close()


def test_what_is_being_read_on_the_monitor_stays_open(browser, live_server, settings):
    batch = make_crowd_batch(documents=1, quota=3)
    [turn, *_others] = published(batch, workers=2)
    submit_answers(turn, "01")
    context = browser.new_context(viewport=NARROW)
    let_in(context, live_server.url, make_member(batch.study, Role.ADMIN))
    page = context.new_page()
    page.clock.install()
    page.goto(live_server.url + reverse("monitor", args=[batch.study.slug, batch.pk]))
    live_urls = []
    page.on("request", lambda request: live_urls.append(request.url) if "live=1" in request.url else None)
    numbers = page.locator("#live details")
    numbers.locator("summary").click()
    page.clock.run_for(20_000)
    expect(numbers).to_have_attribute("open", "")
    assert live_urls == []
    numbers.locator("summary").click()
    page.locator("h1").click()
    with page.expect_response("**/monitor/?live=1"):
        page.clock.run_for(6_000)
    context.close()


def test_the_sentence_of_a_refusal_stays_in_view_until_something_is_changed(browser, live_server, settings):
    settings.MTURK_ENDPOINT_URL = ""
    batch = make_crowd_batch()
    context = browser.new_context(viewport=NARROW)
    let_in(context, live_server.url, make_member(batch.study, Role.ADMIN))
    page = context.new_page()
    page.goto(live_server.url + reverse("launch", args=[batch.study.slug, batch.pk]))
    keep = page.get_by_role("button", name="Keep these terms for later")
    expect(keep).to_be_visible()
    # Pressed before the price that belongs to what was typed is there.
    page.evaluate("""() => {
        document.getElementById('title').value = 'Another title'
        document.getElementById('reward').value = '0.2o'
    }""")
    keep.click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("“0.2o” is not an amount")
    page.wait_for_timeout(1000)  # longer than the page waits before it asks for a price
    expect(alert).to_be_in_viewport()
    expect(page.get_by_label("Title")).to_have_value("Another title")
    expect(page.get_by_label("Reward")).to_have_value("0.2o")
    page.get_by_label("Reward").fill("0.20")
    expect(alert).to_have_count(0)
    expect(keep).to_be_visible()
    context.close()


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (NARROW, "dark")], ids=["wide-light", "narrow-dark"])
@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core: npm install --prefix var/npm axe-core")
def test_axe_finds_no_fault_on_the_crowd_pages(browser, live_server, settings, size, scheme):
    settings.MTURK_ENDPOINT_URL = ""  # refused: also a state of the launch page
    batch = make_crowd_batch(documents=2, quota=3)
    turns = published(batch, workers=3)
    for turn in turns:
        submit_answers(turn, "01" if turn.worker.external_id == "A2" else "10")
    Entry.objects.create(
        study=batch.study, batch=batch, posting=turns[0].posting, submission=turns[0], kind="bonus", token="b",
        state="doubtful", reward_cents=50, fee_cents=10, paid_cents=60, reason="Thanks", note="The market fell silent.",
    )  # fmt: skip
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    let_in(context, live_server.url, make_member(batch.study, Role.ADMIN))
    axe_check = AxeCheck(context.new_page(), live_server.url, AXE.read_text(encoding="utf-8"))
    slug = batch.study.slug
    axe_check.visit("launch", slug, batch.pk)
    expect(axe_check.page.get_by_text("This can't be published yet.")).to_be_visible()
    axe_check.check("launch refused")
    axe_check.visit("monitor", slug, batch.pk)
    axe_check.visit("crowd-workers", slug, batch.pk)
    axe_check.page.get_by_label("Choose A2").check()
    axe_check.page.get_by_role("button", name="Bonus…").click()
    expect(axe_check.page.get_by_label("Bonus for each")).to_be_visible()
    axe_check.check("confirm")
    axe_check.visit("ledger", slug)
    axe_check.visit("collect", slug)
    Batch.objects.filter(pk=batch.pk).update(crowd="direct")
    make_links(batch, ["Ada"])
    axe_check.visit("crowd-links", slug, batch.pk)
    fits(axe_check.page)
    context.close()
    assert axe_check.faults == []
