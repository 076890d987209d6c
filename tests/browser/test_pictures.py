"""The pictures in the documentation are current: what stood on the pages when they were taken stands there now."""

import json
import runpy
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import Page

from annotation.models import User
from tests.browser.helpers import let_in

SCREENS = Path(__file__).resolve().parents[2] / "docs" / "screens"


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_pages_still_say_what_the_pictures_show(page: Page, live_server):
    call_command("load_demo", verbosity=0)
    make = runpy.run_path(str(SCREENS / "make.py"))
    shown = json.loads((SCREENS / "shown.json").read_text(encoding="utf-8"))
    assert set(shown) == set(make["PAGES"])
    context = page.context.browser.new_context(base_url=live_server.url, viewport=make["SIZE"])
    for name, (account, go) in make["PAGES"].items():
        context.clear_cookies()
        let_in(context, live_server.url, User.objects.get(username=account))
        picture = context.new_page()
        go(picture)
        picture.wait_for_load_state()
        assert make["labels"](picture) == shown[name], f"{name} has changed: python docs/screens/make.py"
        picture.close()
    context.close()
