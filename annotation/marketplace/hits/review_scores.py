"""What review policies find: answers against a key (ScoreMyKnownAnswers) or against each other (SimplePlurality).

Policies are checked when a HIT is made. Scores are whole per cent, rounded down.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.marketplace.errors import BadParameter
from annotation.marketplace.questions.answers import Answer

KNOWN_ANSWERS = "ScoreMyKnownAnswers/2011-09-01"
PLURALITY = "SimplePlurality/2011-09-01"
POLICIES = {"Assignment": KNOWN_ANSWERS, "HIT": PLURALITY}
EXTEND = ("ExtendMaximumAssignments", "ExtendMinimumTimeInSeconds")
PARAMETERS = {
    KNOWN_ANSWERS: {
        *("AnswerKey", "ApproveIfKnownAnswerScoreIsAtLeast", "ApproveReason", "RejectIfKnownAnswerScoreIsLessThan"),
        *("RejectReason", "ExtendIfKnownAnswerScoreIsLessThan", *EXTEND),
    },
    PLURALITY: {
        *("QuestionIds", "QuestionAgreementThreshold", "DisregardAssignmentIfRejected"),
        *("DisregardAssignmentIfKnownAnswerScoreIsLessThan", "ExtendIfHITAgreementScoreIsLessThan", *EXTEND),
        *("ApproveIfWorkerAgreementScoreIsAtLeast", "ApproveReason", "RejectIfWorkerAgreementScoreIsLessThan"),
        "RejectReason",
    },
}
REQUIRED = {KNOWN_ANSWERS: ("AnswerKey",), PLURALITY: ("QuestionIds", "QuestionAgreementThreshold")}
MOST = {"ExtendMaximumAssignments": 25, "ExtendMinimumTimeInSeconds": 365 * 24 * 3600}
WORDS = {"AnswerKey", "QuestionIds", "ApproveReason", "RejectReason", "DisregardAssignmentIfRejected"}
LONGEST_ANSWER = 256


@dataclass(frozen=True)
class Policy:
    """A review policy's parameters, read."""

    numbers: Mapping[str, int]
    texts: Mapping[str, str]
    answer_key: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    question_ids: tuple[str, ...] = ()


def read_policy(level: str, document: Mapping[str, Any]) -> Policy:
    """A ReviewPolicy as sent. Raises BadParameter."""
    name, member = document["PolicyName"], f"{level}ReviewPolicy"
    if name != POLICIES[level]:
        raise BadParameter(f"{member}.PolicyName is {name[:80]!r}; at this level there is {POLICIES[level]}.")
    parameters = {parameter.get("Key", ""): parameter for parameter in document.get("Parameters", [])}
    if unknown := sorted(parameters.keys() - PARAMETERS[name]):
        raise BadParameter(f"{member} has no {unknown[0][:80]!r}; it has {', '.join(sorted(PARAMETERS[name]))}.")
    if missing := [key for key in REQUIRED[name] if key not in parameters]:
        raise BadParameter(f"{member} needs the parameter {missing[0]}.")
    if any(key.startswith("ExtendIf") for key in parameters) and EXTEND[0] not in parameters:
        raise BadParameter(f"{member} extends the HIT, so it needs {EXTEND[0]}.")
    texts = {key: _first(parameters[key], member) for key in parameters.keys() & WORDS - {"AnswerKey", "QuestionIds"}}
    numbers = {key: _number(parameters[key], member) for key in parameters.keys() - WORDS}
    return Policy(
        numbers, texts, _answer_key(parameters.get("AnswerKey")), _question_ids(parameters.get("QuestionIds"))
    )


def _first(parameter: Mapping[str, Any], member: str) -> str:
    values = parameter.get("Values") or []
    if len(values) != 1:
        raise BadParameter(f"{member}: {parameter['Key']} needs exactly one value.")
    return str(values[0])[:1024]


def _number(parameter: Mapping[str, Any], member: str) -> int:
    key, words = parameter["Key"], _first(parameter, member)
    most = MOST.get(key, 101)  # at least 101: never
    if not (words.isascii() and words.isdigit() and len(words) < 12 and int(words) <= most):
        raise BadParameter(f"{member}: {key} is {words[:20]!r}; it must be a whole number from 0 to {most}.")
    return int(words)


def _answer_key(parameter: Mapping[str, Any] | None) -> dict[str, tuple[str, ...]]:
    if parameter is None:
        return {}
    entries = parameter.get("MapEntries") or []
    key = {entry.get("Key", ""): tuple(value.strip() for value in entry.get("Values", [])) for entry in entries}
    if not key or len(key) < len(entries) or "" in key:
        raise BadParameter("AssignmentReviewPolicy: AnswerKey needs MapEntries, one for each question.")
    return key


def _question_ids(parameter: Mapping[str, Any] | None) -> tuple[str, ...]:
    if parameter is None:
        return ()
    names = [name.strip() for value in parameter.get("Values") or [] for name in value.split(",")]
    if not any(names):
        raise BadParameter("HITReviewPolicy: QuestionIds names no question.")
    return tuple(dict.fromkeys(name for name in names if name))


# Scores


def values_of(answer: Answer | None) -> frozenset[str]:
    """What was answered to one question, without spaces around; several values as MTurk joins them."""
    if answer is None:
        return frozenset()
    words = (
        [*answer.selections, answer.other_text] if answer.selections or answer.other_text else answer.text.split("|")
    )
    return frozenset(word.strip() for word in words if word.strip())


def known_answers(policy: Policy, answers: Mapping[str, Answer]) -> dict[str, bool]:
    """For each question of the key, whether exactly its values were answered; an empty answer never is."""
    answered = {question: values_of(answers.get(question)) for question in policy.answer_key}
    return {
        question: bool(answered[question]) and answered[question] == set(values)
        for question, values in policy.answer_key.items()
    }


def percent(part: int, whole: int) -> int:
    return 100 * part // whole if whole else 0


@dataclass(frozen=True)
class Agreement:
    """How far the answers to a HIT agree."""

    question_scores: Mapping[str, int]
    agreed: Mapping[str, frozenset[str]]
    """The agreed answer, for questions that have one."""
    hit_score: int
    worker_scores: Mapping[str, int]
    """By assignment."""


def agreement(policy: Policy, answers: Mapping[str, Mapping[str, Answer]]) -> Agreement:
    """Of answers by assignment and question."""
    scores, agreed = {}, {}
    for question in policy.question_ids:
        counts = Counter(_comparable(by_question.get(question)) for by_question in answers.values())
        counts.pop(frozenset(), None)
        answer, count = counts.most_common(1)[0] if counts else (frozenset(), 0)
        scores[question] = percent(count, len(answers))
        if scores[question] > policy.numbers["QuestionAgreementThreshold"]:
            agreed[question] = answer
    workers = {
        assignment: percent(
            sum(_comparable(by_question.get(question)) == answer for question, answer in agreed.items()), len(agreed)
        )
        for assignment, by_question in answers.items()
    }
    return Agreement(scores, agreed, percent(len(agreed), len(policy.question_ids)), workers)


def _comparable(answer: Answer | None) -> frozenset[str]:
    values = values_of(answer)
    return values if sum(map(len, values)) <= LONGEST_ANSWER else frozenset()


def text_of_values(values: Sequence[str] | frozenset[str]) -> str:
    return "|".join(sorted(values))
