"""The Explorer: any document with everything about it, found by words or by disagreement, each view an address."""

import re

import pandas as pd
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analysis.correlate.disagreement import disagreement
from analysis.tables import AnalysisError
from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import (
    Disagreement,
    Document,
    Exploration,
    FilterDecision,
    HumanScore,
    Role,
    Score,
    Study,
    Summary,
)
from annotation.protocols import of as protocol_of
from annotation.results.explorer.document import document_page
from annotation.results.explorer.index import compare, refresh
from annotation.results.explorer.lists import PER_PAGE, ListQuery, list_page
from tests.browser.looking import markup
from tests.factories import make_batch, make_member, make_study, make_user, make_worker

pytestmark = pytest.mark.django_db


def make_judged_study(documents: int = 3, systems: int = 2) -> Study:
    """Three workers; two say yes where (document + system) is even, the third always says no."""
    study = make_study(documents=documents, systems=systems)
    batch = make_batch(study, quota=3)
    places = {
        summary.pk: int(summary.document.doc_id[3:]) + int(summary.system.name[6:])
        for summary in Summary.objects.filter(document__study=study).select_related("document", "system")
    }
    for n, worker in enumerate([make_worker(study) for _ in range(3)]):
        for _ in range(batch.tasks.count()):
            assignment = lease_task(batch, worker)
            value = "1" if n < 2 and places[assignment.task.summary_id] % 2 == 0 else "0"
            answers = {item.field: value for item in protocol_of(batch).items(assignment)}
            submit_judgments(worker, assignment.key, answers, assignment.key)
    Score.objects.bulk_create(
        Score(study=study, document=summary.document, system=summary.system, metric="m", value=places[summary.pk])
        for summary in Summary.objects.filter(document__study=study).select_related("document", "system")
    )
    return study


# The statistic


def test_disagreement_is_the_mean_size_of_standardised_differences():
    # human 0, 1, 1, 0: mean 1/2, sd 1/2, z = -1, 1, 1, -1. metric 1, 3, 1, 3: mean 2, sd 1, z = -1, 1, -1, 1.
    pairs = pd.DataFrame({"doc_id": ["a", "a", "b", "b"], "human": [0, 1, 1, 0], "metric": [1, 3, 1, 3]})
    result = disagreement(pairs)
    assert result.summaries["difference"].tolist() == [0, 0, -2, 2]
    assert result.documents.set_index("doc_id")["value"].to_dict() == {"a": 0, "b": 2}
    assert result.documents["n"].tolist() == [2, 2]


def test_a_straight_line_of_the_human_scores_disagrees_nowhere():
    human = pd.Series([0.1, 0.4, 0.9, 0.3])
    result = disagreement(pd.DataFrame({"doc_id": list("aabb"), "human": human, "metric": 7 * human + 2}))
    assert result.documents["value"].max() < 1e-12


@pytest.mark.parametrize("metric", [[1, 1], [1, None]])
def test_scores_that_cannot_be_standardised_are_refused_in_a_sentence(metric):
    with pytest.raises(AnalysisError, match="nothing to compare"):
        disagreement(pd.DataFrame({"doc_id": ["a", "b"], "human": [0, 1], "metric": metric}))


# Who may look


def test_the_explorer_is_for_admins_and_analysts(client):
    study = make_study()
    document = study.documents.get()
    for path in ("", f"{document.pk}/"):
        address = f"/studies/{study.slug}/explorer/{path}"
        client.logout()
        assert client.get(address).url.startswith("/sign-in/")
        for role, status in ((Role.ADMIN, 200), (Role.ANALYST, 200), (Role.ANNOTATOR, 403)):
            client.force_login(make_member(study, role))
            assert client.get(address).status_code == status
        client.force_login(make_user())
        assert client.get(address).status_code == 404
    client.force_login(make_member(study, Role.ADMIN))
    other_document = make_study().documents.get()
    assert client.get(f"/studies/{study.slug}/explorer/{other_document.pk}/").status_code == 404


# What is worked out beforehand


def test_human_scores_are_the_reports_and_dropped_workers_have_their_reason():
    study = make_judged_study()
    FilterDecision.objects.create(study=study, rules=["majority-dissent"])
    refresh(study)
    # Without the third worker every SCU of an even summary is present, and none of an odd one.
    assert set(HumanScore.objects.values_list("value", flat=True)) == {0.0, 1.0}
    assert study.dropped.count() == 3  # the one who said no, on each of the three even summaries
    assert all(drop.reason and drop.rule.startswith("majority-dissent") for drop in study.dropped.all())
    assert all(str(drop).startswith("Outvoted on ") for drop in study.dropped.all())
    facts = study.explorations.get().facts
    measures = ["litepyramid_recall", "pyramid_score"]
    assert facts == {"measures": measures, "metrics": ["m"], "batches": ["latest", []]}


def test_refreshing_twice_changes_nothing_and_makes_comparisons_anew():
    study = make_judged_study()
    refresh(study)
    compare(study, "litepyramid_recall", "m")
    before = list(Disagreement.objects.order_by("document").values_list("document", "value"))
    FilterDecision.objects.create(study=study, rules=["majority-dissent"])
    refresh(study)
    refresh(study)
    assert Exploration.objects.count() == 2
    assert HumanScore.objects.count() == 6 * 2  # summaries × measures
    assert [row[0] for row in before] == list(
        Disagreement.objects.order_by("document").values_list("document", flat=True)
    )


# The list


@pytest.fixture
def reader(client):
    study = make_judged_study(documents=4)
    refresh(study)
    compare(study, "litepyramid_recall", "m")
    client.force_login(make_member(study, Role.ANALYST))
    return client, study, f"/studies/{study.slug}/explorer/"


def rows_of(page: str) -> list[str]:
    return re.findall(r'<th scope="row"><a href="[^"]+"[^>]*>([^<]+)</a>', markup(page))


@pytest.mark.postgres
@pytest.mark.sqlite
def test_documents_come_by_name_or_by_disagreement(reader):
    client, _, address = reader
    assert rows_of(client.get(address).content.decode()) == ["doc0", "doc1", "doc2", "doc3"]
    page = client.get(f"{address}?metric=m&sort=disagreement").content.decode()
    order = list(Disagreement.objects.order_by("-value", "document").values_list("document__doc_id", flat=True))
    assert rows_of(page) == order
    assert len({round(value, 6) for value in Disagreement.objects.values_list("value", flat=True)}) > 1
    assert "standardised over the 8 summaries" in page  # the page says how it is counted


@pytest.mark.postgres
@pytest.mark.sqlite
def test_words_find_documents(reader):
    client, study, address = reader
    Document.objects.filter(doc_id="doc2").update(source="Ein schönes Fährboot, said the council.")
    refresh(study)
    for words, docs in {
        "Fährboot": ["doc2"],
        "fährb": [],
        "COUNCIL schönes": ["doc2"],
        "council nothing": [],
        "doc1": ["doc1"],
        "\"; DROP TABLE ' * (": [],
        "!!": [],
        "source text": ["doc0", "doc1", "doc3"],
    }.items():
        page = client.get(address, {"q": words})
        assert page.status_code == 200
        assert rows_of(page.content.decode()) == docs, words
    assert "No document has these words" in client.get(address, {"q": "nowhere"}).content.decode()
    by_both = client.get(address, {"q": "source text", "metric": "m", "sort": "disagreement"}).content.decode()
    assert sorted(rows_of(by_both)) == ["doc0", "doc1", "doc3"]


@pytest.mark.parametrize("sort", ["name", "disagreement"])
def test_pages_forth_and_back_hold_every_document_once(sort):
    study = make_study(documents=2, systems=1)
    system = study.systems.get()
    documents = Document.objects.bulk_create(
        Document(study=study, doc_id=f"more{n:03}", source="Text.") for n in range(2 * PER_PAGE + 3)
    )
    HumanScore.objects.bulk_create(
        HumanScore(document=document, system=system, measure="r", value=n % 4) for n, document in enumerate(documents)
    )
    Score.objects.bulk_create(
        Score(study=study, document=document, system=system, metric="m", value=n % 3)
        for n, document in enumerate(documents)
    )
    user = make_member(study, Role.ADMIN)
    Exploration.objects.create(study=study, facts={"measures": ["r"], "metrics": ["m"]}, made_at="2026-01-01T00:00:00Z")
    compare(study, "r", "m")
    query, pages = ListQuery(sort=sort, metric="m"), []
    while True:
        page = list_page(study, query, user)
        pages.append([line.document.pk for line in page.lines])
        if not page.next:
            break
        query = ListQuery(sort=sort, metric="m", after=pages[-1][-1])
    keys = [key for page_keys in pages for key in page_keys]
    assert len(keys) == len(set(keys)) == page.total == (2 * PER_PAGE + 5 if sort == "name" else 2 * PER_PAGE + 3)
    previous = list_page(study, ListQuery(sort=sort, metric="m", before=pages[-1][0]), user)
    assert [line.document.pk for line in previous.lines] == pages[-2]
    middle = document_page(study, pages[1][3], ListQuery(sort=sort, metric="m"), user)
    assert (middle.previous, middle.next) == (pages[1][2], pages[1][4])


def test_an_address_holds_the_whole_view():
    query = ListQuery(q="a b", sort="disagreement", measure="r", metric="rouge-1-f[stem]", after=7, system=3)
    from django.http import QueryDict

    assert ListQuery.read(QueryDict(query.link()[1:]).dict()) == query
    assert ListQuery().link() == "?"
    assert ListQuery.read({"after": "x", "sort": "up", "system": "-1", "q": "a\x00"}) == ListQuery(q="a")


# The document


def test_a_document_shows_texts_systems_units_and_judges(reader):
    client, study, address = reader
    FilterDecision.objects.create(study=study, rules=["majority-dissent"])
    refresh(study)
    document = study.documents.get(doc_id="doc0")
    system = study.systems.get(name="system0")
    page = client.get(f"{address}{document.pk}/?metric=m&system={system.pk}").content.decode()
    page = markup(page)
    for text in (
        "Source text number 0.",
        "Reference number 0.",
        "Summary of document 0 by system1.",
        "Fact 2 of document 0.",
    ):
        assert text in page
    assert "● 2/2" in page  # the two who agree
    assert "○ 0/3" in page
    assert page.count("✓ kept") == 2
    assert page.count("✕ left out") == page.count("left out: ") == 1  # the third worker, with the reason below
    assert "Outvoted on" in page
    german = client.get(f"{address}{document.pk}/?metric=m&system={system.pk}", headers={"accept-language": "de"})
    assert "Einheiten überstimmt (" in german.content.decode()
    assert "6 answers kept, 3 left out" in page
    assert all(worker.pseudonym in page for worker in study.workers.all())
    assert 'rel="next"' in page
    assert 'rel="prev"' not in page


def test_a_document_that_nobody_has_judged_says_so(client):
    study = make_study()
    client.force_login(make_member(study, Role.ADMIN))
    page = client.get(f"/studies/{study.slug}/explorer/{study.documents.get().pk}/").content.decode()
    assert "Nobody has judged this summary yet" in page
    Summary.objects.all().delete()
    page = client.get(f"/studies/{study.slug}/explorer/{study.documents.get().pk}/").content.decode()
    assert "No system has summarised this document" in page
    study.documents.all().delete()
    assert "No document yet" in client.get(f"/studies/{study.slug}/explorer/").content.decode()


def test_the_number_of_queries_does_not_grow(client):
    def queries(study: Study) -> tuple[int, int]:
        refresh(study)
        compare(study, "litepyramid_recall", "m")
        client.force_login(make_member(study, Role.ADMIN))
        counts = []
        for path in ("", f"{study.documents.first().pk}/"):
            with CaptureQueriesContext(connection) as captured:
                query = {"metric": "m", "sort": "disagreement"}
                assert client.get(f"/studies/{study.slug}/explorer/{path}", query).status_code == 200
            counts.append(len(captured))
        return counts[0], counts[1]

    assert queries(make_judged_study(documents=2, systems=2)) == queries(make_judged_study(documents=5, systems=4))


@pytest.mark.django_db(transaction=True)
def test_the_first_look_starts_the_work_and_a_new_filter_renews_it(client):
    study = make_judged_study()
    client.force_login(make_member(study, Role.ADMIN))
    address = f"/studies/{study.slug}/explorer/"
    client.get(address, {"metric": "m", "sort": "disagreement"})
    assert study.explorations.count() == 2
    assert study.jobs.filter(kind="explore").count() == 2
    client.get(address, {"metric": "m"})
    assert study.jobs.filter(kind="explore").count() == 2
    FilterDecision.objects.create(study=study, rules=["majority-dissent"])
    client.get(address)
    assert study.dropped.exists()
    client.post(f"{address}refresh/")
    assert study.jobs.filter(kind="explore", state="done").count() == 4


@pytest.mark.parametrize("rule", ["latest", "separate"])
def test_a_revised_answer_counts_once_and_the_first_one_is_shown_as_left_out(client, rule):
    study = make_study(units=1)
    study.batch_rule = rule
    study.save()
    worker = make_worker(study)
    for number in (1, 2):
        batch = make_batch(study)
        batch.round = number
        batch.save()
        assignment = lease_task(batch, worker)
        (item,) = protocol_of(batch).items(assignment)
        submit_judgments(worker, assignment.key, {item.field: str(number - 1)}, assignment.key)
    refresh(study)
    reader = make_member(study, Role.ANALYST)
    page = document_page(study, study.documents.get().pk, ListQuery(), reader)
    (unit,) = page.units
    assert (unit.cells[0].n, unit.cells[0].mean) == (1, 1.0)  # "yes", of the second round
    assert (page.columns[0].n_kept, page.columns[0].n_dropped) == (1, 1)
    client.force_login(reader)
    text = client.get(f"/studies/{study.slug}/explorer/{study.documents.get().pk}/").content.decode()
    assert text.count("The worker revised this in a later round.") == 1
