"""One call that shows how a score came about, for any metric."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from scoring import registry
from scoring.base import Metric
from scoring.explain.explanation import Explanation, Passage
from scoring.texts import Document, Text, as_text, in_lines


def explain(
    metric: str | Metric,
    summary: object,
    references: object = None,
    source: object = None,
    *,
    corpus: Iterable[Document] | None = None,
    summaries: Iterable[Text] | None = None,
) -> Explanation:
    """Marks, counts and steps behind one score. Each text is a string or a list of sentences.

    A metric of a corpus (CIDEr, MoverScore) gives the score that it has among the documents of `corpus` and the
    summaries of a run.
    """
    metric = registry.get(metric) if isinstance(metric, str) else metric
    text = as_text(summary)
    document = metric.document(references, source)
    family = metric.family if corpus is None else metric.family.fit_corpus(corpus)
    family = family if summaries is None else family.fit_summaries(summaries)
    ((value,),) = family.score(document, [text], [metric.base])
    explanation = family.explain(metric.base, document, text) or _plain(metric, document, text)
    return replace(explanation, metric=metric.name, value=value, signature=family.signature(metric.base))


def _plain(metric: Metric, document: Document, summary: Text) -> Explanation:
    """The texts and nothing more, for metrics that have no marks."""
    passages = [Passage("Summary", in_lines(summary))]
    if "references" in metric.needs:
        passages += [Passage(f"Reference {i}", in_lines(text)) for i, text in enumerate(document.references, start=1)]
    if "source" in metric.needs and document.source is not None:
        passages.append(Passage("Source", in_lines(document.source)))
    return Explanation(metric.name, 0.0, "", tuple(passages), (), (f"{metric.family.description.title}.",))
