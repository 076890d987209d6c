"""The dataset card: what is in the data, how it came about, who may use it. In the form that dataset hubs read."""

from collections.abc import Iterator

from annotation.protocols import among
from annotation.transfer.exporting.options import TABLES

from .heds import Question, Section
from .study_facts import Facts, sentence

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def front_matter(facts: Facts) -> str:
    size = next((name for limit, name in SIZES if facts.state.judgments < limit), "1M<n<10M")
    name = facts.study.name.replace("\\", "\\\\").replace('"', '\\"')
    return (
        f'---\npretty_name: "{name}"\nlicense: unknown  # to be answered\nlanguage: []  # to be answered\n'
        f"task_categories:\n- summarization\nsize_categories:\n- {size}\ntags:\n- human-evaluation\n---\n"
    )


def card(facts: Facts) -> list[Section]:
    return [
        Section("What it is", list(_what(facts))),
        Section("What is in it", list(_structure(facts))),
        Section("How it was made", list(_making(facts))),
        Section("Using it", list(_use(facts))),
    ]


def _what(facts: Facts) -> Iterator[Question]:
    state = facts.state
    questions = {protocol.name: protocol.asks for protocol in among(facts.protocols)}
    judged_criteria = ", ".join(questions.get(name) or name for name in facts.protocols) or "nothing yet"
    yield Question(
        "Summary",
        "What is this data?",
        f"Human judgments of {state.summaries:,} summaries by {state.systems} systems of {state.documents:,} "
        f"documents: {state.judgments:,} judgments by {state.workers} people. Judged: {judged_criteria}.",
    )
    yield Question("Purpose", "What was it made for, and by whom? Who paid for it?")
    yield Question("Languages", "Which languages, in which varieties?")


def _structure(facts: Facts) -> Iterator[Question]:
    tables = "\n".join(f"- `{name}`: {description}" for name, description in TABLES.items() if name != "ledger")
    yield Question(
        "Tables",
        "Which tables are there?",
        f"{tables}\n\nColumns, types, hashes and the schema's version stand in each export's `manifest.json`.",
    )
    yield Question("Units", "What is one judgment?", _units(facts))
    yield Question("Splits", "Are there splits?", "None: all of it is for evaluation.")


def _units(facts: Facts) -> str:
    judgments = [protocol.one_judgment(facts.state.scus) for protocol in among(facts.protocols)]
    return sentence("; ".join(filter(None, dict.fromkeys(judgments))))


def _making(facts: Facts) -> Iterator[Question]:
    words = ", ".join(f"{name} about {mean:.0f} words" for name, mean in facts.words.items())
    yield Question("Texts", "Where do documents and references come from, and how were they chosen?")
    yield Question("Lengths", "How long are the texts?", sentence(words))
    span = f"{facts.first:%Y-%m-%d} to {facts.last:%Y-%m-%d}" if facts.first and facts.last else ""
    density = f";  {facts.per_summary:.1f} people per summary" if facts.per_summary else ""
    yield Question(
        "Annotation",
        "When and how was it annotated?",
        f"{span}, {'with Pyramidion' if facts.judged_here else 'imported'}, {facts.assignments:,} assignments{density}."
        if span
        else "",
    )
    yield Question("Annotators", "Who are the annotators?", _people(facts))
    yield Question("Filter", "What was left out?", _filter(facts))
    yield Question(
        "Personal data",
        "What personal data does it hold?",
        "Pseudonyms, times and signals of attention. The salt of the pseudonyms is never exported.",
    )


def _people(facts: Facts) -> str:
    if not facts.workers_by_role:
        return ""
    roles = ", ".join(f"{count} as {role}" for role, count in facts.workers_by_role.items())
    beside = f" Beside them {facts.models} models (role `model`)." if facts.models else ""
    return f"{facts.state.workers} people ({roles}); what else is known of them is for their employers to say.{beside}"


def _filter(facts: Facts) -> str:
    if facts.filter is None:
        return "Nothing: no filter is in force."
    return f"What the rules {', '.join(facts.filter.rules)} dropped (seed {facts.filter.seed}); it is exported apart."


def _use(facts: Facts) -> Iterator[Question]:
    yield Question(
        "Numbers",
        "How are the published numbers made again?",
        "`python -m analysis report FOLDER` on an export; its manifest lists the commands.",
    )
    yield Question("Limits", "Which uses would be wrong? Which biases are known?")
    yield Question("Licence", "Under which licence are the judgments? Under which ones the texts?")
    yield Question("Citation", "How is it to be cited?")
    yield Question("Contact", "Who answers questions?")
