"""What stands in names, captions and definitions stays readable, and the page as wide as its screen."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.accounts.invitations import invite
from annotation.models import Batch, FilterDecision, Reference, Role, Study
from annotation.studies.batches import create_batch
from tests.browser.conftest import NARROW
from tests.browser.helpers import let_in, open_batch, open_task
from tests.browser.looking import fits, markup
from tests.factories import make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)
WIDE_LETTERS = "W" * 200
LINES = (
    "(one) => { const range = document.createRange(); range.selectNodeContents(one);"
    " return range.getClientRects().length }"
)


@pytest.fixture
def study() -> Study:
    """Everything that people name has a long name without a space."""
    study = make_study(name=WIDE_LETTERS)
    create_batch(study, WIDE_LETTERS, "litepyramid", 1, {}, state=Batch.State.OPEN)
    return study


@pytest.mark.parametrize("role", [Role.ADMIN, Role.ANNOTATOR])
def test_long_names_break_at_home_and_in_the_header(page: Page, live_server, study, role):
    let_in(page.context, live_server.url, make_member(study, role, "w" * 150))
    page.goto(live_server.url)
    expect(page.get_by_role("link", name="w" * 150)).to_be_visible()
    expect(page.get_by_role("button", name="Sign out")).to_be_in_viewport(ratio=1)
    fits(page)


@pytest.mark.parametrize("name", ["study", "collect", "scus", "guidance", "exports"])
def test_long_names_break_on_the_pages_of_a_study(page: Page, live_server, study, name):
    admin = make_member(study, Role.ADMIN)
    invite(study, "annotator", WIDE_LETTERS, admin)
    let_in(page.context, live_server.url, admin)
    page.goto(live_server.url + reverse(name, args=[study.slug]))
    fits(page)


def test_words_in_tables_stay_whole(page: Page, live_server, study):
    FilterDecision.objects.create(study=study, rules=["majority-dissent", "checks"])
    let_in(page.context, live_server.url, make_member(study, Role.ADMIN))
    page.goto(live_server.url + reverse("quality", args=[study.slug]))
    for name in ("majority-dissent", "checks"):
        rule = page.locator("th code").filter(has_text=name)
        expect(rule).to_be_attached()
        assert rule.evaluate(LINES) == 1


def test_a_definition_that_is_cut_opens_at_a_tap(browser, live_server):
    context = browser.new_context(viewport=NARROW)
    page = context.new_page()
    open_task(page, live_server.url, open_batch("likert"))
    definition = page.locator("#definition")
    definition.locator("span").evaluate(
        "(one) => (one.closest('body').querySelector('[data-field]')"
        ".dataset.definition = 'Every word of it counts. '.repeat(20))"
    )
    page.keyboard.press("j")
    expect(definition).to_contain_text("Every word of it counts.")
    is_uncut = "(one) => one.scrollHeight <= one.clientHeight + 1"
    assert not definition.evaluate(is_uncut)
    definition.click()
    assert definition.evaluate(is_uncut)
    fits(page)
    definition.click()
    assert not definition.evaluate(is_uncut)
    context.close()


def test_a_caption_is_read_without_scrolling_its_table(page: Page, live_server, study):
    let_in(page.context, live_server.url, make_member(study, Role.ADMIN))
    page.goto(live_server.url + reverse("study", args=[study.slug]))
    page.locator(".table").evaluate("""(one) => (one.innerHTML = `<table><caption><span>${"A long caption. ".repeat(20)}
      </span></caption><tr><td>${"cell".repeat(200)}</td></tr></table>`)""")
    is_seen = """(el) => { const box = el.getBoundingClientRect(), frame = el.closest('.table').getBoundingClientRect();
      return box.left >= frame.left && box.right <= frame.right }"""
    caption = page.locator("caption > span")
    assert caption.evaluate(is_seen)
    page.locator(".table").evaluate("(one) => one.scrollTo(500, 0)")
    assert caption.evaluate(is_seen)


def test_every_caption_has_the_part_that_stays_in_view():
    from tests.annotation.common.test_translation import ROOM

    pages = [markup(page.read_text()) for page in (ROOM / "templates").rglob("*.html")]
    assert sum(text.count("<caption><span>") for text in pages) == sum(text.count("<caption") for text in pages) > 0


def test_the_numbers_of_scus_stay_whole(page: Page, live_server):
    study = make_study(documents=1, systems=1, units=12)
    let_in(page.context, live_server.url, make_member(study, Role.ADMIN))
    page.goto(live_server.url + reverse("scu-list", args=[study.slug, Reference.objects.get().pk]))
    numbers = page.locator(".unit-number")
    expect(numbers).to_have_count(12)
    assert numbers.nth(11).evaluate(LINES) == 1
