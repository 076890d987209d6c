"""SummaQA: how well a model answers questions about the document when it reads the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis import sentence
from scoring.base import Readiness, Requirement, library_version
from scoring.metrics.summaqa import questions
from scoring.metrics.summaqa.questions import Question
from scoring.models.head_family import ANSWERS, LONG, HeadFamily, LoadedModel
from scoring.options import Option
from scoring.registry import metric
from scoring.texts import Document, Text, is_empty, joined


@dataclass(frozen=True)
class Answer:
    """What a model found in a text."""

    text: str
    probability: float
    """That of its start times that of its end."""
    is_cut: bool
    """Whether the text was longer than the model reads."""


@metric(
    "summaqa-f",
    "summaqa-prob",
    title="Questions about the document's names, answered from the summary: overlap of answers, and confidence",
    citation="Scialom et al. 2019, Answers Unite! Unsupervised Metrics for Reinforced Summarization Models",
    reference="the authors' code (summa-qa), its answers read from the summary's text",
    needs=("source", "question answering model", "entity recogniser"),
    options=(
        Option(
            "model",
            "bert-large-uncased-whole-word-masking-finetuned-squad",
            "a question answering model: a folder or a name of the hub that is here",
        ),
        Option(
            "entities",
            "en_core_web_sm",
            "who finds the names: a spaCy pipeline (package or folder), or capitals, a rule that needs no model",
        ),
    ),
    hidden=(LONG,),
)
class SummaQA(HeadFamily):
    """The mean over all questions about the document."""

    head = ANSWERS

    def requires(self) -> Sequence[Requirement]:
        name = self.options["entities"]
        return (*super().requires(), *([] if name == questions.CAPITALS else [questions.requirement(name)]))

    def ready(self) -> Readiness:
        states = [super().ready(), questions.readiness(self.options["entities"])]
        missing = [state.missing for state in states if not state.ok]
        return Readiness(not missing, sentence.join_sentences(missing))

    def versions(self) -> Mapping[str, str]:
        facts = {**super().versions(), "entities": questions.version(self.options["entities"])}
        return {**facts, "pysbd": library_version("pysbd")}

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        question_list = questions.questions(document.source or "", self.options["entities"])
        rows = []
        for summary in summaries:
            values = self._measure(question_list, summary)
            rows.append([values[column] for column in columns])
        return rows

    def _measure(self, question_list: Sequence[Question], summary: Text) -> dict[str, float]:
        if not question_list:  # a document without names asks nothing
            return {"summaqa-f": float("nan"), "summaqa-prob": float("nan"), LONG: 0.0}
        if is_empty(summary):
            return {"summaqa-f": 0.0, "summaqa-prob": 0.0, LONG: 0.0}
        text = joined(summary)
        answers = [answer(self.loaded, question.text, text) for question in question_list]
        overlaps = [questions.overlap(reply.text, q.answer) for reply, q in zip(answers, question_list, strict=True)]
        return {
            "summaqa-f": sum(overlaps) / len(question_list),
            "summaqa-prob": sum(reply.probability for reply in answers) / len(question_list),
            LONG: float(any(reply.is_cut for reply in answers)),
        }


def answer(model: LoadedModel, question: str, text: str) -> Answer:
    """The likeliest start and the likeliest end in the text, each on its own; an end before the start is no answer."""
    torch = model.torch
    read = model.tokenizer(
        question, text, truncation="longest_first", max_length=model.limit, return_offsets_mapping=True
    )
    inside = [place for place, sequence in enumerate(read.sequence_ids()) if sequence == 1]
    spans = read["offset_mapping"]
    fields = [name for name in model.tokenizer.model_input_names if name in read]
    with model.steady(), torch.inference_mode():
        output = model.model(**{name: torch.tensor([read[name]], device=model.device) for name in fields})
        starts = torch.softmax(output.start_logits[0].double().cpu(), -1)[inside]
        ends = torch.softmax(output.end_logits[0].double().cpu(), -1)[inside]
    if not inside:
        return Answer("", 0.0, True)
    first, last = int(starts.argmax()), int(ends.argmax())
    words = text[spans[inside[first]][0] : spans[inside[last]][1]] if first <= last else ""
    is_cut = spans[inside[-1]][1] < len(text.rstrip())
    return Answer(words, float(starts[first] * ends[last]), is_cut)
