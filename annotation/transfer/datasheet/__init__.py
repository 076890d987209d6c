"""A study's datasheet (HEDS) and dataset card, as Markdown and as pages that stand alone."""

from dataclasses import dataclass
from functools import cached_property

from django.template.loader import render_to_string
from django.utils.translation import override

from annotation.common.markdown import render_markdown
from annotation.models import Study
from annotation.transfer.datasheet.dataset_card import card, front_matter
from annotation.transfer.datasheet.heds import Section, heds
from annotation.transfer.datasheet.study_facts import Facts, facts_of

TITLES = {"datasheet": "Human evaluation datasheet", "card": "Dataset card"}
MARK = "**To be answered:**"


@dataclass(frozen=True)
class Datasheet:
    """Both sheets of a study. What the platform can't know is a marked question, never a guess."""

    study: Study
    facts: Facts

    @cached_property
    def heds(self) -> list[Section]:
        return heds(self.facts)

    @cached_property
    def card(self) -> list[Section]:
        with override("en"):
            return card(self.facts)

    def sections(self, sheet: str) -> list[Section]:
        return self.heds if sheet == "datasheet" else self.card

    @property
    def n_answered(self) -> int:
        return sum(bool(question.answer) for section in self.heds for question in section.questions)

    @property
    def n_questions(self) -> int:
        return sum(len(section.questions) for section in self.heds)

    def markdown(self, sheet: str = "datasheet") -> str:
        """A whole document; a card begins with the front matter that dataset hubs read."""
        front = f"{front_matter(self.facts)}\n" if sheet == "card" else ""
        return front + self._body(sheet)

    def html(self, sheet: str = "datasheet") -> str:
        """A page that works from disk."""
        title = f"{TITLES[sheet]}: {self.study.name}"
        context = {"title": title, "body": render_markdown(self._body(sheet))}
        return render_to_string("annotation/transfer/datasheet_file.html", context)

    def file(self, sheet: str, suffix: str) -> str:
        return self.markdown(sheet) if suffix == "md" else self.html(sheet)

    def _body(self, sheet: str) -> str:
        blocks = [f"# {TITLES[sheet]}: {_plain(self.study.name)}"]
        if sheet == "datasheet":
            blocks.append(
                f"{self.n_answered} of {self.n_questions} questions are answered from what the platform recorded; the "
                f"others are marked “{MARK.strip('*')}” and wait for the people of the study. Sections and numbers "
                "follow HEDS (Shimorina and Belz 2022; version 3.0, Belz and Thomson 2024)."
            )
        for section in self.sections(sheet):
            blocks.append(f"## {_plain(section.title)}")
            for question in section.questions:
                head = question.number if sheet == "card" else f"{question.number} {question.text}"
                blocks.append(f"### {head}\n\n{_answer(question.answer, question.text if sheet == 'card' else '')}")
        if sheet == "datasheet" and self.facts.instructions and self.facts.judged_here:
            blocks.append("## Appendix: instructions, as evaluators read them")
            blocks += [f"### {name}\n\n{_quoted(text.body)}" for name, text in self.facts.instructions.items()]
        return "\n\n".join(blocks) + "\n"


def _answer(answer: str, question: str) -> str:
    return _plain(answer, keep="`") if answer else " ".join(filter(None, (MARK, question, "______")))


def _plain(text: str, keep: str = "") -> str:
    """Names of studies and systems stand in the document as they are, whatever they hold."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|" and letter not in keep else letter for letter in text)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def datasheet(study: Study) -> Datasheet:
    return Datasheet(study, facts_of(study))
