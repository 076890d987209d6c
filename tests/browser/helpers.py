"""Short ways onto a work page, for browser tests that are about something else than signing in."""

from django.conf import settings
from django.test import Client
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, expect

from annotation.judging.leases import lease_task
from annotation.models import Assignment, Batch, Summary, User, Worker
from annotation.studies.batches import create_batch
from tests.factories import make_member, make_study

SUMMARY = "The ferry keeps running, the council said on Tuesday."


def open_batch(protocol: str, documents: int = 1, units: int = 3, **options) -> Batch:
    study = make_study(documents=documents, systems=4 if protocol == "likert" else 1, units=units)
    Summary.objects.update(text=SUMMARY)
    return create_batch(study, "Work", protocol, 1, options, state=Batch.State.OPEN)


def let_in(context: BrowserContext, server: str, user: User) -> None:
    """Sign the person in without the form."""
    client = Client()
    client.force_login(user)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": server}])


def open_task(page: Page, server: str, batch: Batch, user: User | None = None) -> Assignment:
    """A member of the batch's study on the page of a task of theirs."""
    user = user or make_member(batch.study)
    let_in(page.context, server, user)
    assignment = lease_task(batch, Worker.for_user(batch.study, user))
    page.goto(server + reverse("task", args=[assignment.key]))
    ready(page)
    return assignment


def ready(page: Page) -> None:
    """The page's script runs and everything is saved."""
    expect(page.locator("#save-state")).to_have_attribute("data-kind", "saved")
    expect(page.locator("#save-state")).not_to_be_empty()
