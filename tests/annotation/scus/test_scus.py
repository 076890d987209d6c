"""SCU extraction: reading, advice, coverage, comparing, freezing, versions."""

import json
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import protocols
from annotation.common import clock
from annotation.common.errors import BadAnswers
from annotation.common.text import is_content, sentences
from annotation.models import Assignment, Batch, ContentUnit, ExtractedUnit, Judgment, Reference, Role, Task
from annotation.protocols.scu_units import Unit, coverage, read_units, store_units, units_of
from annotation.scus.advice import alike, entities, lone_pronoun, unit_advice
from annotation.scus.lists import ListMovedOn, align, compare, freeze_units, from_content, reference_states
from annotation.tables.frames import judgments_frame, scus_frame
from annotation.transfer.importing.study import import_study
from tests.annotation.transfer.whole_export import export_study
from tests.factories import make_batch, make_member, make_study, make_worker

pytestmark = [pytest.mark.postgres, pytest.mark.sqlite]
REFERENCE = ["The mayor opened the bridge on Tuesday.", "It had cost 3 million crowns."]
PLAIN = " ".join(REFERENCE)


# Words


def test_every_word_knows_its_place():
    words = [word for sentence in sentences(REFERENCE) for word in sentence.words]
    assert [PLAIN[word.start : word.end] for word in words] == [word.text for word in words]
    assert [sentence.tail for sentence in sentences(REFERENCE)] == [".", "."]


def test_a_string_is_split_into_sentences_and_loses_nothing():
    text = "Mr. Smith left at 11.40 p.m. on  Monday. Nobody saw him!"
    split = sentences(text)
    assert [sentence.words[0].text for sentence in split] == ["Mr", "Nobody"]
    rebuilt = "".join(word.gap + word.text for word in split[0].words) + split[0].tail
    assert rebuilt == "Mr. Smith left at 11.40 p.m. on  Monday."


def test_words_keep_their_inner_marks_and_chinese_is_taken_sign_by_sign():
    assert [word.text for word in sentences("Don't pay 210,000 for 6–1.")[0].words] == [
        "Don't",
        "pay",
        "210,000",
        "for",
        "6–1",
    ]
    assert [word.text for word in sentences("市长开桥。")[0].words] == list("市长开桥")


def test_function_words_are_no_content():
    assert [word for word in ("The", "mayor", "of", "Porto", "3") if is_content(word)] == ["mayor", "Porto", "3"]


# Advice


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # five: a team, a team, a result, a cup, a day
        (
            "Bayern Munich beat Porto 6–1 in the Champions League on Tuesday.",
            ["Bayern Munich", "Porto", "6–1", "Champions League", "Tuesday"],
        ),
        ("The University of Surrey tested 3 coins.", ["University of Surrey", "3"]),
        ("The line opened on 3 March 2015.", ["3 March 2015"]),
        ("Residents signed a petition.", []),
    ],
)
def test_entities_are_names_and_numbers(text, names):
    assert entities(text) == names


def test_a_first_word_is_a_name_where_the_reference_shows_it():
    names = frozenset({"bayern"})
    assert entities("Bayern won.", names) == ["Bayern"]
    assert entities("Bayern won.") == []


def test_advice_names_each_kind_once():
    long = "The town " + " ".join(["and the town"] * 7) + "."  # 23 words
    advice = unit_advice(
        [
            "Bayern Munich beat Porto 6–1 in the Champions League on Tuesday.",
            long,
            "The mayor opened the bridge.",
            "The bridge was opened by the mayor.",
            "She opened it.",
            "The mayor said she was glad.",
        ]
    )
    assert [[piece.code for piece in pieces] for pieces in advice] == [
        ["entities"],
        ["words"],
        [],
        ["repeat"],
        ["pronoun"],
        [],
    ]
    assert advice[3][0].sentence == "Nearly the same as SCU 3."


@pytest.mark.parametrize(
    ("text", "pronoun"),
    [
        ("It had cost 3 million.", "It"),
        ("For her the ferry sails at night.", "her"),
        ("The ferry lost its captain.", ""),
        ("Jolanda Pries said she works nights.", ""),
        ("45 children left their home.", ""),
    ],
)
def test_a_pronoun_needs_its_noun_before_it(text, pronoun):
    assert lone_pronoun(text) == pronoun


def test_other_numbers_make_another_fact():
    assert not alike("The vote was 11 to 4.", "The vote was 11 to 5.")
    assert alike("The council voted for the boat.", "The council votes for the boats.")


@pytest.mark.paper
def test_the_authors_own_units_seldom_draw_advice(shared_data):
    """1,056 SCUs of REALSumm, written by its authors: a rule that nags at experts would be noise (2026: 40 of them)."""
    frame = pd.read_csv(shared_data / "realsumm" / "scus.csv", dtype=str)
    real = frame[frame["is_check"] == "0"]
    lists = [list(texts) for _, texts in real.groupby("doc_id")["text"]]
    advised = sum(bool(advice) for texts in lists for advice in unit_advice(texts))
    assert len(real) == 1056
    assert advised < 0.06 * len(real)


# Reading what the page sends


def test_units_come_as_json_with_their_places():
    raw = json.dumps([{"text": " The mayor  opened the bridge. ", "spans": [[10, 16], [4, 9]]}, {"text": " "}])
    assert read_units(raw, PLAIN, 16) == [Unit("The mayor opened the bridge.", ((4, 9), (10, 16)))]


def test_units_come_as_lines_from_a_page_without_script():
    assert read_units("One fact.\n\nAnother fact.", PLAIN, 16) == [Unit("One fact."), Unit("Another fact.")]


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ("", "at least one"),
        ("[]", "at least one"),
        ("a\nb\nc", "at most 2"),
        ("[{]", "could not be read"),
        ('["a"]', "could not be read"),
        ('[{"text": 3}]', "could not be read"),
        ('[{"text": "a", "spans": [[0, 999]]}]', "could not be read"),
        ('[{"text": "a", "spans": [[5, 5]]}]', "could not be read"),
        (json.dumps([{"text": "a" * 1001}]), "1001 characters"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_sentence(raw, sentence):
    with pytest.raises(BadAnswers, match=sentence):
        read_units(raw, PLAIN, 2)


def test_coverage_counts_content_words():
    # Content words: mayor opened bridge Tuesday | cost 3 million crowns: eight. "mayor opened" covers two.
    covered = coverage(REFERENCE, [Unit("The mayor opened something.", ((4, 16),))])
    assert (covered.covered, covered.of, covered.percent) == (2, 8, 25)


# Extraction through the engine


def make_scu_study(references=1):
    study = make_study(units=0)
    document = study.documents.get()
    Reference.objects.filter(document=document).update(text=REFERENCE)
    for index in range(1, references):
        Reference.objects.create(document=document, index=index, text=REFERENCE)
    return study


def make_scu_batch(study, quota=2, **options):
    protocol = protocols.get("scu")
    batch = Batch.objects.create(
        study=study,
        name=f"extract {Batch.objects.count()}",
        protocol="scu",
        state="open",
        options=protocol.options(options),
    )
    Task.objects.bulk_create(protocol.tasks(batch, quota))
    return batch


def extract(batch, worker, *units, reference_index=0):
    """A submitted extraction, written as the engine writes it."""
    assignment = Assignment.objects.create(
        task=batch.tasks.get(part=reference_index), worker=worker, state="submitted", submitted_at=clock.now()
    )
    store_units(assignment, units, clock.now())
    return assignment


@pytest.mark.django_db
def test_a_task_is_made_for_every_reference():
    batch = make_scu_batch(make_scu_study(references=3))
    assert sorted(batch.tasks.values_list("part", "summary")) == [(0, None), (1, None), (2, None)]


@pytest.mark.parametrize("limit", [0, 101, "16", True])
def test_the_number_of_units_is_checked(limit):
    with pytest.raises(ValueError, match="max_units"):
        protocols.get("scu").options({"max_units": limit})


@pytest.mark.django_db
def test_a_revision_is_appended_and_the_database_keeps_the_old_one():
    study = make_scu_study()
    protocol, assignment = protocols.get("scu"), extract(make_scu_batch(study), make_worker(study), Unit("One."))
    assert protocol.revise(assignment, {"units": "One."}, clock.now()) == 0
    assert protocol.revise(assignment, {"units": {"value": "One.\nTwo."}}, clock.now()) == 2
    assert [(row.revision, row.text, row.is_current) for row in ExtractedUnit.objects.all()] == [
        (1, "One.", False),
        (2, "One.", True),
        (2, "Two.", True),
    ]
    assert units_of(assignment) == [Unit("One."), Unit("Two.")]
    assert protocol.count_answers(assignment) == 2
    with pytest.raises(DatabaseError, match="never overwritten"), transaction.atomic():
        ExtractedUnit.objects.filter(revision=1).update(text="Other.")


# Comparing and merging


def test_units_that_say_the_same_stand_on_one_row():
    a = [Unit("The mayor opened the bridge.", ((4, 26),)), Unit("It was Tuesday.", ((30, 37),))]
    b = [Unit("The bridge cost 3 million crowns.", ((50, 60),)), Unit("A mayor opened a bridge.", ((0, 9),))]
    rows = align([a, b])
    assert [[cell and cell.text for cell in row.cells] for row in rows] == [
        ["The mayor opened the bridge.", "A mayor opened a bridge."],
        ["It was Tuesday.", None],
        [None, "The bridge cost 3 million crowns."],
    ]
    assert rows[0].suggestion == Unit("A mayor opened a bridge.", ((0, 9), (4, 26)))


def test_no_unit_is_matched_twice():
    a = [Unit("The mayor opened the bridge.")]
    b = [Unit("The mayor opened the bridge."), Unit("The mayor opened the new bridge.")]
    assert sorted(row.shared for row in align([a, b])) == [False, True]


@pytest.mark.django_db
def test_two_annotators_are_compared_and_the_suggestion_starts_the_list(django_assert_num_queries):
    study = make_scu_study()
    batch = make_scu_batch(study)
    extract(batch, make_worker(study), Unit("The mayor opened the bridge.", ((4, 27),)))
    extract(batch, make_worker(study), Unit("The mayor opened the bridge.", ((4, 27),)), Unit("It cost money."))
    reference = Reference.objects.select_related("document").get()
    with django_assert_num_queries(6):
        comparison = compare(reference)
    assert (len(comparison.extractions), comparison.shared, len(comparison.rows), comparison.version) == (2, 1, 2, 0)
    assert [unit.text for unit in comparison.start] == ["The mayor opened the bridge.", "It cost money."]


# Freezing


def judge(study, unit, value=1):
    batch = make_batch(study, protocol="litepyramid")
    task = batch.tasks.first()
    assignment = Assignment.objects.create(
        task=task, worker=make_worker(study), state="submitted", submitted_at=clock.now()
    )
    return Judgment.objects.create(assignment=assignment, summary=task.summary, unit=unit, value=value)


@pytest.mark.django_db
def test_freezing_makes_the_list_that_litepyramid_shows():
    study = make_scu_study()
    author = make_worker(study)
    extract(make_scu_batch(study), author, Unit("One."))
    frozen = freeze_units(
        Reference.objects.get(), [Unit("One.", ((0, 9), (10, 16))), Unit("Two.")], None, seen_version=0
    )
    assert (frozen.version, frozen.size) == (1, 2)
    units = list(ContentUnit.objects.in_force())
    assert [(u.scu_id, u.text, u.start, u.end, u.author) for u in units] == [
        ("scu01", "One.", 0, 16, author.pseudonym),
        ("scu02", "Two.", None, None, ""),
    ]
    assert from_content(units[0]) == Unit("One.", ((0, 9), (10, 16)))


@pytest.mark.django_db
def test_a_change_makes_a_new_version_and_judgments_keep_the_old_words():
    study = make_scu_study()
    reference = Reference.objects.get()
    freeze_units(reference, [Unit("One."), Unit("Two."), Unit("Three.")], None, seen_version=0)
    judgment = judge(study, "scu02")
    frozen = freeze_units(reference, [Unit("Three."), Unit("Two, better."), Unit("One.")], None, seen_version=1)
    assert frozen.version == 2
    # Same words, same id, same judgments; other words, another id; the order is the new one.
    assert [(u.scu_id, u.text) for u in ContentUnit.objects.in_force()] == [
        ("scu03", "Three."),
        ("scu04", "Two, better."),
        ("scu01", "One."),
    ]
    assert {u.text for u in ContentUnit.objects.of_version(1)} == {"One.", "Two.", "Three."}
    assert ContentUnit.objects.get(scu_id=judgment.unit).text == "Two."
    with pytest.raises(DatabaseError, match="keeps its words"), transaction.atomic():
        ContentUnit.objects.filter(scu_id="scu02").update(text="Something else.")
    ContentUnit.objects.filter(scu_id="scu01").update(text="Unjudged words may still be corrected.")


@pytest.mark.django_db
def test_the_same_list_again_makes_no_version_and_an_outdated_page_is_refused():
    make_scu_study()
    reference = Reference.objects.get()
    first = freeze_units(reference, [Unit("One.")], None, seen_version=0)
    assert freeze_units(reference, [Unit("One.")], None, seen_version=1) == first
    with pytest.raises(ListMovedOn, match="while you were at it"):
        freeze_units(reference, [Unit("Other.")], None, seen_version=0)
    with pytest.raises(BadAnswers, match="at least one"):
        freeze_units(reference, [], None, seen_version=1)
    assert ContentUnit.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_admins_who_freeze_at_once_one_is_told():
    make_scu_study()
    reference = Reference.objects.get()

    def freeze(text):
        try:
            return freeze_units(reference, [Unit(text)], None, seen_version=0).version
        except ListMovedOn:
            return "moved on"
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(freeze, ["One.", "Other."]), key=str) == [1, "moved on"]
    assert ContentUnit.objects.in_force().count() == 1


@pytest.mark.django_db
def test_each_reference_has_its_own_units_and_checks_stay():
    study = make_scu_study(references=2)
    document = study.documents.get()
    ContentUnit.objects.create(document=document, scu_id="scu90", text="A check.", is_check=True, expected=0)
    first, second = Reference.objects.order_by("index")
    freeze_units(first, [Unit("One.")], None, seen_version=0)
    freeze_units(second, [Unit("Two.")], None, seen_version=1)
    freeze_units(first, [Unit("One, better.")], None, seen_version=2)
    assert {u.text for u in ContentUnit.objects.in_force()} == {"A check.", "One, better.", "Two."}


@pytest.mark.django_db
def test_an_export_carries_what_is_in_force_and_what_was_judged(tmp_path):
    study = make_scu_study()
    reference = Reference.objects.get()
    freeze_units(reference, [Unit("One."), Unit("Two."), Unit("Three.")], None, seen_version=0)
    judge(study, "scu02")
    freeze_units(reference, [Unit("Four."), Unit("One.")], None, seen_version=1)
    frame = scus_frame(study)
    # scu03 was never judged and is retired: nobody needs it.
    assert list(frame["scu_id"]) == ["scu01", "scu02", "scu04"]
    assert [None if pd.isna(cell) else int(cell) for cell in frame["retired_in"]] == [None, 2, None]
    assert list(frame["version"]) == [1, 1, 2]
    assert judgments_frame(study)[["unit", "retired"]].to_numpy().tolist() == [["scu02", 1]]
    export_study(study, tmp_path / "out")
    import_study(tmp_path / "out", "again")
    imported = ContentUnit.objects.filter(document__study__name="again")
    assert [u.text for u in imported.in_force()] == ["Four.", "One."]
    assert imported.get(scu_id="scu02").retired_in == 2


@pytest.mark.django_db
def test_the_overview_takes_five_queries_whatever_the_number_of_references(django_assert_num_queries):
    study = make_study(documents=30, units=2)
    batch = make_scu_batch(study)
    worker = make_worker(study)
    task = batch.tasks.order_by("pk").first()
    Assignment.objects.create(task=task, worker=worker, state="submitted", submitted_at=clock.now())
    with django_assert_num_queries(5):
        states = reference_states(study)
    assert len(states) == 30
    assert (states[0].extractions, states[0].units, states[0].version) == (1, 2, 0)


@pytest.mark.django_db
def test_a_task_opens_in_six_queries_and_is_submitted_in_thirteen(client):
    study = make_scu_study()
    batch = make_scu_batch(study)
    user = make_member(study)
    client.force_login(user)
    address = client.post(reverse("take", args=[batch.pk])).url
    with CaptureQueriesContext(connection) as opening:
        assert client.get(address).status_code == 200
    with CaptureQueriesContext(connection) as sending:
        client.post(address, {"answer:units": "One fact.\nAnother fact.", "submit_key": "k"})
    assert ExtractedUnit.objects.count() == 2
    assert len(opening) <= 6
    assert len(sending) <= 13


@pytest.mark.django_db
def test_advice_is_given_to_the_holder_alone(client):
    study = make_scu_study()
    batch = make_scu_batch(study)
    client.force_login(make_member(study))
    key = client.post(reverse("take", args=[batch.pk])).url.strip("/").split("/")[-1]
    address = reverse("advice", args=[key])
    response = client.post(address, {"units": ["It cost money.", "Fine."]}, content_type="application/json").json()
    assert response == {"advice": [["“It” has no noun here: name who or what it is."], []]}
    assert client.post(address, "{", content_type="application/json").status_code == 422
    client.force_login(make_member(study))
    assert client.post(address, {"units": []}, content_type="application/json").status_code == 404


@pytest.mark.django_db
def test_lists_are_for_admins_analysts_look(client):
    study = make_scu_study()
    reference = Reference.objects.get()
    address = reverse("scu-list", args=[study.slug, reference.pk])
    client.force_login(make_member(study, Role.ANALYST))
    assert client.get(address).status_code == 200
    assert client.get(reverse("scus", args=[study.slug])).status_code == 200
    assert client.post(address, {"units": "One.", "version": "0"}).status_code == 403
    client.force_login(make_member(study))
    assert client.get(address).status_code == 403
    client.force_login(make_member(study, Role.ADMIN))
    assert client.post(address, {"units": "", "version": "0"}).status_code == 422
    assert client.post(address, {"units": "One.", "version": "9"}).status_code == 409
    assert client.post(address, {"units": "One.", "version": "0"}).status_code == 302
    assert "As of version 1" in client.get(address, {"version": "1"}).text


@pytest.mark.django_db
def test_one_scu_is_told_as_one_and_odd_versions_are_no_numbers(client):
    study = make_scu_study()
    address = reverse("scu-list", args=[study.slug, Reference.objects.get().pk])
    client.force_login(make_member(study, Role.ADMIN))
    assert client.post(address, {"units": "One.", "version": "²"}).status_code == 409
    page = client.post(address, {"units": "One.", "version": "0"}, follow=True).text
    assert "Frozen: version 1, 1 SCU." in page
    for odd_number in ("²", "9" * 5000):
        assert client.get(address, {"version": odd_number}).status_code == 200
