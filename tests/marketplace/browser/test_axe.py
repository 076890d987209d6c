"""axe-core finds nothing serious or critical on any page, wide and narrow, light and dark."""

import os
from pathlib import Path

import pytest

from annotation.marketplace import people
from annotation.marketplace.books.payouts import make_list
from annotation.marketplace.hits import assignments, work
from annotation.marketplace.models import MarketSettings
from annotation.marketplace.people import notices, workers
from annotation.marketplace.people.access_keys import issue_key
from annotation.marketplace.people.bank import keep_bank, read_bank
from annotation.marketplace.qualifications import qualifications
from tests.marketplace.browser.conftest import NARROW, WIDE
from tests.marketplace.fixtures import FORM, HTML, KEY, make_hit, submit_work
from tests.marketplace.pages.visitors import PASSWORD, a_requester, a_worker, an_operator

pytestmark = pytest.mark.django_db(transaction=True)
AXE = Path(__file__).resolve().parents[3] / "var" / "npm" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def axe() -> str:
    if not AXE.exists():
        reason = "needs axe-core: npm install --prefix var/npm axe-core"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return AXE.read_text()


def a_full_market() -> dict[str, str]:
    """Every kind of row there is; gives the addresses of pages about one thing."""
    MarketSettings.objects.create(pk=1, open_sign_up=True)
    lab, wanda, olga = a_requester(), a_worker("wanda", country="US"), an_operator()
    test = qualifications.create_type(
        lab, name="Colours", description="Colours", test=FORM, answer_key=KEY, test_seconds=600
    )
    needs = {"QualificationTypeId": test.qualification_type_id, "Comparator": "Exists"}
    guarded = make_hit(lab, question=HTML, title="For experts", requirements=[needs])
    open_hit = make_hit(lab, question=FORM, title="Open to all", places=3)
    accepted = work.accept_hit(wanda, make_hit(lab, question=HTML, title="In work").hit_id)
    approved = submit_work(wanda, make_hit(lab, title="Approved").hit_id)
    assignments.approve_assignment(lab, approved.assignment_id, "Well done")
    assignments.send_bonus(lab, wanda.worker_id, approved.assignment_id, 50, "For care")
    submitted = submit_work(wanda, make_hit(lab, title="Waiting").hit_id)
    workers.notify_workers(lab, [wanda.worker_id], "More work", "On Monday")
    workers.block_worker(lab, a_worker("wolf").worker_id, "Copies")
    notices.send_test(lab, {"Version": "2006-05-05", "EventTypes": ["Ping"], "Transport": "Email"}, "Ping")
    issue_key(lab, "laptop")
    code = people.invite("worker", olga, note="Wilma").code
    keep_bank(wanda, read_bank("Wanda Writer", "GB29NWBK60161331926819", ""))
    return {
        "guarded": f"/hits/{guarded.hit_id}/",
        "preview": f"/hits/{open_hit.hit_id}/",
        "work": f"/work/{accepted.assignment_id}/",
        "done": f"/work/{approved.assignment_id}/",
        "qualification": f"/qualifications/{test.qualification_type_id}/",
        "message": f"/messages/{wanda.messages.first().pk}/",
        "requester-hit": f"/requester/hits/{submitted.hit.hit_id}/",
        "operator-requester": f"/operator/requesters/{lab.requester_id}/",
        "operator-worker": f"/operator/workers/{wanda.worker_id}/",
        "operator-payout-list": f"/operator/payouts/{make_list(olga).pk}/",
        "join": f"/join/{code}/",
    }


def pages_of(at: dict[str, str]) -> dict[str, list[str]]:
    return {
        "": ["/", "/operations/", "/operations/CreateHIT/", "/sign-in/", at["join"], "/join/unknown/"],
        "wanda": [
            *("/hits/", "/hits/?q=zebra", "/work/", "/qualifications/", "/earnings/", "/history/", "/messages/"),
            *("/account/", "/account/password/", "/account/bank/", "/operator/"),
            *(at[name] for name in ("guarded", "preview", "work", "done", "qualification", "message")),
        ],
        "rita": [
            *("/requester/", "/requester/hits/", "/requester/keys/", "/requester/statement/", "/requester/events/"),
            at["requester-hit"],
        ],
        "olga": [
            *("/operator/", "/operator/requesters/", "/operator/workers/", "/operator/payouts/", "/operator/settings/"),
            *("/operator/invitations/", "/operator/blocks/", "/operator/audit/"),
            *(at["operator-requester"], at["operator-worker"], at["operator-payout-list"]),
        ],
    }


@pytest.mark.parametrize(("viewport", "scheme"), [(WIDE, "light"), (NARROW, "dark")], ids=["wide-light", "narrow-dark"])
def test_no_page_has_a_serious_fault(browser, live_server, axe, viewport, scheme):
    pages = pages_of(a_full_market())
    all_faults = []
    for name, addresses in pages.items():
        # The page's policy forbids foreign scripts; axe is let in for this test alone.
        context = browser.new_context(viewport=viewport, color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        if name:
            page.goto(f"{live_server.url}/sign-in/")
            page.get_by_label("Name").fill(name)
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url(lambda url: "sign-in" not in url)
        for address in addresses:
            page.goto(f"{live_server.url}{address}")
            all_faults += faults(page, axe, address)
            if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
                all_faults.append(f"{address}: wider than the window")
        context.close()
    assert all_faults == []


def faults(page, axe: str, address: str) -> list[str]:
    for frame in page.frames:
        frame.evaluate(axe)
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{address}: {violation['id']} ({violation['impact']}) {violation['nodes'][0]['html'][:120]}"
        for violation in result["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
