"""The work surface: on a phone, at 200 % zoom, by touch; what sticks, what moves, what covers what."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.models import Assignment, Document, ExtractedUnit, Judgment, Reference, Summary
from annotation.studies.second_rounds import open_second_round, read_thresholds
from annotation.tables.frames import judgments_frame
from tests.annotation.studies.test_second_rounds import rated
from tests.browser.conftest import NARROW, WIDE
from tests.browser.helpers import open_batch, open_task, ready
from tests.browser.looking import fits

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = (
    "The town council voted on Tuesday to keep the night ferry for three more years. Parking at the harbour will cost "
    "more from March. The mayor said that the decision was hard but right. Critics miss the money elsewhere."
)
ZOOMED = {"width": WIDE["width"] // 2, "height": WIDE["height"] // 2}  # 1280 × 800 at 200 %
PROTOCOLS = ("litepyramid", "likert", "scu")
OPTIONS = {"litepyramid": {"evidence": True, "word_match": True}, "likert": {"overlap": True}, "scu": {}}
BOX = "(el) => { const {top, bottom} = el.getBoundingClientRect(); return [top, bottom] }"


def batch_of(protocol: str):
    batch = open_batch(protocol, units=0 if protocol == "scu" else 6, **OPTIONS[protocol])
    Summary.objects.update(text=TEXT)
    Reference.objects.update(text=TEXT)
    Document.objects.update(source=[TEXT] * 5)
    return batch


def opened(browser: Browser, **options) -> Iterator[Page]:
    context = browser.new_context(reduced_motion="reduce", **options)
    yield context.new_page()
    context.close()


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    yield from opened(browser, viewport=NARROW, has_touch=True, is_mobile=True)


@pytest.fixture
def zoomed(browser: Browser) -> Iterator[Page]:
    yield from opened(browser, viewport=ZOOMED, device_scale_factor=2)


def box(element: Locator) -> tuple[float, float]:
    top, bottom = element.evaluate(BOX)
    return top, bottom


def is_clear(page: Page, item: Locator) -> bool:
    """The item is between what sticks on top and the foot."""
    top, bottom = box(item)
    texts = (
        [box(text)[1] for text in page.locator(".work > .text:visible").all()]
        if page.viewport_size["width"] < 761
        else [0]
    )
    return top >= max(texts) - 1 and bottom <= box(page.locator(".status"))[0] + 1


def rate(row: Locator, value: int) -> None:
    row.locator(".choice").nth(value - 1).tap()


def test_on_a_phone_the_last_row_of_a_card_leads_to_the_top_of_the_next(phone: Page, live_server):
    open_task(phone, live_server.url, batch_of("likert"))
    cards = phone.locator("[data-card]")
    rows = cards.first.locator(".item")
    for place in range(rows.count()):
        rate(rows.nth(place), 3)
    title, prose = cards.nth(1).locator("h3"), cards.nth(1).locator(".prose")
    expect(title).to_be_in_viewport(ratio=1)
    assert box(title)[0] >= box(phone.locator("#article"))[1] - 1
    expect(prose).to_be_in_viewport(ratio=0.9)
    assert is_clear(phone, cards.nth(1).locator(".item").first)


def test_on_a_phone_the_rated_text_stays_in_view_at_every_row(phone: Page, live_server):
    open_task(phone, live_server.url, batch_of("likert"))
    card = phone.locator("[data-card]").nth(1)
    phone.locator(f"[data-dot='{card.get_attribute('id')}']").tap()
    for place in range(card.locator(".item").count()):
        item = card.locator(".item.active")
        assert is_clear(phone, item), place
        assert box(card.locator(".prose"))[1] <= box(item)[0] + 1
        expect(card.locator(".prose")).to_be_in_viewport(ratio=0.9)
        rate(item, 2)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_by_touch_no_keys_are_shown_and_everything_fits(phone: Page, live_server, protocol):
    open_task(phone, live_server.url, batch_of(protocol))
    expect(phone.locator("kbd:visible")).to_have_count(0)
    fits(phone)
    if protocol == "litepyramid":
        expect(phone.locator(".text-hint")).to_contain_text("tap the pencil, then the first and the last word")


def test_evidence_is_marked_by_touch_alone(phone: Page, live_server):
    open_task(phone, live_server.url, batch_of("litepyramid"))
    item = phone.locator(".item").first
    item.get_by_role("radio").first.tap()
    item.get_by_role("button", name="Mark the words that say it").tap()
    phone.locator("[data-w='1']").tap()
    phone.locator("[data-w='3']").tap()
    expect(item.locator(".mark")).to_have_text("town council voted")
    phone.get_by_role("button", name="Done").tap()
    for place in range(1, 6):
        phone.locator(".item").nth(place).get_by_role("radio").nth(1).tap()
    phone.locator("#submit").tap()
    expect(phone.get_by_role("heading", name="Received")).to_be_visible()
    assert ["evidence" in row.extra for row in Judgment.objects.order_by("position")] == [True] + [False] * 5


@pytest.fixture(params=[WIDE, NARROW], ids=["wide", "narrow"])
def touched(request, browser: Browser) -> Iterator[Page]:
    yield from opened(browser, viewport=request.param, has_touch=True)


def received(page: Page) -> None:
    page.locator("#submit").tap()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()


def test_likert_by_touch_alone(touched: Page, live_server):
    open_task(touched, live_server.url, batch_of("likert"))
    for row in touched.locator(".item").all():
        rate(row, 4)
    received(touched)
    assert set(Judgment.objects.values_list("value", flat=True)) == {4}


def test_scu_extraction_by_touch_alone(touched: Page, live_server):
    open_task(touched, live_server.url, batch_of("scu"))
    for name in ("town", "council", "voted"):
        touched.get_by_role("option", name=name, exact=True).first.tap()
    touched.get_by_role("button", name="Make an SCU").tap()
    received(touched)
    assert ExtractedUnit.objects.get().text == "Town council voted."


def test_the_second_round_by_touch_alone(touched: Page, live_server):
    first, (judge, *_others) = rated([[1, 1, 3], [4, 4, 3], [5, 5, 3]], units=("coherence", "fluency", "relevance"))
    second = open_second_round(first, read_thresholds(first, {}))
    open_task(touched, live_server.url, second, judge.user)
    for look in touched.locator(".look").all():
        rate(look, 2)
    received(touched)
    assert set(Judgment.objects.filter(assignment__task__batch=second).values_list("value", flat=True)) == {2}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_at_200_percent_nothing_sticks_and_nothing_is_cut_off(zoomed: Page, live_server, protocol):
    open_task(zoomed, live_server.url, batch_of(protocol))
    sticky = """[...document.querySelectorAll('body *')].filter((el) => el.offsetParent &&
      ['sticky', 'fixed'].includes(getComputedStyle(el).position)).map((el) => el.className)"""
    assert zoomed.evaluate(sticky) == []
    fits(zoomed)


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("protocol", ["litepyramid", "likert"])
def test_a_banner_never_covers_the_active_item(browser, live_server, viewport, protocol):
    for page in opened(browser, viewport=viewport):
        open_task(page, live_server.url, batch_of(protocol))
        key = "p" if protocol == "litepyramid" else "3"
        for _ in range(3):
            page.keyboard.press(key)
        assert is_clear(page, page.locator(".item.active"))
        page.route("**/draft/", lambda route: route.fulfill(status=422, json={"error": "No", "sentence": "No. " * 30}))
        page.keyboard.press(key)
        expect(page.locator("#work-banner")).to_be_visible()
        page.wait_for_function("!document.querySelector('#work-banner').hidden")
        page.wait_for_timeout(100)
        assert is_clear(page, page.locator(".item.active"))
        page.locator("#submit").click()
        page.wait_for_timeout(100)
        assert is_clear(page, page.locator(".item.active"))


def test_a_chosen_button_changes_colour_and_ground_together(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    face = page.locator(".item").first.locator("input + span").first
    colours = "(el) => { const {color, backgroundColor} = getComputedStyle(el); return [color, backgroundColor] }"
    before = face.evaluate(colours)
    page.evaluate("document.querySelector('.item input').click()")
    at_once = face.evaluate(colours)
    page.wait_for_timeout(300)
    assert at_once == face.evaluate(colours)
    assert all(new != old for new, old in zip(at_once, before, strict=True))


def test_rating_moves_nothing_on_the_page_but_its_scroll(page: Page, live_server):
    open_task(page, live_server.url, batch_of("likert"))
    places = """[...document.querySelectorAll('[data-card], .item, #article-text')].map((el) =>
      Math.round(el.getBoundingClientRect().top + (el.closest('#article') ? 0 : scrollY)))"""
    cards_only = "[...document.querySelectorAll('[data-card], .item')].map((el) => el.offsetTop)"
    before = page.evaluate(cards_only)
    for _ in range(5):
        page.keyboard.press("4")
    assert page.evaluate(cards_only) == before
    assert len(page.evaluate(places)) > len(before)


def test_folding_the_article_leaves_the_question_where_it_is(browser, live_server):
    for page in opened(browser, viewport=WIDE):
        open_task(page, live_server.url, batch_of("likert"))
        for _ in range(9):
            page.keyboard.press("4")
        fold = page.get_by_role("toolbar").get_by_role("button", name="Fold")
        before = box(page.locator(".item.active"))[0]
        page.keyboard.press("f")
        expect(fold).to_have_attribute("aria-pressed", "true")
        assert abs(box(page.locator(".item.active"))[0] - before) <= 2
        page.keyboard.press("f")
        expect(fold).to_have_attribute("aria-pressed", "false")
        assert abs(box(page.locator(".item.active"))[0] - before) <= 2


def test_larger_text_comes_along_to_the_next_task(page: Page, live_server):
    batch = open_batch("litepyramid", documents=2)
    assignment = open_task(page, live_server.url, batch)
    size = "parseFloat(getComputedStyle(document.querySelector('.prose')).fontSize)"
    before = page.evaluate(size)
    if page.viewport_size["width"] < 761:
        page.get_by_role("button", name="More").click()
    with page.expect_response("**/draft/"):
        page.get_by_role("button", name="Larger text").click()
    larger = page.evaluate(size)
    assert larger > before
    page.evaluate("localStorage.clear()")
    page.reload()
    ready(page)
    assert page.evaluate(size) == larger
    assert Assignment.objects.get(pk=assignment.pk).worker.preferences == {"size": 1.125}


def test_while_paused_no_time_counts_and_no_key_answers(page: Page, live_server):
    page.clock.install(time="2030-01-01T00:00:00")
    open_task(page, live_server.url, open_batch("litepyramid"))
    if page.viewport_size["width"] < 761:
        page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("dialog", name="Paused")).to_be_visible()
    before = page.evaluate("document.getElementById('active-time').textContent")
    for _ in range(3):
        page.keyboard.press("p")
        page.clock.fast_forward(20_000)
    expect(page.locator("#progress")).to_have_text("0 of 3")
    page.get_by_role("button", name="Go on").click()
    page.clock.run_for(1100)
    after = page.evaluate("document.getElementById('active-time').textContent")
    assert int(after.split()[0].split(":")[1]) - int(before.split()[0].split(":")[1] if before else 0) <= 3


def test_a_broken_item_is_flagged_with_a_note_by_keyboard(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    page.keyboard.press("p")
    page.keyboard.press("!")
    dialog = page.get_by_role("dialog", name="Tell the researchers")
    expect(dialog.get_by_role("combobox")).to_have_value(page.locator(".item").nth(1).get_attribute("data-field"))
    page.keyboard.type("It is cut off.")
    fits(page)
    page.get_by_role("button", name="Flag it").click()
    ready(page)
    expect(page.locator(".item.flagged")).to_have_count(1)
    flag = Assignment.objects.get().flags.get()
    assert (flag.note, flag.unit) == ("It is cut off.", "scu01")
    expect(page.locator("#progress")).to_have_text("1 of 3")


def test_texts_in_another_language_than_the_page_say_so(page: Page, live_server):
    batch = open_batch("litepyramid")
    batch.study.language = "pt-BR"
    batch.study.save()
    open_task(page, live_server.url, batch)
    expect(page.locator("#summary-text")).to_have_attribute("lang", "pt-BR")
    expect(page.locator(".statement").first).to_have_attribute("lang", "pt-BR")


def test_shared_words_of_statement_and_summary_are_lit_only_where_the_batch_says_so(page: Page, live_server):
    batch = open_batch("litepyramid", word_match=True)
    Summary.objects.update(text="Fact 7 of a document.")
    open_task(page, live_server.url, batch)
    lit = """[...CSS.highlights.get('shared')].map(({startContainer, startOffset, endOffset}) =>
      startContainer.data.slice(startOffset, endOffset))"""
    page.keyboard.press("o")
    assert page.evaluate(lit) == ["Fact", "document"]  # “Fact 0 of document 0.”
    assert batch.options["word_match"] is True
    other = open_batch("litepyramid")
    assert other.options["word_match"] is False
    open_task(page, live_server.url, other)
    expect(page.get_by_role("button", name="Shared words")).to_have_count(0)


def test_whether_shared_words_were_lit_is_recorded_with_each_answer(page: Page, live_server):
    batch = open_batch("litepyramid", word_match=True)
    open_task(page, live_server.url, batch)
    page.keyboard.press("p")
    page.keyboard.press("o")
    page.keyboard.press("n")
    page.keyboard.press("o")
    page.keyboard.press("p")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/receipt/")
    recorded = Judgment.objects.order_by("position").values_list("value", "extra")
    assert list(recorded) == [(1, {"word_match": False}), (0, {"word_match": True}), (1, {"word_match": False})]
    table = judgments_frame(batch.study)
    assert sorted(table["word_match"]) == [False, False, True]
