"""Instructions, consent, tutorial and qualification: what must come before real work, and what each page says."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.urls import reverse

from annotation.common import clock
from annotation.common.errors import BadAnswers, Refused
from annotation.common.markdown import render_markdown
from annotation.guidance import (
    ConsentMissing,
    NotQualified,
    NoTriesLeft,
    TutorialMissing,
    finish_practice,
    give_consent,
    give_defaults,
    may_work,
    newest_text,
    write_text,
)
from annotation.guidance.default_texts import CONSENT
from annotation.models import (
    Assignment,
    Batch,
    Consent,
    GuidanceText,
    PracticeItem,
    PracticePlan,
    PracticeRun,
    Role,
    Summary,
    User,
    Worker,
)
from annotation.protocols import PROTOCOLS
from tests.annotation.demo_study import load_written
from tests.browser.looking import markup
from tests.factories import make_batch, make_member, make_study, make_worker

pytestmark = [pytest.mark.postgres, pytest.mark.sqlite]

# Markdown


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "<img src=x onerror=alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
    ],
)
def test_nothing_a_writer_types_becomes_script(text):
    html = render_markdown(text)
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html
    assert 'href="data' not in html


def test_pictures_are_not_loaded_from_elsewhere():
    assert "<img" not in render_markdown("![a picture](https://elsewhere.example/p.png)")


def test_headings_come_right_below_the_title_of_the_page_and_tables_work():
    html = render_markdown("## Do\n### More\n\n|a|\n|-|\n|b|")
    assert "<h2>Do</h2>" in html
    assert "<h3>More</h3>" in html
    assert "<td>b</td>" in html


# Texts and consent


@pytest.mark.django_db
def test_a_change_is_a_new_version_and_the_same_words_are_none():
    study = make_study()
    first = write_text(study, "instructions", "One.", None)
    assert write_text(study, "instructions", "One.\r\n", None) == first
    assert write_text(study, "instructions", "Two.", None).version == 2
    assert newest_text(study, "instructions").body == "Two."
    assert GuidanceText.objects.get(version=1).body == "One."
    with pytest.raises(BadAnswers, match="empty"):
        write_text(study, "instructions", "  ", None)


@pytest.mark.django_db
def test_a_protocol_s_own_text_goes_before_the_study_s():
    study = make_study()
    write_text(study, "instructions", "For all.", None)
    write_text(study, "instructions", "For Likert.", None, "likert")
    assert newest_text(study, "instructions", "likert").body == "For Likert."
    assert newest_text(study, "instructions", "scu").body == "For all."


def test_the_default_consent_names_every_signal():
    for signal in ("Active time", "Time and changes per item", "Focus lost", "Paste events"):
        assert signal in CONSENT


@pytest.mark.django_db
def test_consent_is_asked_once_per_version(django_assert_num_queries):
    study = make_study()
    batch, worker = make_batch(study), make_worker(study)
    may_work(batch, worker)  # no text, nothing to agree to
    text = write_text(study, "consent", "We record time.", None)
    with pytest.raises(ConsentMissing, match="agree") as refusal, django_assert_num_queries(1):
        may_work(batch, worker)
    assert refusal.value.page == reverse("consent", args=[batch.pk])
    give_consent(worker, text.pk)
    give_consent(worker, text.pk)
    assert Consent.objects.count() == 1
    may_work(batch, worker)
    write_text(study, "consent", "We record time and more.", None)
    with pytest.raises(ConsentMissing):
        may_work(batch, worker)
    with pytest.raises(Refused, match="has changed"):
        give_consent(worker, text.pk)


# Practice


def make_plan(study, **rules):
    plan = PracticePlan.objects.create(study=study, protocol="litepyramid", **rules)
    summary = Summary.objects.filter(document__study=study).first()
    for kind in ("tutorial", "test"):
        for n in range(5):
            PracticeItem.objects.create(
                plan=plan,
                kind=kind,
                order=n,
                summary=summary,
                question=f"Fact {n}.",
                expected=n % 2,
                reason="Because.",
            )
    return plan


def answers(plan, kind, n_wrong=0):
    items = plan.items.filter(kind=kind)
    return {str(item.pk): 1 - item.expected if n < n_wrong else item.expected for n, item in enumerate(items)}


@pytest.mark.django_db
def test_a_required_tutorial_comes_first_and_its_answers_count_for_nothing():
    study = make_study()
    batch, worker, plan = make_batch(study), make_worker(study), make_plan(study, tutorial="required")
    with pytest.raises(TutorialMissing, match="tutorial"):
        may_work(batch, worker)
    run = finish_practice(plan, worker, "tutorial", answers(plan, "tutorial", n_wrong=5))
    assert (run.right, run.of, run.passed) == (0, 5, True)
    may_work(batch, worker)


@pytest.mark.django_db
@pytest.mark.parametrize(("n_wrong", "passed"), [(0, True), (1, True), (2, False)])
def test_the_pass_mark_decides(n_wrong, passed):
    """0.8 of 5 items are 4 right ones."""
    study = make_study()
    batch, worker, plan = make_batch(study), make_worker(study), make_plan(study, test_required=True, pass_mark=0.8)
    assert finish_practice(plan, worker, "test", answers(plan, "test", n_wrong)).passed is passed
    if passed:
        may_work(batch, worker)
    else:
        with pytest.raises(NotQualified, match="qualification test"):
            may_work(batch, worker)


@pytest.mark.django_db
def test_after_the_last_try_it_is_over_and_every_try_is_kept():
    study = make_study()
    batch, worker, plan = make_batch(study), make_worker(study), make_plan(study, test_required=True, tries=2)
    for _ in range(2):
        finish_practice(plan, worker, "test", answers(plan, "test", n_wrong=5))
    with pytest.raises(NoTriesLeft, match="all tries"):
        finish_practice(plan, worker, "test", answers(plan, "test"))
    with pytest.raises(NoTriesLeft):
        may_work(batch, worker)
    assert list(PracticeRun.objects.values_list("number", "right")) == [(1, 0), (2, 0)]


@pytest.mark.django_db(transaction=True)
def test_two_tabs_cannot_squeeze_in_a_try_too_many():
    study = make_study()
    worker, plan = make_worker(study), make_plan(study, test_required=True, tries=1)
    wrong_answers = answers(plan, "test", n_wrong=5)

    def hand_in(_):
        try:
            return finish_practice(plan, worker, "test", wrong_answers).number
        except NoTriesLeft:
            return "none left"
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(hand_in, range(4)), key=str) == [1, "none left", "none left", "none left"]


@pytest.mark.django_db
def test_a_passed_test_is_not_taken_again_and_a_missing_answer_uses_no_try():
    study = make_study()
    worker, plan = make_worker(study), make_plan(study, test_required=True)
    with pytest.raises(BadAnswers, match="Choose an answer"):
        finish_practice(plan, worker, "test", {})
    run = finish_practice(plan, worker, "test", answers(plan, "test"))
    assert finish_practice(plan, worker, "test", answers(plan, "test", n_wrong=5)) == run


@pytest.mark.django_db
def test_an_answer_within_the_tolerance_is_right():
    study = make_study()
    plan = PracticePlan.objects.create(study=study, protocol="likert", test_required=True)
    summary = Summary.objects.first()
    PracticeItem.objects.create(
        plan=plan, kind="test", order=1, summary=summary, question="coherence", expected=4, tolerance=1
    )
    key = str(plan.items.get().pk)
    rights = [finish_practice(plan, make_worker(study), "test", {key: value}).right for value in (2, 3, 4, 5)]
    assert rights == [0, 1, 1, 1]


@pytest.mark.django_db
def test_another_protocol_s_test_is_not_asked():
    study = make_study()
    make_plan(study, test_required=True)
    may_work(make_batch(study, protocol="likert"), make_worker(study))


@pytest.mark.django_db
def test_a_test_without_items_holds_nobody_up():
    study = make_study()
    make_plan(study, test_required=True, tutorial="required").items.update(retired_at=clock.now())
    may_work(make_batch(study), make_worker(study))


# Pages


@pytest.fixture
def signed_in(client, db):
    """A study with default texts, an open batch, and an annotator who is signed in."""
    study = make_study()
    user = make_member(study)
    client.force_login(user)
    return study, make_batch(study), Worker.for_user(study, user)


def test_taking_a_task_leads_through_consent_tutorial_and_test(client, signed_in):
    study, batch, worker = signed_in
    give_defaults(study)
    plan = make_plan(study, tutorial="required", test_required=True)
    take = reverse("take", args=[batch.pk])
    assert client.post(take).url == reverse("consent", args=[batch.pk])
    page = client.get(reverse("consent", args=[batch.pk]))
    assert "Paste events" in page.text
    text = newest_text(study, "consent")
    agreed = client.post(reverse("consent", args=[batch.pk]), {"text": text.pk})
    assert agreed.url == reverse("tutorial", args=[batch.pk])
    practised = client.post(agreed.url, {f"answer:{key}": value for key, value in answers(plan, "tutorial").items()})
    assert practised.url == reverse("test", args=[batch.pk])
    tested = client.post(practised.url, {f"answer:{key}": value for key, value in answers(plan, "test").items()})
    assert "Passed" in client.get(tested.url).text
    assert client.post(take).url.startswith("/work/")
    assert Assignment.objects.get().worker == worker
    assert worker.consents.get().text == text


@pytest.mark.parametrize("text", ["", "abc", "²", "9" * 30])
def test_consent_to_a_text_that_is_none_is_refused_with_a_sentence(client, signed_in, text):
    study, batch, worker = signed_in
    give_defaults(study)
    refusal = client.post(reverse("consent", args=[batch.pk]), {"text": text})
    assert (refusal.status_code, worker.consents.count()) == (409, 0)
    assert "Nothing was recorded" in refusal.text


def test_the_tutorial_says_what_was_right_and_why(client, signed_in):
    study, batch, _ = signed_in
    plan = make_plan(study)
    first, second = plan.items.filter(kind="tutorial")[:2]
    address = reverse("tutorial", args=[batch.pk])
    assert first.question in client.get(address).text
    wrong_page = client.get(address, {f"answer:{first.pk}": "1"}).text
    assert "Not quite: we would answer “Not present”" in wrong_page
    assert "Because." in wrong_page
    assert "Right." in client.get(address, {f"answer:{first.pk}": "0"}).text
    assert second.question in client.get(address, {f"answer:{first.pk}": "0", "answer:seen": "1"}).text
    assert first.question in client.get(address, {"answer:seen": "²"}).text
    assert PracticeRun.objects.count() == 0  # looking changes nothing


def test_a_failed_test_says_how_many_tries_are_left_and_not_which_answers_were_wrong(client, signed_in):
    study, batch, worker = signed_in
    plan = make_plan(study, test_required=True, tries=2)
    address = reverse("test", args=[batch.pk])
    form = {f"answer:{key}": value for key, value in answers(plan, "test", n_wrong=5).items()}
    page = client.post(address, form, follow=True).text
    assert "0 of 5 answers were right; 80 % are needed" in page
    assert "You have 1 try left" in page
    assert "Because." not in page
    client.post(address, form)
    response = client.post(address, form)
    assert response.status_code == 409
    assert "all tries" in response.text
    assert client.post(reverse("take", args=[batch.pk])).status_code == 409
    assert not worker.assignments.exists()


def test_an_incomplete_test_is_shown_again_with_the_answers(client, signed_in):
    study, batch, _ = signed_in
    plan = make_plan(study, test_required=True)
    key, value = next(iter(answers(plan, "test").items()))
    page = client.post(reverse("test", args=[batch.pk]), {f"answer:{key}": f"{value:g}"})
    assert page.status_code == 422
    assert "checked" in page.text
    assert PracticeRun.objects.count() == 0


@pytest.mark.parametrize("name", ["consent", "instructions", "tutorial", "test"])
def test_every_page_has_an_empty_state_and_strangers_get_404(client, signed_in, name):
    _, batch, _ = signed_in
    assert client.get(reverse(name, args=[batch.pk])).status_code == 200
    client.force_login(make_member(make_study()))
    assert client.get(reverse(name, args=[batch.pk])).status_code == 404


def test_the_instructions_are_the_protocol_s(client, signed_in):
    study, batch, _ = signed_in
    give_defaults(study)
    give_defaults(study)
    assert GuidanceText.objects.count() == 1 + len(PROTOCOLS)  # the consent, and each protocol's instructions
    page = client.get(reverse("instructions", args=[batch.pk])).text
    assert "Worked examples" in page
    assert "<table>" in page


@pytest.fixture
def admin(client, signed_in):
    study, batch, _ = signed_in
    client.force_login(make_member(study, Role.ADMIN))
    return study, batch


def test_an_admin_writes_texts_rules_and_items(client, admin):
    study, _ = admin
    address = reverse("guidance", args=[study.slug])
    assert client.get(address).status_code == 200
    client.post(
        reverse("guidance-text", args=[study.slug]),
        {"kind": "consent", "protocol": "litepyramid", "body": "We record <b>time</b>."},
    )
    assert newest_text(study, "consent").protocol == ""
    client.post(
        reverse("guidance-rules", args=[study.slug]),
        {"protocol": "litepyramid", "test_required": "1", "pass_mark": "75", "tries": "3"},
    )
    plan = PracticePlan.objects.get()
    assert (plan.tutorial, plan.test_required, plan.pass_mark, plan.tries) == ("optional", True, 0.75, 3)
    summary = Summary.objects.get()
    item = {"protocol": "litepyramid", "kind": "test", "summary": summary.pk, "question": "A fact.", "expected": "1"}
    client.post(reverse("guidance-item", args=[study.slug]), item)
    page = client.get(address).text
    assert "A fact." in page
    assert "We record &lt;b&gt;time&lt;/b&gt;." in page
    client.post(reverse("guidance-retire", args=[study.slug, plan.items.get().pk]))
    assert plan.items.get().retired_at is not None


@pytest.mark.parametrize(
    ("name", "form", "sentence"),
    [
        ("guidance-rules", {"protocol": "litepyramid", "pass_mark": "0", "tries": "1"}, "pass mark"),
        ("guidance-rules", {"protocol": "litepyramid", "pass_mark": "50", "tries": "x"}, "must be a number"),
        ("guidance-rules", {"protocol": "nonsense", "pass_mark": "50", "tries": "1"}, "Known: errors, likert"),
        ("guidance-item", {"protocol": "litepyramid", "kind": "test"}, "needs a summary"),
        (
            "guidance-item",
            {"protocol": "litepyramid", "kind": "test", "question": "q", "summary": "²"},
            "needs a summary",
        ),
        ("guidance-text", {"kind": "consent", "body": " "}, "empty"),
    ],
)
def test_what_an_admin_gets_wrong_is_answered_with_a_sentence(client, admin, name, form, sentence):
    study, _ = admin
    answer = client.post(reverse(name, args=[study.slug]), form)
    assert answer.status_code == 422
    assert sentence in answer.text


def test_the_preview_is_safe_and_guidance_is_for_admins(client, admin):
    study, _ = admin
    preview = client.post(reverse("guidance-preview", args=[study.slug]), {"body": "**b** <script>x</script>"}).text
    assert "<strong>b</strong>" in preview
    assert "<script>" not in preview
    client.force_login(make_member(study, Role.ANALYST))
    for name in ("guidance-text", "guidance-preview", "guidance-rules", "guidance-item"):
        assert client.post(reverse(name, args=[study.slug])).status_code == 403
    assert client.get(reverse("guidance", args=[study.slug])).status_code == 403


@pytest.mark.django_db
def test_the_demo_asks_for_consent_and_offers_a_tutorial_without_requiring_it(client):
    load_written()
    batch = Batch.objects.get(name="Judge along")
    client.force_login(User.objects.get(username="annotator"))
    address = client.post(reverse("take", args=[batch.pk])).url
    assert address == reverse("consent", args=[batch.pk])
    text = newest_text(batch.study, "consent")
    agreed = client.post(address, {"text": text.pk})
    assert agreed.url.startswith("/work/")
    assert client.get(agreed.url).status_code == 200
    assert "Strong wind disturbs the method." in client.get(reverse("tutorial", args=[batch.pk])).text


def test_what_was_refused_comes_back_as_it_was_typed(client, admin):
    study, _ = admin
    summary = Summary.objects.filter(document__study=study).last()
    item = {
        "protocol": "litepyramid",
        "kind": "test",
        "summary": str(summary.pk),
        "question": "A statement that took long to write.",
        "reason": "A reason, too.",
        "expected": "7",
        "tolerance": "0.5",
    }
    answer = client.post(reverse("guidance-item", args=[study.slug]), item)
    page = markup(answer.content.decode())
    assert answer.status_code == 422
    assert "The expected answer must be 1 or 0" in page
    assert not PracticeItem.objects.exists()
    for typed in (
        'value="A statement that took long to write."',
        ">A reason, too.</textarea>",
        'value="7"',
        'value="0.5"',
        '<option value="test" selected>',
        f'<option value="{summary.pk}" selected>',
    ):
        assert typed in page
    rules = {"protocol": "litepyramid", "test_required": "1", "pass_mark": "900", "tries": "3"}
    page = markup(client.post(reverse("guidance-rules", args=[study.slug]), rules).content.decode())
    for typed in ("The pass mark must lie", 'value="900"', 'value="3"', 'name="test_required" value="1" checked'):
        assert typed in page
    # The address is the form's now, so the tabs must not be relative to it.
    assert f'href="{reverse("guidance", args=[study.slug])}?protocol=likert"' in page


@pytest.mark.django_db
def test_an_admin_chooses_by_text_and_sees_the_test_as_workers_do(client):
    study = make_study(documents=1, systems=1)
    client.force_login(make_member(study, Role.ADMIN))
    summary = Summary.objects.get(document__study=study)
    page = client.get(f"/studies/{study.slug}/guidance/?protocol=litepyramid").content.decode()
    assert f"{summary.document.doc_id} · {summary.system.name}: {summary.text_shown[:20]}" in page
    address = f"/studies/{study.slug}/guidance/test/?protocol=litepyramid"
    assert "There is no test of this kind yet." in client.get(address).content.decode()
    form = {"protocol": "litepyramid", "kind": "test", "summary": str(summary.pk), "expected": "1", "tolerance": "0"}
    client.post(f"/studies/{study.slug}/guidance/items/", {**form, "question": "Cats sleep.", "reason": "It says so."})
    page = client.get(address).content.decode()
    assert "This is a preview, as workers see it." in page
    assert "Cats sleep." in page
    assert "It says so." not in page
    assert not PracticeRun.objects.exists()
