"""What stands in the frame: sandboxed HTML, QuestionForm with its answers, and handing in."""

import hashlib
import hmac
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.datastructures import MultiValueDict

from annotation.marketplace.hits import work
from annotation.marketplace.models import AccessKey, Assignment
from annotation.marketplace.pages.frame import origin_of, with_helper, with_query
from annotation.marketplace.pages.question_form import cleaned, form_elements, media_origins, read_answers
from annotation.marketplace.people import access_keys
from annotation.marketplace.questions.answers import parse_answers
from annotation.marketplace.questions.questions import parse_question
from tests.browser.looking import markup
from tests.marketplace.fixtures import ANSWER, EXTERNAL, FORM, HTML, XSD, make_hit
from tests.marketplace.pages.visitors import a_requester, sign_in

pytestmark = pytest.mark.django_db
QUESTIONS = f"""<QuestionForm xmlns="{XSD}/2017-11-06/QuestionForm.xsd">
<Overview><Title>A summary</Title><Text>Read it first.</Text><List><ListItem>calmly</ListItem></List>
<FormattedContent><![CDATA[<p onclick="x()">Read <b>this</b><script>alert(1)</script></p>]]></FormattedContent>
<Binary><MimeType><Type>image</Type><SubType>png</SubType></MimeType><DataURL>https://pics.example/a.png</DataURL>
<AltText>A chart</AltText></Binary></Overview>
<Question><QuestionIdentifier>why</QuestionIdentifier><DisplayName>Reason</DisplayName><IsRequired>true</IsRequired>
<QuestionContent><Text>Why?</Text></QuestionContent><AnswerSpecification><FreeTextAnswer><Constraints>
<Length minLength="3" maxLength="20"/></Constraints><NumberOfLinesSuggestion>3</NumberOfLinesSuggestion>
</FreeTextAnswer></AnswerSpecification></Question>
<Question><QuestionIdentifier>score</QuestionIdentifier><QuestionContent><Text>How good?</Text></QuestionContent>
<AnswerSpecification><FreeTextAnswer><Constraints><IsNumeric minValue="1" maxValue="5"/></Constraints></FreeTextAnswer>
</AnswerSpecification></Question>
<Question><QuestionIdentifier>flaws</QuestionIdentifier><QuestionContent><Text>Flaws?</Text></QuestionContent>
<AnswerSpecification><SelectionAnswer><MinSelectionCount>1</MinSelectionCount><MaxSelectionCount>2</MaxSelectionCount>
<StyleSuggestion>checkbox</StyleSuggestion><Selections>
<Selection><SelectionIdentifier>a</SelectionIdentifier><Text>Long</Text></Selection>
<Selection><SelectionIdentifier>b</SelectionIdentifier><Text>Wrong</Text></Selection>
<Selection><SelectionIdentifier>c</SelectionIdentifier><Text>Dull</Text></Selection>
<OtherSelection/></Selections></SelectionAnswer></AnswerSpecification></Question></QuestionForm>"""


def frame_address(worker, page: str) -> str:
    html = sign_in(worker.account).get(page).content.decode().replace("&amp;", "&")
    return re.search(r'<iframe[^>]* src="([^"]+)"', html)[1]


def test_html_of_a_requester_has_no_origin_and_no_cookie(wanda, lab):
    hit = make_hit(lab, question=HTML)
    address = frame_address(wanda, f"/hits/{hit.hit_id}/")
    answer = Client().get(address)  # nobody is signed in here: the frame needs no cookie
    policy = answer["Content-Security-Policy"]
    assert answer.status_code == 200
    assert policy.startswith("sandbox allow-scripts allow-forms ")
    assert "allow-same-origin" not in policy
    assert "form-action http://testserver;" in policy
    assert "frame-ancestors http://testserver;" in policy
    assert not answer.cookies
    html = answer.content.decode()
    assert "name='mturk_form'" in html
    assert 'data-preview="yes"' in html


def test_the_page_around_sandboxes_the_frame_too(wanda, lab):
    hit = make_hit(lab, question=HTML)
    answer = sign_in(wanda.account).get(f"/hits/{hit.hit_id}/")
    assert 'sandbox="allow-scripts allow-forms allow-popups allow-modals allow-downloads"' in answer.content.decode()
    assert "frame-src 'self';" in answer["Content-Security-Policy"] + ";"


def test_a_frame_address_can_not_be_made_up(wanda, lab):
    hit = make_hit(lab, question=HTML)
    address = frame_address(wanda, f"/hits/{hit.hit_id}/")
    assert Client().get(address.replace("/frame/", "/frame/X")).status_code == 404
    external = make_hit(lab, question=EXTERNAL, title="External")
    assert "/frame/" not in frame_address(wanda, f"/hits/{external.hit_id}/")


def test_the_helper_comes_first_in_the_head():
    assert with_helper("<!DOCTYPE html><HEAD lang=x><p>", "H") == "<!DOCTYPE html><HEAD lang=x>H<p>"
    assert with_helper("<!DOCTYPE html><p>", "H") == "<!DOCTYPE html>H<p>"
    assert with_helper("<p>", "H") == "<!doctype html>H<p>"
    assert with_helper("<header><p>", "H") == "<!doctype html>H<header><p>"


def test_queries_and_origins():
    assert with_query("http://a/b?c=1&hitId=x#d", {"hitId": "2"}) == "http://a/b?c=1&hitId=2#d"
    assert origin_of("https://user:word@Host.example:8443/x") == "https://host.example:8443"
    assert origin_of("https://a b;c/") == "'none'"


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Market.example:443/x", "https://market.example"),
        ("https://market.example:0443", "https://market.example"),
        ("https://market.example:", "https://market.example"),
        ("http://market.example:80", "http://market.example"),
        ("http://market.example:443", "http://market.example:443"),
        ("http://[0:0:0:0:0:0:0:1]:8001", "http://[::1]:8001"),
        ("http://127.0.0.1:8001", "http://127.0.0.1:8001"),
        # Browsers read these as the market's own; for us they have no origin that could be trusted.
        ("http://127.1:8001", "'none'"),
        ("http://0x7f.0.0.1:8001", "'none'"),
        ("http://2130706433:8001", "'none'"),
        ("http://127.0.0.1.:8001", "'none'"),
        ("https://market%2eexample/", "'none'"),
        ("https://ｍarket.example/", "'none'"),
        ("https://market.example\\@evil.example/", "'none'"),
        ("https://market.example:99999/", "'none'"),
    ],
)
def test_an_origin_is_written_as_browsers_do(url, origin):
    assert origin_of(url) == origin


@pytest.mark.parametrize("host", ["market.example:443", "MARKET.example:0443", "ｍarket.example", "market%2Eexample"])
def test_the_markets_own_origin_stays_in_the_sandbox_however_it_is_written(host, wanda, lab, settings):
    settings.MARKETPLACE_URL = "https://market.example"
    hit = make_hit(lab, question=EXTERNAL.replace("https://example.org", f"https://{host}"))
    page = sign_in(wanda.account).get(f"/hits/{hit.hit_id}/").content.decode()
    assert host in page
    assert "allow-same-origin" not in page


# QuestionForm


def test_a_worker_loses_no_work_over_a_character_that_no_text_has(wanda, lab):
    assignment = work.accept_hit(wanda, make_hit(lab, question=QUESTIONS).hit_id)
    address = frame_address(wanda, f"/work/{assignment.assignment_id}/")
    fields = {"why": "It is\x00 short", "score": "4", "flaws": ["a", "b"]}
    assert Client().post(address, fields).status_code == 303
    assignment.refresh_from_db()
    assert parse_answers(assignment.answer)["why"].text == "It is short"


def test_a_question_form_is_handed_in_as_answers_with_selections(wanda, lab):
    assignment = work.accept_hit(wanda, make_hit(lab, question=QUESTIONS).hit_id)
    address = frame_address(wanda, f"/work/{assignment.assignment_id}/")
    fields = {"why": "It is short", "score": "4", "flaws": ["a", "b"]}
    answer = Client(enforce_csrf_checks=True).post(address, fields)
    assert (answer.status_code, answer["Location"]) == (
        303,
        f"/mturk/submitted?assignmentId={assignment.assignment_id}",
    )
    assignment.refresh_from_db()
    answers = parse_answers(assignment.answer)
    assert assignment.state == "Submitted"
    assert (answers["why"].text, answers["score"].text, answers["flaws"].selections) == ("It is short", "4", ("a", "b"))
    receipt = Client().get(answer["Location"])
    assert assignment.assignment_id in receipt.content.decode()
    assert receipt["X-Frame-Options"] == "SAMEORIGIN"


def test_what_is_wrong_is_said_at_its_question_and_nothing_is_lost(wanda, lab):
    assignment = work.accept_hit(wanda, make_hit(lab, question=QUESTIONS).hit_id)
    address = frame_address(wanda, f"/work/{assignment.assignment_id}/")
    answer = Client().post(address, {"why": "no", "score": "9", "flaws": ["a", "b", "c"]})
    html = markup(answer.content.decode())
    assert answer.status_code == 422
    assert "3 answers need another look" in html
    assert "At least 3 characters are needed; these are 2." in html
    assert "The number must be at most 5." in html
    assert "Pick at most 2; you have picked 3." in html
    assert 'value="c" checked' in html
    assignment.refresh_from_db()
    assert assignment.state == "Accepted"


def test_a_preview_of_a_form_is_switched_off_and_refused(wanda, lab):
    hit = make_hit(lab, question=FORM)
    address = frame_address(wanda, f"/hits/{hit.hit_id}/")
    assert '<fieldset class="question-form" disabled>' in Client().get(address).content.decode()
    answer = Client().post(address, {"colour": "blue"})
    assert answer.status_code == 422
    assert "Accept the HIT first" in answer.content.decode()
    assert not Assignment.objects.exists()


def test_handing_in_twice_or_late_is_said_in_the_frame(wanda, lab):
    assignment = work.accept_hit(wanda, make_hit(lab, question=FORM).hit_id)
    address = frame_address(wanda, f"/work/{assignment.assignment_id}/")
    assert Client().post(address, {"colour": "blue"}).status_code == 303
    second_answer = Client().post(address, {"colour": "green"})
    assert second_answer.status_code == 409
    assert "Your first answers are kept" in second_answer.content.decode()
    assert parse_answers(Assignment.objects.get().answer)["colour"].selections == ("blue",)


def test_optional_questions_may_stay_empty_and_strange_selections_are_dropped():
    form = parse_question(QUESTIONS)
    assert read_answers(form, _fields(why="Because")).problems == {}
    filled_form = read_answers(form, _fields(why="Because", flaws=["a", "evil"], flaws__other__=" else "))
    assert (filled_form.answers[2].selections, filled_form.answers[2].other_text) == (("a",), "else")
    assert read_answers(form, _fields(score="3")).problems == {"why": "An answer is needed here."}
    assert read_answers(form, _fields(why="Because", score="three")).problems == {"score": "A number is needed here."}


def test_contents_are_escaped_and_cleaned():
    html = "".join(str(getattr(element, "content", element)) for element in form_elements(parse_question(QUESTIONS)))
    assert "<h3>A summary</h3>" in html
    assert "<li>calmly</li>" in html
    assert "<p>Read <b>this</b></p>" in html
    assert '<img src="https://pics.example/a.png" alt="A chart">' in html
    assert "alert" not in html
    assert media_origins(parse_question(QUESTIONS)) == ["https://pics.example"]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<a href="javascript:alert(1)">x</a>', '<a target="_blank" rel="noopener noreferrer">x</a>'),
        ('<img src=x onerror="alert(1)">', '<img alt="">'),
        ('<img src="data:text/html,x">', '<img alt="">'),
        ("<svg><script>alert(1)</script></svg>", ""),
        ('<p style="x" class="y" id="main">1 &lt; 2</p>', "<p>1 &lt; 2</p>"),
        ("<form action=//evil><input name=x>t</form>", "t"),
        ('<iframe src="https://evil"></iframe><p>t', "<p>t</p>"),
        ("<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>", None),
        ("<!-- <script> --><b>x</b>", "<b>x</b>"),
        ('<td colspan="2" rowspan="99999">x</td>', None),
    ],
)
def test_formatted_content_keeps_only_what_is_allowed(markup, expected):
    html = cleaned(markup)
    assert expected is None or html == expected
    assert not re.search(r"<script|onerror=|javascript:|<iframe|<form", html)


def _fields(**values):
    from django.http import QueryDict

    fields = QueryDict(mutable=True)
    lists = {key: value if isinstance(value, list) else [value] for key, value in values.items()}
    fields.update(MultiValueDict(lists))
    return fields


def test_the_receipt_is_only_for_what_was_handed_in(wanda, lab):
    assignment = work.accept_hit(wanda, make_hit(lab).hit_id)
    assert Client().get("/mturk/submitted", {"assignmentId": assignment.assignment_id}).status_code == 404
    work.submit_assignment(assignment.assignment_id, ANSWER)
    assert Client().get("/mturk/submitted", {"assignmentId": assignment.assignment_id}).status_code == 200


def test_each_key_in_force_signs_whom_the_market_sends(wanda, lab):
    hit = make_hit(lab)
    keys = [access_keys.issue_key(lab) for _ in range(access_keys.MOST_SIGNATURES + 1)]
    access_keys.revoke_key(lab, keys[0].key_id)
    access_keys.issue_key(a_requester("stranger"))  # a stranger's key signs nothing here
    assignment = work.accept_hit(wanda, hit.hit_id)
    text = f"frame\n{assignment.assignment_id}\n{hit.hit_id}\n{wanda.worker_id}".encode()
    expected = {hmac.new(key.secret.encode(), text, hashlib.sha256).hexdigest() for key in keys[1:]}
    query = parse_qs(urlsplit(frame_address(wanda, f"/work/{assignment.assignment_id}/")).query)
    assert set(query["signature"]) == expected
    assert query["n"] == ["1"]  # what the requester wrote there stays


def test_of_many_keys_those_used_last_sign(wanda, lab):
    """An address has to end somewhere; the key that a requester's site works with is used every day."""
    hit, daily_key = make_hit(lab), access_keys.issue_key(lab)
    for _ in range(access_keys.MOST_SIGNATURES):
        access_keys.issue_key(lab)
    assignment = work.accept_hit(wanda, hit.hit_id)
    ids = (assignment.assignment_id, hit.hit_id, wanda.worker_id)
    signature = hmac.new(daily_key.secret.encode(), "\n".join(["frame", *ids]).encode(), hashlib.sha256).hexdigest()
    assert signature not in access_keys.frame_signatures(lab, *ids)
    AccessKey.objects.filter(key_id=daily_key.key_id).update(last_used_at=timezone.now())
    signatures = access_keys.frame_signatures(lab, *ids)
    assert (signatures[0], len(signatures)) == (signature, access_keys.MOST_SIGNATURES)


def test_a_preview_and_a_question_that_the_market_serves_itself_carry_no_signature(wanda, lab):
    access_keys.issue_key(lab)
    hit, form = make_hit(lab), make_hit(lab, question=HTML)
    assignment = work.accept_hit(wanda, form.hit_id)
    for page in (f"/hits/{hit.hit_id}/", f"/work/{assignment.assignment_id}/"):
        assert "signature" not in frame_address(wanda, page)
