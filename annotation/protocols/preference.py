"""Preference: two summaries of a document side by side; which is better? (Bradley and Terry 1952; Davidson 1970)

A judgment says of one of the two (`summary`) whether it is better than the other, which its unit names: `vs NAME`. 1 is
better, -1 worse, 0 a tie, whoever stood on the left; `position` says that. Pages speak of A (left) and B: there 1 is A.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.common.errors import BadAnswers, Refused
from annotation.common.text import plain
from annotation.models import Assignment, Batch, Judgment, PracticeItem, Summary, Task

from .base import Answer, Item, Protocol, answer_value, named
from .descriptions import Choice, ContestedRule, Criterion, OptionField, PracticeText
from .likert import paragraphs

if TYPE_CHECKING:
    import pandas as pd

VERSUS, CHECK = "vs ", "check "
LONGEST_NAME = 90  # of a system, so that a unit can name it
LONGEST = 1000  # characters of a reason
REASON = ":reason"  # a form without script sends the reason in a field of its own
FEWEST_WORDS = 5  # of a summary whose words can be shuffled for a check

INSTRUCTIONS = """\
## What to do

You see two summaries of one article, A and B. Which one is better? Say A or B; where it is offered, say that there is
no difference if after a second look you still can't tell.

A good summary says what matters in the article, says nothing that the article doesn't, and reads well. Being longer is
no merit by itself. If you aren't sure whether something is true, open the article above the summaries.

## Worked examples

> **Article (in short):** The council voted 11 to 4 to keep the night ferry. Harbour parking rises from 2 to 3 crowns.

| A | B | Better | Why |
|---|---|---|---|
| The council kept the night ferry. | The council dropped the night ferry. | A | B says the opposite. |
| The council voted. | The night ferry stays, and parking pays for it. | B | A says nothing of what was decided. |
| Ferry kept, parking up. | Parking goes up; the ferry stays. | no difference | The same facts, about as well said. |

Which one stands on the left was drawn by chance.

## Keys

`1` is A, `2` is B, `0` is no difference, `u` takes back, `?` shows help.
"""


def _contested_pairs(judgments: "pd.DataFrame", **thresholds: float) -> "pd.DataFrame":
    from analysis.agreement.contested import contested_units

    return contested_units(judgments, **thresholds)


class Preference(Protocol):
    name = "preference"
    title = _("Preference")
    work = _("Say which of two summaries is better")
    template = "annotation/judging/preference.html"
    scale_min, scale_max = -1, 1
    level = "nominal"
    rates_dimensions = False
    compares = True
    shows_source = True
    contested_rule = ContestedRule(
        _("A pair is contested where no answer has more than this share of the voices; then everybody looks again."),
        {"majority": 0.5},
        _contested_pairs,
    )
    instructions = INSTRUCTIONS
    practice_question = _("Two summaries of one article")
    practice_label = _("The system that it is compared with")
    usual_minutes = 2
    asks = "preferences between two summaries of a document"
    shows = "two unlabelled summaries side by side, which is left drawn by chance; source and reference on demand"

    # Planning

    def option_fields(self) -> dict[str, Any]:
        return {
            "pairs": 0,
            "between": [],
            "ties": True,
            "strength": False,
            "reason": False,
            "reference": True,
            "check_pairs": 0,
            "seed": 0,
        }

    def option_form(self) -> list[OptionField]:
        return [
            OptionField("pairs", _("Pairs per document"), "number", _("0: all of them. Otherwise a balanced choice.")),
            OptionField("ties", _("Offer “no difference”"), "flag"),
            OptionField("strength", _("Ask whether it is a little or much better"), "flag"),
            OptionField("reason", _("Ask for a reason"), "flag", _("Nobody must give one.")),
            OptionField("reference", _("Offer the reference beside the article"), "flag"),
            OptionField(
                "check_pairs",
                _("Check pairs per document"),
                "number",
                _("A summary beside itself with its words shuffled. Nobody sees which they are."),
            ),
            OptionField("seed", _("Seed"), "number", _("What is drawn by chance follows from it.")),
        ]

    def options(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        options = super().options(overrides)
        for name in ("pairs", "check_pairs"):
            if type(options[name]) is not int or not 0 <= options[name] <= 10_000:
                raise ValueError(f"{name} is {options[name]!r}, but must be a whole number from 0 to 10,000.")
        if not isinstance(options["between"], list):
            raise ValueError(f"between is {options['between']!r}, but must be a list of pairs of systems.")
        for pair in options["between"]:
            if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
                raise ValueError(f"A pair is {pair!r}, but must be two names of systems.")
            if pair[0] == pair[1]:
                raise ValueError(f"{pair[0]} can't be compared with itself; a pair has two systems.")
        return options

    def tasks(self, batch: Batch, quota: int) -> list[Task]:
        """A task per pair; all documents' first pairs come first, so that every document is begun early."""
        summaries = _systems_of(self.summaries(batch))
        _check_systems(batch, summaries)
        seed, draw = batch.options["seed"], Random(f"{batch.options['seed']}:sides")
        pairs = plan_pairs(summaries, batch.options["pairs"], seed, _wanted(batch, summaries))
        by_document: dict[int, list[dict[str, Any]]] = {document: [] for document in summaries}
        for document, first, second in pairs:
            pair = [summaries[document][first], summaries[document][second]]
            draw.shuffle(pair)
            by_document[document].append({"pair": pair})
        if batch.options["check_pairs"]:
            _mix_in_checks(by_document, summaries, batch.options["check_pairs"], seed)
        return [
            Task(batch=batch, document_id=document, part=part, quota=quota, pinned=pinned[part])
            for part in range(max(map(len, by_document.values()), default=0))
            for document, pinned in by_document.items()
            if part < len(pinned)
        ]

    # Judging

    def items(self, assignment: Assignment) -> list[Item]:
        summaries = _pair(assignment.task)
        if not summaries:
            return []  # of an imported task, whose judgments say it all
        is_check = len(summaries) == 1
        unit = f"{CHECK if is_check else VERSUS}{summaries[-1].system.name}"
        position = 1 if _is_first_left(assignment) else 2
        expected = 1.0 if is_check else None
        item = Item(summaries[0].pk, unit, gettext("Which summary is better?"), is_check, position, expected=expected)
        return named(assignment, [item])

    def values(self, task: Task) -> list[float]:
        return [1.0, 0.0, -1.0] if task.batch.options.get("ties", True) else [1.0, -1.0]

    def page(self, assignment: Assignment, answers: Mapping[str, Any]) -> dict[str, Any]:
        task, options, (item,) = assignment.task, assignment.task.batch.options, self.items(assignment)
        texts = [summary.text_shown for summary in _pair(task)] + _damaged(task)
        left, right = texts if item.position == 1 else texts[::-1]
        references = task.document.references.all() if options.get("reference", True) else ()
        return {
            "item": item,
            "value": answer_value(answers.get(item.field)),
            "sides": [("1", "A", left), ("-1", "B", right)],
            "choices": self.page_choices(task.batch),
            "asks_reason": bool(options.get("reason")),
            "reason": _reason(answers, item.field),
            "article": paragraphs(task.document.source),
            "references": [plain(reference.text) for reference in references],
        }

    def page_choices(self, batch: Batch) -> list[Choice]:
        """The buttons, from left to right."""
        first, *tie, second = self.choices(batch)
        if not batch.options.get("strength"):
            return [first, *tie, second]
        return [
            Choice("2", gettext("A is much better"), "q"),
            Choice("1", gettext("A is a little better"), "1"),
            *tie,
            Choice("-1", gettext("B is a little better"), "2"),
            Choice("-2", gettext("B is much better"), "w"),
        ]

    def check_answers(self, assignment: Assignment, form: Mapping[str, Any]) -> list[Answer]:
        """The page's answer, A or B, as one about the judged summary; how much better stands beside it."""
        strengths = {choice.value: abs(int(choice.value)) for choice in self.page_choices(assignment.task.batch)}
        turned = {}
        for item in self.items(assignment):
            value, strength = answer_value(form.get(item.field)), 0
            if value in strengths:
                strength = strengths[value]
                value = f"{_side(item) * ((int(value) > 0) - (int(value) < 0))}"
            turned[item.field] = {"value": value, "strength": strength, "reason": _reason(form, item.field)}
        return super().check_answers(assignment, turned)

    def extra_of(self, assignment: Assignment, item: Item, answer: Any) -> dict[str, Any]:
        options = assignment.task.batch.options
        strength = {"strength": answer["strength"]} if options.get("strength") and answer["strength"] else {}
        return {**strength, **({"reason": answer["reason"]} if options.get("reason") and answer["reason"] else {})}

    def answers_of(self, assignment: Assignment) -> dict[str, Any]:
        sides = {item.field: _side(item) for item in self.items(assignment)}
        return {
            field: {**content, "value": f"{int(content['value']) * content.pop('strength') * sides[field]}"}
            for field, content in super().answers_of(assignment).items()
        }

    def draft_of(self, assignment: Assignment, judgment: Judgment) -> dict[str, Any]:
        extra = judgment.extra or {}
        return {"strength": int(extra.get("strength", 1)), "reason": extra.get("reason", "")}

    # What it says of itself

    def choices(self, batch: Batch | None = None) -> list[Choice]:
        tie = [Choice("0", gettext("No difference"), "0")]
        with_ties = batch is None or batch.options.get("ties", True)
        first, second = Choice("1", gettext("A is better"), "1"), Choice("-1", gettext("B is better"), "2")
        return [first, *(tie if with_ties else []), second]

    def unit_titles(self, batch: Batch, document: int | None = None) -> dict[tuple[int, str], str]:
        """The other text: what the judged summary is compared with."""
        place = {"document__study": batch.study_id} if document is None else {"document": document}
        summaries = Summary.objects.filter(**place).select_related("system")
        titles = {(row.document_id, VERSUS + row.system.name): row.text_shown for row in summaries}
        tasks = batch.tasks.filter(pinned__has_key="damaged", **({} if document is None else {"document": document}))
        damaged = {task.pinned["pair"][0]: task.pinned["damaged"] for task in tasks.order_by("pk")}
        names = Summary.objects.filter(pk__in=damaged).values_list("pk", "document_id", "system__name")
        return {**titles, **{(key, CHECK + name): damaged[pk] for pk, key, name in names}}

    def quality_remarks(self, judgments: "pd.DataFrame") -> list[str]:
        from analysis.preferences import consistency, preferences_of, remarks

        preferences = preferences_of(judgments)
        return [] if preferences.empty else list(remarks(consistency(preferences)))

    def practice_texts(self, item: PracticeItem) -> list[PracticeText]:
        other = _summary_of(item.summary, item.question)
        texts = [item.summary.text_shown, other.text_shown if other else ""]
        return [PracticeText(_heading(letter), text) for letter, text in zip("AB", texts, strict=True)]

    def practice_asked(self, item: PracticeItem) -> str:
        return gettext("Which summary is better?")

    def check_practice(self, summary: Summary, question: str) -> None:
        other = _summary_of(summary, question)
        if other is None or other.pk == summary.pk:
            raise BadAnswers(
                gettext(
                    "“%(name)s” is no other system with a summary of this document, so there is nothing to compare. "
                    "Nothing was added."
                )
                % {"name": question[:60]}
            )

    def rehearsal_options(self) -> dict[str, Any]:
        return {"check_pairs": 1}

    def one_judgment(self, scus: int) -> str:
        return "1, 0 or −1 for one pair of summaries: whether the first is better, by one person"

    def criteria(self, batches: Iterable[Batch]) -> Iterator[Criterion]:
        yield Criterion(
            name="preference between two summaries",
            definition="Which of two summaries of the same document is better as a whole.",
            values="A is better, no difference (where the batch offers it), B is better.",
            size=3,
            instrument="Buttons under the two summaries, which stand side by side.",
            prompt="Which summary is better?",
            aggregation="A summary's win rate is the share of its comparisons in which it was preferred, a tie counts "
            "half; a system's strength is that of Bradley and Terry's model, with ties as Davidson (1970) has them.",
            kind=("goodness", "form and content", "relative to the input"),
        )


def plan_pairs(
    summaries: Mapping[int, Mapping[str, int]],
    per_document: int,
    seed: int,
    wanted: Iterable[tuple[str, str]] | None = None,
) -> list[tuple[int, str, str]]:
    """Which systems are compared on which document: all pairs, or `per_document` of them.

    Then systems that no chain of pairs connects yet come first; after that pairs, then systems, that were taken least;
    chance by the seed decides between equals. So systems are connected as early as can be, and stay balanced.
    """
    draw, join = Random(f"{seed}:pairs"), _Joined()
    wanted_pairs = None if wanted is None else {frozenset(pair) for pair in wanted}
    n_pair: dict[frozenset[str], int] = {}
    n_system: dict[str, int] = {}
    plan = []
    for document, systems in summaries.items():
        pairs = [pair for pair in combinations(sorted(systems), 2) if wanted_pairs is None or {*pair} in wanted_pairs]
        chosen = len(pairs) if not per_document else min(per_document, len(pairs))
        n_here = dict.fromkeys(systems, 0)
        for _number in range(chosen):
            pair = (
                min(
                    pairs,
                    key=lambda pair: (
                        join.are_joined(*pair),
                        max(n_here[name] for name in pair),
                        n_pair.get(frozenset(pair), 0),
                        sum(n_system.get(name, 0) for name in pair),
                        draw.random(),
                    ),
                )
                if per_document
                else pairs[0]
            )
            pairs.remove(pair)
            join.add(*pair)
            n_pair[frozenset(pair)] = n_pair.get(frozenset(pair), 0) + 1
            for name in pair:
                n_system[name], n_here[name] = n_system.get(name, 0) + 1, n_here[name] + 1
            plan.append((document, *pair))
    if not join.is_whole({name for systems in summaries.values() for name in systems}) and per_document:
        raise Refused(
            gettext(
                "So few pairs don't connect all systems, and then they can't be ranked. No batch was made: "
                "take more pairs per document, or more documents."
            )
        )
    return plan


class _Joined:
    """Which systems a chain of pairs connects."""

    def __init__(self) -> None:
        self.leader: dict[str, str] = {}

    def _of(self, name: str) -> str:
        while (leader := self.leader.setdefault(name, name)) != name:
            name = leader
        return name

    def are_joined(self, first: str, second: str) -> bool:
        return self._of(first) == self._of(second)

    def add(self, first: str, second: str) -> None:
        self.leader[self._of(first)] = self._of(second)

    def is_whole(self, names: Iterable[str]) -> bool:
        return len({self._of(name) for name in names}) <= 1


def damage(text: str, seed: object) -> str | None:
    """The text with its words shuffled; None where too few of them would be out of place."""
    words = text.split()
    if len(words) < FEWEST_WORDS:
        return None
    shuffled = words[:]
    Random(f"{seed}:damage").shuffle(shuffled)
    moved = sum(before != after for before, after in zip(words, shuffled, strict=True))
    return " ".join(shuffled) if 2 * moved > len(words) else None


def _mix_in_checks(
    by_document: dict[int, list[dict[str, Any]]], summaries: Mapping[int, Mapping[str, int]], number: int, seed: int
) -> None:
    """Check pairs among each document's own, at places that follow from the seed."""
    keys = [pk for systems in summaries.values() for pk in systems.values()]
    texts = {row.pk: row.text_shown for row in Summary.objects.filter(pk__in=keys)}
    draw = Random(f"{seed}:checks")
    for document, pinned in by_document.items():
        damaged = {pk: damage(texts[pk], f"{seed}:{pk}") for pk in summaries[document].values()}
        usable = [(pk, text) for pk, text in damaged.items() if text is not None]
        for pk, text in draw.sample(usable, min(number, len(usable))):
            pinned.insert(draw.randint(0, len(pinned)), {"pair": [pk], "damaged": text})


def _systems_of(rows: list[tuple[int, int]]) -> dict[int, dict[str, int]]:
    """By document: each system's summary."""
    names = dict(Summary.objects.filter(pk__in=[pk for _document, pk in rows]).values_list("pk", "system__name"))
    summaries: dict[int, dict[str, int]] = {}
    for document, pk in rows:
        if names[pk] in summaries.setdefault(document, {}):
            raise Refused(
                gettext("Two systems are called “%(name)s”, and pairs couldn't tell them apart. No batch was made.")
                % {"name": names[pk][:60]}
            )
        summaries[document][names[pk]] = pk
    return summaries


def _check_systems(batch: Batch, summaries: Mapping[int, Mapping[str, int]]) -> None:
    """Refused where nothing can be compared, or a name is too long for a unit."""
    names = {name for systems in summaries.values() for name in systems}
    if not any(len(systems) > 1 for systems in summaries.values()):
        raise Refused(
            gettext("A pair needs two systems with a summary of the same document; there are none. No batch was made.")
        )
    if long_names := sorted(name for name in names if len(name) > LONGEST_NAME):
        raise Refused(
            gettext(
                "The name “%(name)s…” is too long to be compared with: %(n)d characters at most. No batch was made."
            )
            % {"name": long_names[0][:40], "n": LONGEST_NAME}
        )


def _wanted(batch: Batch, summaries: Mapping[int, Mapping[str, int]]) -> list[tuple[str, str]] | None:
    """The pairs of systems that the batch names; None: all."""
    names = {name for systems in summaries.values() for name in systems}
    pairs = [(first, second) for first, second in batch.options["between"]]
    if unknown := sorted({name for pair in pairs for name in pair} - names):
        raise Refused(
            gettext("There is no system “%(name)s” to compare here. No batch was made.") % {"name": unknown[0][:60]}
        )
    return pairs or None


def _pair(task: Task) -> list[Summary]:
    """The summaries of a task: the judged one first. A check has one; an imported task none."""
    keys = (task.pinned or {}).get("pair", [])
    summaries = Summary.objects.filter(pk__in=keys).select_related("system")
    return sorted(summaries, key=lambda summary: keys.index(summary.pk))


def _damaged(task: Task) -> list[str]:
    text = (task.pinned or {}).get("damaged")
    return [] if text is None else [text]


def _is_first_left(assignment: Assignment) -> bool:
    """Whether the judged summary stands on the left: drawn for each person and pair."""
    return Random(f"{assignment.seed}:{assignment.task.part}:left").random() < 0.5


def _side(item: Item) -> int:
    """1 where the judged summary is the page's A, -1 where it is B."""
    return 1 if item.position == 1 else -1


def _summary_of(summary: Summary, system: str) -> Summary | None:
    rows = Summary.objects.filter(document_id=summary.document_id, system__name=system.strip())
    return rows.order_by("pk").first()


def _heading(letter: str) -> str:
    return gettext("Summary %(letter)s") % {"letter": letter}


def _reason(form: Mapping[str, Any], name: str) -> str:
    content = form.get(name)
    inner = content.get("reason", "") if isinstance(content, Mapping) else ""
    return " ".join(str(inner or form.get(name + REASON, "")).split())[:LONGEST]
