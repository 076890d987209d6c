"""A HIT is made from a layout and the values for its placeholders."""

import pytest

from annotation.marketplace.errors import BadParameter, HITLayoutDoesNotExist
from annotation.marketplace.hits import layouts
from annotation.marketplace.models import HIT, HITLayout
from annotation.marketplace.questions.questions import HTMLQuestion, parse_question
from tests.marketplace.pages.visitors import a_requester, sign_in, text

PAGE = "<!DOCTYPE html><form action='/mturk/externalSubmit'><p>${text}</p><img alt='${alt}'>${text} $x ${ y }</form>"
VALUES = [{"Name": "text", "Value": "1 < 2 & ]]> ${alt}"}, {"Name": "alt", "Value": "A chart"}]


def test_values_take_the_places_and_are_not_looked_at_again(requester):
    layout = layouts.create_layout(requester, "Judge", PAGE, 400)
    question = parse_question(layouts.question_from(layout, VALUES))
    page = PAGE.replace("${text}", "1 < 2 & ]]> ${alt}").replace("alt='${alt}'", "alt='A chart'")
    assert question == HTMLQuestion(page, 400)


@pytest.mark.parametrize(
    "values", [[], VALUES[:1], [*VALUES, {"Name": "more", "Value": ""}], [*VALUES, {"Name": "alt", "Value": "again"}]]
)
def test_a_value_too_many_or_too_few_is_refused(requester, values):
    layout = layouts.create_layout(requester, "Judge", PAGE)
    with pytest.raises(BadParameter, match="HITLayoutParameters"):
        layouts.question_from(layout, values)


def test_a_layout_is_its_requesters_alone(requester):
    layout = layouts.create_layout(requester, "Judge", PAGE)
    with pytest.raises(HITLayoutDoesNotExist):
        layouts.own_layout(a_requester(), layout.layout_id)


@pytest.mark.parametrize(("name", "html", "height"), [("", PAGE, 0), ("x", "", 0), ("x", "a\x01b", 0), ("x", PAGE, -1)])
def test_what_is_no_layout_is_refused(requester, name, html, height):
    with pytest.raises(BadParameter):
        layouts.create_layout(requester, name, html, height)
    assert not HITLayout.objects.exists()


def test_a_requester_keeps_and_deletes_layouts_on_the_site(db):
    rita = a_requester("rita")
    client = sign_in(rita.account)
    assert client.post("/requester/layouts/", {"name": "Judge", "html": PAGE, "frame_height": "0"}).status_code == 302
    layout = HITLayout.objects.get()
    page = text(client.get("/requester/layouts/"))
    assert layout.layout_id in page
    assert "text, alt" in page
    assert client.post("/requester/layouts/", {"name": "", "html": "", "frame_height": "x"}).status_code == 422
    address = f"/requester/layouts/{layout.layout_id}/delete/"
    assert sign_in(a_requester("rolf").account).post(address).status_code == 404
    assert client.post(address).status_code == 302
    assert not HITLayout.objects.exists()


def test_boto3_makes_a_hit_from_a_layout(live_client, requester):
    layout = layouts.create_layout(requester, "Judge", PAGE)
    facts = {"Title": "t", "Description": "d", "Reward": "0.01", "AssignmentDurationInSeconds": 60}
    made = live_client.create_hit(
        **facts, LifetimeInSeconds=60, HITLayoutId=layout.layout_id, HITLayoutParameters=VALUES
    )["HIT"]
    assert made["HITLayoutId"] == layout.layout_id
    assert "A chart" in made["Question"]
    for wrong in ({}, {"HITLayoutParameters": VALUES}, {"HITLayoutId": "NOBODYS"}):
        with pytest.raises(live_client.exceptions.RequestError):
            live_client.create_hit(**facts, LifetimeInSeconds=60, **wrong)
    assert HIT.objects.count() == 1
