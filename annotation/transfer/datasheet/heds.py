"""The human-evaluation datasheet (HEDS): the platform's answers, and what only the people of the study can say.

Sections and numbers follow HEDS (Shimorina and Belz 2022; version 3.0, Belz and Thomson 2024); the wording is ours.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.crowds.lookup import MARKETS
from annotation.protocols import among

from .criteria import criteria, rows
from .study_facts import Facts, sentence

OPEN = ""  # no answer: a question for the people of the study


@dataclass(frozen=True)
class Question:
    number: str
    text: str
    answer: str = OPEN


@dataclass(frozen=True)
class Section:
    title: str
    questions: list[Question]


def heds(facts: Facts) -> list[Section]:
    sections = [
        Section("1 Reference and resources", list(_resources(facts))),
        Section("2 Evaluated systems", list(_systems(facts))),
        Section("3.1 Sample of system outputs", list(_sample(facts))),
        Section("3.2 Evaluators", list(_evaluators(facts))),
        Section("3.3 Experimental design", list(_design(facts))),
    ]
    for number, (protocol, criterion) in enumerate(criteria(facts), start=1):
        questions = [Question(*row) for row in rows(criterion, protocol, facts)]
        sections.append(Section(f"4 Quality criterion {number}: {criterion.name}", questions))
    return [*sections, Section("5 Ethics", list(_ethics(facts)))]


def _resources(facts: Facts) -> Iterator[Question]:
    yield Question("1.1.1", "Which publication describes the experiment? Give a link, or say “for preregistration”.")
    yield Question("1.1.2", "Which of its experiments is this sheet for?", f"The study “{facts.study.name}”.")
    yield Question("1.2", "Where are the resources: outputs, data, code, interface?")
    yield Question("1.3.1", "Who filled in this sheet: name, affiliation, e-mail?")
    yield Question("1.3.2", "Who is the contact author: name, affiliation, e-mail?")


def _systems(facts: Facts) -> Iterator[Question]:
    groups = f", in the groups {', '.join(facts.groups)}" if facts.groups else ""
    yield Question(
        "2.1", "What do the systems take as input?", f"Text: one document each ({_length(facts, 'source')})."
    )
    yield Question("2.2", "What do they give as output?", f"Text: a summary ({_length(facts, 'summary')}).")
    yield Question("2.3", "Which task do they do?", f"Summarization. {facts.state.systems} systems{groups}.")
    yield Question("2.4", "In which languages is the input?")
    yield Question("2.5", "In which languages is the output?")


def _length(facts: Facts, name: str) -> str:
    return f"about {facts.words[name]:.0f} words" if name in facts.words else "length not known yet"


def _sample(facts: Facts) -> Iterator[Question]:
    state = facts.state
    systems = max(state.systems, 1)
    yield Question(
        "3.1.1",
        "How many outputs were evaluated per system?",
        f"{state.summaries / systems:.0f} on average: {state.summaries:,} summaries of {state.documents:,} documents.",
    )
    yield Question("3.1.2", "How were they selected?")
    yield Question("3.1.3.1", "How was the size of the sample decided (power analysis)?")
    yield Question("3.1.3.2", "What statistical power does it have?")
    yield Question("3.1.3.3", "Where is the script of the power analysis (such as `python -m analysis power`)?")


def _evaluators(facts: Facts) -> Iterator[Question]:
    roles = ", ".join(f"{count} as {role}" for role, count in facts.workers_by_role.items())
    beside = f" Beside them {facts.models} models judged (role `model`); no score of people has their answers in it."
    people = f"{facts.state.workers} ({roles}).{beside if facts.models else ''}"
    yield Question("3.2.1", "How many evaluators took part?", people if roles else OPEN)
    yield Question("3.2.2.1", "Were they experts?", _experts(facts))
    yield Question("3.2.2.2", "Were they paid, and how much?", _pay(facts))
    yield Question("3.2.2.3", "Did the authors know them before?")
    yield Question("3.2.2.4", "Were authors among them?")
    yield Question("3.2.3", "How were they recruited?", _recruited(facts))
    yield Question("3.2.4", "How were they trained, or what did they practise on?", _training(facts))
    yield Question("3.2.5", "What else is known of them (languages, age, place, education)?")


def _experts(facts: Facts) -> str:
    if not facts.workers_by_role:
        return OPEN
    return {
        (True, False): "Yes, all of them by their role in the study.",
        (False, True): "No, crowd workers.",
        (True, True): "Both: experts and crowd workers, told apart in the column `role`.",
    }[any(role == "expert" for role in facts.workers_by_role), any(role != "expert" for role in facts.workers_by_role)]


def _pay(facts: Facts) -> str:
    if not facts.rewards:
        return OPEN
    amounts = " and ".join(f"{cents / 100:.2f} {facts.study.currency}" for cents in facts.rewards)
    wage = ""
    if facts.minutes:
        lowest, highest = (cents / 100 / (facts.minutes / 60) for cents in (facts.rewards[0], facts.rewards[-1]))
        span = f"{lowest:.2f}" if len(facts.rewards) == 1 else f"{lowest:.2f} to {highest:.2f}"
        wage = f" The median of {facts.minutes:.1f} active minutes makes that {span} {facts.study.currency} an hour."
    return f"Yes, {amounts} per assignment, by batch.{wage}"


def _recruited(facts: Facts) -> str:
    sources = {name: market.recruited or name for name, market in MARKETS.items()}
    sources["import"] = "elsewhere: their judgments were imported"
    return sentence("; ".join(sources.get(crowd, crowd) for crowd in facts.crowds))


def _training(facts: Facts) -> str:
    plans = []
    for plan in facts.plans:
        test = f"; a test with pass mark {plan.pass_mark:.0%} and {plan.tries} tries" if plan.test_required else ""
        plans.append(f"{plan.protocol}: a tutorial on real items with known answers ({plan.tutorial}){test}")
    return sentence("; ".join(plans)) if facts.judged_here else OPEN


def _design(facts: Facts) -> Iterator[Question]:
    yield Question("3.3.1", "Was the experiment preregistered? Where?")
    yield Question("3.3.2", "How were the responses collected?", _collected(facts))
    yield Question("3.3.3.1", "Which measures of quality assurance were taken?", _assurance(facts))
    yield Question("3.3.3.2", "What became of responses that failed them?", _filter(facts))
    yield Question("3.3.4.1", "Where can form and instructions be seen?", _instructions(facts))
    yield Question("3.3.4.2", "What did evaluators see while they answered?", _seen(facts))
    yield Question("3.3.5", "How free were they in when and how fast to answer?", _time(facts))
    yield Question("3.3.6", "Could they ask questions or give feedback while they worked?")
    place = "In their own browser, at a place of their choice." if facts.judged_here else OPEN
    yield Question("3.3.7", "Where and on what did they work?", place)
    yield Question("3.3.8", "Were the conditions the same for all, and how was that made sure?")


def _collected(facts: Facts) -> str:
    if not facts.judged_here or facts.first is None or facts.last is None:
        return OPEN
    also = " Others were imported." if "import" in facts.crowds else ""
    return f"With Pyramidion, in the browser, from {facts.first:%Y-%m-%d} to {facts.last:%Y-%m-%d}.{also}"


def _assurance(facts: Facts) -> str:
    measures = ["every item must be answered", "a worker never sees a task twice"] if facts.judged_here else []
    measures += [f"{facts.checks} check items whose answer is known"] if facts.checks else []
    has_test = facts.judged_here and any(plan.test_required for plan in facts.plans)
    measures += ["a test before the first task"] if has_test else []
    measures += ["time, paste and focus signals beside every assignment"] if facts.minutes is not None else []
    return sentence("; ".join(measures))


def _filter(facts: Facts) -> str:
    if facts.filter is None:
        return "No filter is in force: every response counts."
    rules = ", ".join(f"`{rule}`" for rule in facts.filter.rules)
    return (
        f"Left out of scores by the rules {rules} (seed {facts.filter.seed}); nothing was deleted, and each dropped "
        "judgment is exported with its reason."
    )


def _instructions(facts: Facts) -> str:
    if not facts.instructions or not facts.judged_here:
        return OPEN
    versions = ", ".join(f"{name} (version {text.version})" for name, text in facts.instructions.items())
    return f"The instructions in force, {versions}, are printed at the end of this sheet."


def _seen(facts: Facts) -> str:
    protocols = sorted(among(facts.protocols), key=lambda protocol: protocol.name)
    views = [f"{protocol.name}: {protocol.shows}" for protocol in protocols if protocol.shows]
    return sentence("; ".join(views)) if facts.judged_here else OPEN


def _time(facts: Facts) -> str:
    if not facts.judged_here:
        return OPEN
    took = f" The median was {facts.minutes:.1f} active minutes per assignment." if facts.minutes else ""
    return f"They chose when to work; a task is held while it is worked on and falls free after a pause.{took}"


def _ethics(facts: Facts) -> Iterator[Question]:
    consent = ""
    if facts.consent and facts.consents:
        consent = f" {facts.consents} people agreed to version {facts.consent.version} of the consent text."
    yield Question("5.1", "Did an ethics board approve the experiment? Which one, under which number?")
    yield Question(
        "5.2",
        "Does the data hold personal data? How is it protected?",
        "Exports hold pseudonyms (HMAC-SHA256 under a salt that is never exported), times and signals of attention; "
        f"the crowd's own ids stay with the study's admins.{consent}",
    )
    yield Question("5.3", "Does it hold special categories of personal data? How are they protected?")
    yield Question("5.4", "Were possible effects on people and environment assessed?")
