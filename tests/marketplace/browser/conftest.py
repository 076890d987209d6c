"""Chromium against the live marketplace, and a requester's site on another origin."""

import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--test-third-party-cookie-phaseout",  # third-party cookies are blocked, as in Safari
]
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 360, "height": 740}

if os.environ.get("DJANGO_SETTINGS_MODULE") != "tests.marketplace_settings":
    collect_ignore_glob = ["test_*.py"]


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/marketplace/browser/" in str(item.path):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    if not os.path.exists(CHROMIUM):
        pytest.skip("needs Chromium: apt-get install -y chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(params=[WIDE, NARROW], ids=["wide", "narrow"])
def page(request, browser):
    yield from _page(browser, viewport=request.param)


@pytest.fixture
def wide_page(browser):
    yield from _page(browser, viewport=WIDE)


def _page(browser, **options):
    """A fresh page; the test fails on any request that leaves this machine or any script error."""
    context = browser.new_context(**options)
    page, faults = context.new_page(), []
    local = ("http://localhost", "http://127.0.0.1", "data:", "blob:", "about:")
    page.on("request", lambda r: None if r.url.startswith(local) else faults.append(r.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda m: faults.append(m.text) if m.type == "error" and "status of 4" not in m.text else None)
    yield page
    context.close()
    assert faults == []


@dataclass
class Site:
    """A requester's own web server: 127.0.0.1, while the market is on localhost. So they are different sites."""

    url: str
    request_headers: list[dict[str, str]] = field(default_factory=list)
    """Headers of each request for the task page."""


@pytest.fixture
def site() -> Iterator[Site]:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            name = urlsplit(self.path).path.strip("/")
            page = PAGES.get(name)
            if page is not None:
                requester_site.request_headers.append(dict(self.headers.items()))
            self.send_response(200 if page else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Set-Cookie", "visit=1; SameSite=None; Secure")
            self.end_headers()
            self.wfile.write((page or "").encode())

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    requester_site = Site(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield requester_site
    server.shutdown()
    server.server_close()


# A page as requesters write them: it reads the query, hands in a form, and is switched off in a preview.
FORM_PAGE = """<!doctype html><html lang="en"><head><title>Task</title></head><body><main><h1>Is it a good summary?</h1>
<form method="post" id="f"><input type="hidden" name="assignmentId"><label>Answer <input name="answer"></label>
<button>Submit</button></form></main>
<script>
  const query = new URLSearchParams(location.search), id = query.get("assignmentId");
  const form = document.getElementById("f");
  form.action = query.get("turkSubmitTo") + "/mturk/externalSubmit";
  form.assignmentId.value = id;
  if (id === "ASSIGNMENT_ID_NOT_AVAILABLE") for (const one of form.elements) one.disabled = true;
  try { document.cookie = "mine=1; SameSite=None; Secure"; } catch {}
  document.body.dataset.cookie = document.cookie;
</script></body></html>"""
# The same, handed in by a script.
FETCH_PAGE = """<!doctype html><html lang="en"><head><title>Task</title></head><body><main>
<button id="go">Send</button><p id="said"></p></main>
<script>
  const query = new URLSearchParams(location.search);
  document.getElementById("go").onclick = async () => {
    const body = new URLSearchParams({ assignmentId: query.get("assignmentId"), answer: "by script" });
    const answer = await fetch(query.get("turkSubmitTo") + "/mturk/externalSubmit", { method: "POST", body });
    document.getElementById("said").textContent = (await answer.json()).status;
  };
</script></body></html>"""
PAGES = {"task": FORM_PAGE, "fetch": FETCH_PAGE}
