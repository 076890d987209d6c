"""Takes the screenshots in this folder from the demo site: every page, at 1280 and 360 px, in light and dark.

    python docs/screens/make.py [NAME ...]      # all pages, or only those whose names are given

It starts a site of its own, with a fresh demo database in a temporary folder, and stops it at the end.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WIDTHS = {1280: 800, 360: 740}
SCHEMES = ("light", "dark")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def take(page: Page, batch: str) -> None:
    """Take a task of the batch, past whatever stands before it."""
    page.goto("/")
    form = page.locator("form", has_text=batch).last
    form.get_by_role("button").first.click()
    for _ in range(12):
        if page.locator("#task").count():
            break
        main = page.locator("main")
        for box in main.get_by_role("checkbox").all():
            box.check()
        main.locator(".button.main").first.click()
        page.wait_for_load_state()
    page.wait_for_selector("#save-state:not(:empty)")


def answer(page: Page, choices: list[int]) -> None:
    """Give the first questions these choices, counted from 0; the same ones each time, so that shots look alike."""
    questions = page.locator("fieldset[data-field]")
    for place, choice in enumerate(choices):
        questions.nth(place).get_by_role("radio").nth(choice).evaluate("radio => radio.click()")


def litepyramid(page: Page) -> None:
    take(page, "Judge along")
    answer(page, [0, 1, 0])


def evidence(page: Page) -> None:
    litepyramid(page)
    page.locator(".item", has_text="Philippa Dorn").get_by_role("radio", name="Not present").focus()
    page.locator("[data-w]", has_text="Philippa").first.click()
    page.locator("[data-w]", has_text="Dorn").first.click()


def likert(page: Page) -> None:
    take(page, "Rate along")
    answer(page, [3, 2, 4, 3, 3])


def likert_search(page: Page) -> None:
    likert(page)
    page.keyboard.press("/")
    page.keyboard.type("the")


def offline(page: Page) -> None:
    litepyramid(page)
    page.wait_for_selector("#save-state[data-kind=saved]")
    page.context.set_offline(True)
    answer(page, [0, 0])
    page.wait_for_selector("#save-state[data-kind=offline]")


def missing(page: Page) -> None:
    litepyramid(page)
    page.locator("#submit").click()


def help_dialog(page: Page) -> None:
    litepyramid(page)
    page.keyboard.press("?")


def first_batch(page: Page) -> str:
    """The number of the first batch on the home page."""
    page.goto("/")
    action = page.locator("form[action*='/work/batch/']").first.get_attribute("action") or ""
    return action.strip("/").split("/")[-1]


def consent(page: Page) -> None:
    page.goto(f"/work/batch/{first_batch(page)}/consent/")


def instructions(page: Page) -> None:
    page.goto(f"/work/batch/{first_batch(page)}/instructions/")


def tutorial(page: Page) -> None:
    take(page, "Judge along")
    page.goto(f"/work/batch/{first_batch(page)}/tutorial/")


def scu(page: Page) -> None:
    take(page, "Extract along")
    if page.locator("#units textarea").count():
        return
    for start, length in ((0, 7), (1, 9)):
        for key in [*["ArrowRight"] * start, *["Shift+ArrowRight"] * length, "Enter", "Escape"]:
            page.keyboard.press(key)


def receipt(page: Page) -> None:
    litepyramid(page)
    for question in page.locator(".items [data-field]").all():
        question.get_by_role("radio", name="Not present").evaluate("radio => radio.click()")
    page.locator("#submit").click()
    page.get_by_role("heading", name="Received").wait_for()


def answers(page: Page) -> None:
    receipt(page)
    page.get_by_role("link", name="Review my answers").click()


def revise(page: Page) -> None:
    answers(page)
    page.get_by_role("link", name="Look again").first.click()
    page.wait_for_selector("#save-state:not(:empty)")


def at(path: str) -> Callable[[Page], None]:
    return lambda page: void(page.goto(path))


def void(_: object) -> None:
    return None


def follow(*links: str) -> Callable[[Page], None]:
    def go(page: Page) -> None:
        page.goto("/")
        for name in links:
            page.get_by_role("link", name=name).first.click()
            page.wait_for_load_state()

    return go


def under(path: str) -> Callable[[Page], None]:
    """A page of the demo study."""

    def go(page: Page) -> None:
        page.goto("/")
        study = page.get_by_role("link", name="Open study").first.get_attribute("href")
        page.goto(f"{study}{path}")

    return go


# name: (account, how to get there)
PAGES: dict[str, tuple[str | None, Callable[[Page], None]]] = {
    "welcome": (None, at("/")),
    "sign-in": (None, at("/sign-in/")),
    "home-annotator": ("annotator", at("/")),
    "consent": ("annotator", consent),
    "litepyramid": ("annotator", litepyramid),
    "evidence": ("annotator", evidence),
    "litepyramid-offline": ("annotator", offline),
    "litepyramid-missing": ("annotator", missing),
    "help": ("annotator", help_dialog),
    "likert": ("annotator", likert),
    "likert-search": ("annotator", likert_search),
    "instructions": ("annotator", instructions),
    "tutorial": ("annotator", tutorial),
    "scu": ("annotator", scu),
    "receipt": ("annotator", receipt),
    "answers": ("annotator", answers),
    "revise": ("annotator", revise),
    "not-found": ("annotator", at("/work/nothing/")),
    "home-admin": ("admin", at("/")),
    "study": ("admin", follow("Open study")),
    "scus": ("admin", under("scus/")),
    "guidance": ("admin", under("guidance/")),
    "collect": ("admin", under("collect/")),
    "rounds": ("admin", under("rounds/")),
    "quality": ("analyst", under("quality/")),
    "metrics": ("analyst", under("metrics/")),
    "report": ("analyst", under("report/")),
}


@contextmanager
def demo_site() -> Iterator[str]:
    """A fresh demo on a free port."""
    with tempfile.TemporaryDirectory() as folder:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        env = {
            **os.environ,
            "DEMO": "yes",
            "ENV_FILE": os.devnull,
            "SECRET_KEY": "only-for-screenshots",
            "DATABASE_URL": f"sqlite:///{folder}/demo.sqlite3",
            "STATIC_ROOT": f"{folder}/static",
            "BIND": f"127.0.0.1:{port}",
            "WEB_PROCESSES": "1",
            "DJANGO_SETTINGS_MODULE": "deploy.settings",
        }
        for command in (["migrate", "-v0"], ["collectstatic", "--noinput", "-v0"], ["load_demo"]):
            subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=env, check=True)
        serve = [sys.executable, "-m", "gunicorn", "--config", "deploy/gunicorn.py", "deploy.wsgi"]
        server = subprocess.Popen(serve, cwd=ROOT, env=env)
        try:
            _wait(f"http://127.0.0.1:{port}/")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


def _wait(address: str) -> None:
    for _ in range(100):
        try:
            urllib.request.urlopen(address)  # noqa: S310
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"The demo site did not start at {address}.")


def shoot(browser: Browser, site: str, name: str, width: int, scheme: str) -> None:
    account, go = PAGES[name]
    context = browser.new_context(
        base_url=site,
        viewport={"width": width, "height": WIDTHS[width]},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    if account:
        page.goto("/sign-in/")
        page.get_by_label("Name").fill(account)
        page.get_by_label("Password").fill("demo")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{site}/")
    go(page)
    page.wait_for_load_state()
    if page.locator("#save-state:not([data-kind=offline])").count():
        page.wait_for_selector("#save-state[data-kind=saved]")
    page.screenshot(path=HERE / f"{name}-{width}-{scheme}.png")
    context.close()


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in PAGES]
    if unknown:
        raise SystemExit(f"There is no page {unknown[0]!r}. Known: {', '.join(PAGES)}.")
    with demo_site() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name in names or PAGES:
            for width in WIDTHS:
                for scheme in SCHEMES:
                    shoot(browser, site, name, width, scheme)
            print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
