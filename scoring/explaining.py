"""One call that shows how a score came about, for any metric."""

from __future__ import annotations

from dataclasses import replace

from scoring import registry
from scoring.base import Metric
from scoring.marks import Explanation, Passage
from scoring.texts import Text, as_references, as_text


def explain(metric: str | Metric, summary: object, references: object = None, source: object = None) -> Explanation:
    """Marks, counts and steps behind one score. Each text is a string or a list of sentences."""
    one = registry.get(metric) if isinstance(metric, str) else metric
    text = as_text(summary)
    document = one.document(references, source)
    value = one.evaluate_example(text, references, source)[one.name]
    found = one.family.explain(one.base, document, text)
    if found is None:
        passages = [Passage("Summary", _shown(text))]
        if "references" in one.needs:
            texts = as_references(references)
            passages += [Passage(f"Reference {i}", _shown(ref)) for i, ref in enumerate(texts, start=1)]
        if "source" in one.needs and document.source is not None:
            passages.append(Passage("Source", _shown(document.source)))
        steps = (f"{one.family.card.title}: {value:.5f}.",)
        found = Explanation(one.name, value, one.signature, tuple(passages), (), steps)
    return replace(found, metric=one.name, value=value, signature=one.signature)


def _shown(text: Text) -> str:
    return text if isinstance(text, str) else "\n".join(text)
