"""The researcher's way: from four files to paid, closed batches and an export, touching nothing but pages.

The market is a process of its own at 127.0.0.1, this site is at localhost.
"""

import csv
import re
from pathlib import Path

import pytest
from openpyxl import Workbook
from playwright.sync_api import Browser, Page, expect

from tests.annotation.crowds.conftest import point_at
from tests.annotation.crowds.market import LiveMarket
from tests.browser.conftest import WIDE, sign_in
from tests.browser.looking import fits
from tests.factories import make_user

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "a-long-word-for-tests"
DOCUMENTS = [["doc_id", "article", "gold"], [1, "Ein Käse rollte.", "Käse rollte."], [2, "Zwei Züge fuhren.", "Züge."]]
SUMMARIES = [["doc_id", "system", "summary"], *[[d, s, f"{s} wrote about {d}."] for d in "12" for s in ("a", "b")]]
SCUS = [["doc_id", "scu_id", "text"], *[[d, str(n), f"Fact {n} of {d}."] for d in "12" for n in (1, 2)]]
SCORES = [["doc_id", "system", "metric", "value"], *[[d, s, "m", "0,5"] for d in "12" for s in ("a", "b")]]


@pytest.fixture(scope="module")
def market():
    market = LiveMarket()
    yield market
    market.stop()


@pytest.fixture
def researcher(browser: Browser, live_server, market, settings):
    """Somebody who may make studies, on a site that is pointed at the market."""
    point_at(settings, market.url, market.ask("requester", cents=100_00))
    settings.SITE_URL = live_server.url
    settings.MARKET_ORIGINS, settings.MTURK_SIGNED_ENTRY = [market.url], True
    boss = make_user("boss")
    boss.is_superuser = True
    boss.save()
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    sign_in(page, live_server.url, "boss")
    yield page
    context.close()


@pytest.fixture
def worker(browser: Browser, market):
    """A worker, signed in on the market."""
    market.ask("account", name="wendy", password=PASSWORD)
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    page.goto(f"{market.url}/sign-in/")
    page.get_by_label("Name").fill("wendy")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{market.url}/hits/")
    yield page
    context.close()


def write_files(folder: Path) -> list[Path]:
    book = Workbook()
    for row in DOCUMENTS:
        book.active.append(row)
    book.save(folder / "documents.xlsx")
    for name, rows, separator in (("summaries", SUMMARIES, ";"), ("scus", SCUS, ","), ("scores", SCORES, ";")):
        with (folder / f"{name}.csv").open("w", encoding="cp1252", newline="") as stream:
            csv.writer(stream, delimiter=separator).writerows(rows)
    return sorted(folder.iterdir())


def test_from_four_files_to_paid_closed_batches_and_an_export(researcher: Page, worker: Page, tmp_path):
    make_study(researcher, write_files(tmp_path))
    study = researcher.url
    make_ratings(researcher, study)
    make_pyramid(researcher, study)
    for name in ("Ratings", "Pyramid"):
        launch(researcher, study, name)
        work(worker, name)
        collect_and_pay(researcher, study, name)
    filter_answers(researcher, study)
    for name in ("Ratings", "Pyramid"):
        close(researcher, study, name)
    check_export(researcher, study)


def make_study(page: Page, files: list[Path]) -> None:
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Name").fill("Four files")
    page.get_by_label("Files at most").set_input_files(files)
    page.get_by_role("button", name="Make the study").click()
    expect(page.get_by_text("Separated by semicolons: read it so?").first).to_be_visible()
    expect(page.get_by_role("cell", name="Ein Käse rollte.")).to_be_visible()
    fits(page)
    page.get_by_role("button", name="Read it so").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Four files")


def make_ratings(page: Page, study: str) -> None:
    """A Likert pilot with a dimension of one's own."""
    page.goto(f"{study}collect/new/?protocol=likert")
    page.get_by_label("Pilot").fill("1")
    page.get_by_text("Dimensions of your own").click()
    page.get_by_label("Name", exact=True).nth(1).fill("Focus")
    page.get_by_label("Answers per task").fill("1")
    page.get_by_label("Name", exact=True).first.fill("Ratings")
    expect(page.get_by_text("1 task, 1 answers")).to_be_visible()
    page.get_by_role("button", name="Make the batch").click()
    expect(page.get_by_role("status")).to_contain_text("“Ratings” is ready.")


def make_pyramid(page: Page, study: str) -> None:
    """A LitePyramid pilot of one system with a check item."""
    page.goto(f"{study}collect/new/?protocol=litepyramid")
    page.get_by_label("Pilot").fill("1")
    page.get_by_label("the word BLANK").fill("1")
    page.get_by_label("a", exact=True).check()
    page.get_by_label("Answers per task").fill("1")
    page.get_by_label("Name", exact=True).fill("Pyramid")
    expect(page.get_by_text("1 task, 1 answers")).to_be_visible()
    page.get_by_role("button", name="Make the batch").click()
    expect(page.get_by_role("status")).to_contain_text("“Pyramid” is ready.")


def card(page: Page, study: str, name: str):
    page.goto(f"{study}collect/")
    return page.get_by_role("article").filter(has=page.get_by_role("heading", name=name, exact=True))


def launch(page: Page, study: str, name: str) -> None:
    card(page, study, name).get_by_role("link", name="Launch").click()
    page.get_by_label("Title").fill(f"{name} of texts")
    page.get_by_label("Description").fill("Read and answer.")
    page.get_by_label("Reward").fill("0.10")
    page.get_by_label("Reward").press("Tab")
    publish = page.get_by_role("button", name=re.compile(r"Publish for \$0\.1"))
    expect(publish).to_be_visible()
    publish.click()
    expect(page.get_by_text("put up").first).to_be_visible()


def work(page: Page, name: str) -> None:
    """Find the HIT on the market's pages, accept it, answer everything in the frame, hand in."""
    page.goto(page.url.split("/", 3)[0] + "//" + page.url.split("/")[2] + "/hits/")
    page.get_by_role("link", name=f"{name} of texts").first.click()
    page.get_by_role("button", name="Accept for $0.10").click()
    page.wait_for_url(re.compile("/work/"))
    frame = page.frame_locator("iframe")
    agree = frame.get_by_role("button", name="I agree, go on")  # the default text, the first time
    expect(agree.or_(frame.locator("#save-state"))).to_be_visible()
    if agree.count():
        agree.click()
    expect(frame.locator("#save-state")).to_have_attribute("data-kind", "saved")
    for group in frame.locator("fieldset").all():
        group.locator("label").first.click()
    expect(frame.locator("#save-state")).to_have_attribute("data-kind", "saved")
    frame.locator("#submit").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()


def collect_and_pay(page: Page, study: str, name: str) -> None:
    """Collect, approve by hand, and pay a bonus."""
    card(page, study, name).get_by_role("link", name="Monitor").click()
    page.get_by_role("button", name="Collect now").click()
    page.get_by_role("link", name="Workers").first.click()
    page.get_by_role("checkbox", name=re.compile("^Choose (?!all|every)")).first.check()
    page.get_by_role("button", name="Approve…").click()
    page.get_by_role("button", name=re.compile(r"Pay \$0\.1")).click()
    page.get_by_role("link", name="Workers").first.click()
    page.get_by_role("checkbox", name=re.compile("^Choose (?!all|every)")).first.check()
    page.get_by_role("button", name="Bonus…").click()
    page.get_by_label("Bonus for each").fill("0.50")
    page.locator("#reason").fill("Thank you for careful work.")
    page.locator("form .button.main").first.click()
    page.get_by_role("button", name=re.compile(r"Pay \$0\.[56]")).click()


def filter_answers(page: Page, study: str) -> None:
    page.goto(f"{study}quality/")
    page.locator("input[name=rule][value=checks]").check()
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name=re.compile(r"Leave \d+ answers out")).click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()


def close(page: Page, study: str, name: str) -> None:
    card(page, study, name).get_by_role("link", name="Monitor").click()
    page.get_by_role("button", name="Close…").click()
    page.get_by_role("button", name=re.compile("Close")).first.click()
    expect(card(page, study, name).get_by_text("closed")).to_be_visible()


def check_export(page: Page, study: str) -> None:
    page.goto(f"{study}exports/")
    page.locator("input[name=form][value=csv]").check()
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="judgments.csv").first.click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines()))
    assert {row["batch"] for row in rows} == {"Ratings", "Pyramid"}
    assert "Focus" in {row["unit"] for row in rows}
    assert any(row["is_check"] in ("1", "true", "True") for row in rows)
