"""Takes the pictures in this folder, which the README and the documentation show, from the demo site.

    python docs/screens/make.py

It starts a site of its own, with a fresh demo database in a temporary folder, and stops it at the end. What the pages
said goes into `shown.json`; `tests/browser/test_pictures.py` fails when they say something else.
"""

import io
import json
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

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SIZE: ViewportSize = {"width": 1280, "height": 800}
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
    page.wait_for_selector("#save-state[data-kind=saved]")


def open_study(page: Page, name: str, rest: str) -> None:
    page.goto("/")
    study = page.locator("article, section, li, tr", has_text=name).get_by_role("link", name="Open study").last
    page.goto(f"{study.get_attribute('href')}{rest}")


def report(page: Page) -> None:
    open_study(page, "28 systems", "report/")


def quality(page: Page) -> None:
    open_study(page, "28 systems", "quality/")


def home(page: Page) -> None:
    page.goto("/")


def contested(page: Page) -> None:
    open_study(page, "four stories", "rounds/")
    page.locator("main table a, main .card a").first.click()


# name: (account, how to get there)
PAGES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "litepyramid": ("annotator", litepyramid),
    "report": ("analyst", report),
    "quality": ("admin", quality),
    "home": ("annotator", home),
    "contested": ("admin", contested),
}
LABELS = "main :is(h1, h2, h3, th, button, legend), .verdict"
"""What a page is recognised by: not the texts that are judged, of which anyone may come first."""
KEYS = "pnppnp"
"""What is pressed in the moving picture: present, not present, …"""


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


def signed_in(browser: Browser, site: str, account: str) -> Page:
    context = browser.new_context(base_url=site, viewport=SIZE, color_scheme="light", reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto("/sign-in/")
    page.get_by_label("Name").fill(account)
    page.get_by_label("Password").fill("demo")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site}/")
    return page


def labels(page: Page) -> list[str]:
    """What stands on a page, in order, each once; statements that are asked are left out."""
    texts = [" ".join(text.split()) for text in page.locator(LABELS).all_inner_texts()]
    return list(dict.fromkeys(text for text in texts if (text and not text.endswith(".")) or "systems" in text))


def shoot(browser: Browser, site: str, name: str) -> list[str]:
    account, go = PAGES[name]
    page = signed_in(browser, site, account)
    go(page)
    page.wait_for_load_state()
    page.screenshot(path=HERE / f"{name}-1280-light.png")
    shown = labels(page)
    page.context.close()
    return shown


def film(browser: Browser, site: str) -> None:
    """Judging by keyboard, a frame for each key, as an animation that every browser shows."""
    from PIL import Image  # comes with the metrics' libraries; the tests read this file without them

    page = signed_in(browser, site, "annotator")
    take(page, "Judge along")
    frames = [page.screenshot()]
    for key in KEYS:
        page.keyboard.press(key)
        page.wait_for_selector("#save-state[data-kind=saved]")
        frames.append(page.screenshot())
    pictures = [Image.open(io.BytesIO(frame)).resize((960, 600)).quantize(64) for frame in frames]
    pause = 900  # milliseconds
    pictures[0].save(HERE / "judging.gif", save_all=True, append_images=pictures[1:], duration=pause, loop=0)
    page.context.close()


def main() -> None:
    with demo_site() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        shown = {name: shoot(browser, site, name) for name in PAGES}
        film(browser, site)
    (HERE / "shown.json").write_text(json.dumps(shown, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
