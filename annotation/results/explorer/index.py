"""What the Explorer needs worked out beforehand: human scores, who was dropped and why, disagreements, words."""

from __future__ import annotations

import re
from typing import Any

from django.db import connection, transaction
from django.utils.translation import gettext

from analysis.lazy import pandas as pd
from analysis.tables.batches import rater_name
from annotation.common import clock
from annotation.common.errors import Refused
from annotation.common.text import plain
from annotation.common.translation import to_column
from annotation.jobs import Progress, kind
from annotation.models import (
    ContentUnit,
    Disagreement,
    Document,
    Dropped,
    Exploration,
    FilterDecision,
    HumanScore,
    Job,
    Reference,
    Score,
    Study,
)
from annotation.tables.trusted import Trusted, chosen_batches, human_scores, trusted_judgments

PORTION = 2000


@kind("explore")
def explore_job(job: Job, progress: Progress) -> str:
    """Without a metric: go through the study. With one: compare it with a measure."""
    measure, metric = job.options.get("measure", ""), job.options.get("metric", "")
    if metric:
        compare(job.study, measure, metric)
    else:
        refresh(job.study, progress)
    return gettext("The Explorer is up to date.")


def refresh(study: Study, progress: Progress = lambda *_: None) -> None:
    """Go through the whole study once; the results that people have asked for are made anew."""
    trusted = trusted_judgments(study)
    human = None if trusted.judgments.empty else human_scores(study, trusted.judgments)
    pairs = list(Exploration.objects.filter(study=study).exclude(metric="").values_list("measure", "metric"))
    with transaction.atomic():
        _store_human(study, human)
        _store_dropped(study, trusted)
        store_words(study, progress)
        facts = {
            "measures": [] if human is None else sorted(set(human["metric"])),
            "metrics": list(study.scores.values_list("metric", flat=True).distinct().order_by("metric")),
            "batches": batch_facts(study),
        }
        _note(study, "", "", facts, trusted.decision)
    for measure, metric in pairs:
        try:
            compare(study, measure, metric)
        except Refused:  # its scores are gone: the next one who asks is told
            Exploration.objects.filter(study=study, measure=measure, metric=metric).delete()


def _note(
    study: Study, measure: str, metric: str, facts: dict[str, Any], decision: FilterDecision | None
) -> Exploration:
    values = {"facts": facts, "decision": decision.pk if decision else 0, "made_at": clock.now()}
    return Exploration.objects.update_or_create(study=study, measure=measure, metric=metric, defaults=values)[0]


def _store_human(study: Study, human: pd.DataFrame | None) -> None:
    HumanScore.objects.filter(document__study=study).delete()
    if human is None:
        return
    documents = dict(study.documents.values_list("doc_id", "pk"))
    systems = {(name, group): key for key, name, group in study.systems.values_list("pk", "name", "group")}
    groups = human["group"] if "group" in human else [""] * len(human)
    rows = zip(human["doc_id"], human["system"], groups, human["metric"], human["value"], strict=True)
    scores = (
        HumanScore(
            document_id=documents[doc],
            system_id=systems[system, group],
            measure=measure,
            value=None if pd.isna(value) else float(value),
        )
        for doc, system, group, measure, value in rows
        if doc in documents  # not of a whole system
    )
    HumanScore.objects.bulk_create(scores, batch_size=PORTION)


def batch_facts(study: Study) -> list[Any]:
    """The batch rule and the batches that are chosen: what was worked out under others is out of date."""
    return [study.batch_rule, chosen_batches(study)]


def _store_dropped(study: Study, trusted: Trusted) -> None:
    Dropped.objects.filter(study=study).delete()
    decisions = trusted.drops
    documents = dict(study.documents.values_list("doc_id", "pk")) if decisions else {}
    workers = dict(study.workers.values_list("pseudonym", "pk")) if decisions else {}
    raters = trusted.choice.workers
    batches = dict(study.batches.values_list("name", "pk")) if raters else {}
    batch_of = {rater_name(worker, first): batches.get(first) for (worker, _), first in trusted.choice.raters.items()}
    rows = (
        Dropped(
            study=study,
            worker_id=workers[raters.get(decision.worker_id, decision.worker_id)],
            batch_id=batch_of.get(decision.worker_id),
            document_id=documents[decision.item["doc_id"]] if "doc_id" in decision.item else None,
            system=decision.item.get("system", ""),
            rule=str(decision.rule)[:100],
            reason=to_column(decision.reason),
        )
        for decision in decisions
    )
    Dropped.objects.bulk_create(rows, batch_size=PORTION)


def compare(study: Study, measure: str, metric: str) -> Exploration:
    """Store how far a metric and a human measure are apart on each document."""
    from analysis.correlate.disagreement import disagreement
    from analysis.tables import AnalysisError

    names = ["doc_id", "system"]
    human = HumanScore.objects.filter(document__study=study, measure=measure).values_list("document", "system", "value")
    scored = Score.objects.filter(study=study, metric=metric, document__isnull=False)
    human_frame = pd.DataFrame.from_records(human.iterator(PORTION), columns=[*names, "human"])
    values = scored.values_list("document", "system", "value")
    metric_frame = pd.DataFrame.from_records(values.iterator(PORTION), columns=[*names, "metric"])
    try:
        both = human_frame.astype({"human": float}).merge(metric_frame.astype({"metric": float}), on=names)
        result = disagreement(both)
    except AnalysisError as error:
        raise Refused(str(error)) from None
    scales = {"human": [result.human.mean, result.human.sd], "metric": [result.metric.mean, result.metric.sd]}
    with transaction.atomic():
        exploration = _note(study, measure, metric, {**scales, "n": len(result.summaries)}, study.filter_in_force())
        exploration.disagreements.all().delete()
        columns = (result.documents[name].tolist() for name in ("doc_id", "value", "n"))
        rows = (
            Disagreement(exploration=exploration, document_id=document, value=value, summaries=n)
            for document, value, n in zip(*columns, strict=True)
        )
        Disagreement.objects.bulk_create(rows, batch_size=PORTION)
    return exploration


# Words


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def store_words(study: Study, progress: Progress = lambda *_: None) -> None:
    """Index the words of each document: its id, source, references and SCUs."""
    documents = study.documents.order_by("pk")
    total, last, n_done = documents.count(), 0, 0
    with connection.cursor() as cursor:
        key = "id" if connection.vendor == "postgresql" else "rowid"
        of_study = "SELECT id FROM annotation_document WHERE study_id = %s"
        cursor.execute(f"DELETE FROM annotation_documentwords WHERE {key} IN ({of_study})", [study.pk])  # noqa: S608
        value = "to_tsvector('simple', %s)" if connection.vendor == "postgresql" else "%s"
        insert = f"INSERT INTO annotation_documentwords ({key}, words) VALUES (%s, {value})"  # noqa: S608
        while portion := list(documents.filter(pk__gt=last)[:PORTION]):
            cursor.executemany(insert, _texts(portion))
            last, n_done = portion[-1].pk, n_done + len(portion)
            progress(n_done, total)


def _texts(documents: list[Document]) -> list[tuple[int, str]]:
    texts = {document.pk: [document.doc_id, plain(document.source)] for document in documents}
    for key, text in Reference.objects.filter(document__in=texts).values_list("document", "text"):
        texts[key].append(plain(text))
    for key, text in ContentUnit.objects.in_force().filter(document__in=texts).values_list("document", "text"):
        texts[key].append(text)
    # tsvector holds at most a megabyte; both engines get the same words.
    return [(key, " ".join(words_of(" ".join(passages)))[:400_000]) for key, passages in texts.items()]
