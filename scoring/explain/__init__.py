"""One call that shows how a score came about, for any metric."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from scoring import registry
from scoring.base import Metric
from scoring.explain.explanation import Explanation, Passage
from scoring.texts import Document, Text, as_text


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
    one = registry.get(metric) if isinstance(metric, str) else metric
    text = as_text(summary)
    document = one.document(references, source)
    family = one.family if corpus is None else one.family.fit_corpus(corpus)
    family = family if summaries is None else family.fit_summaries(summaries)
    ((value,),) = family.score(document, [text], [one.base])
    found = family.explain(one.base, document, text) or _plain(one, document, text)
    return replace(found, metric=one.name, value=value, signature=family.signature(one.base))


def _plain(one: Metric, document: Document, summary: Text) -> Explanation:
    """The texts and nothing more, for metrics that have no marks."""
    passages = [Passage("Summary", _shown(summary))]
    if "references" in one.needs:
        passages += [Passage(f"Reference {i}", _shown(text)) for i, text in enumerate(document.references, start=1)]
    if "source" in one.needs and document.source is not None:
        passages.append(Passage("Source", _shown(document.source)))
    return Explanation(one.name, 0.0, "", tuple(passages), (), (f"{one.family.description.title}.",))


def _shown(text: Text) -> str:
    return text if isinstance(text, str) else "\n".join(text)
