"""The verdict in words: shown, refuted, or too little data. docs/statistics/verdicts.md defends every sentence."""

from __future__ import annotations

from analysis.compare import Comparison
from analysis.compare.stand_in import REFUTED, SHOWN, THRESHOLD, GroupVerdict, StandIn, StudyVerdict
from analysis.correlate import FEW_SYSTEMS, CorrelationResult
from analysis.correlate.noise import QUIET
from analysis.plot import number
from analysis.report.figures import Findings
from analysis.report.parts import Study
from analysis.sentence import Sentence, Value, join_sentences, some_of


def systems_of(study: Study) -> Sentence:
    """How many systems: 1 system, 25 systems."""
    n = len(study.cube.systems)
    return Sentence("%(n)s system", {"n": n}) if n == 1 else Sentence("%(n)s systems", {"n": n})


def documents_of(study: Study) -> Sentence:
    """How many documents."""
    n = len(study.cube.documents)
    return Sentence("%(n)s document", {"n": n}) if n == 1 else Sentence("%(n)s documents", {"n": n})


def verdict(study: Study, findings: Findings) -> Sentence:
    """What the study says about its metrics, for a newcomer."""
    data: dict[str, Value] = {"systems": systems_of(study), "documents": documents_of(study), "human": study.human}
    lead = findings.lead
    if lead is None:
        scope = Sentence("%(systems)s were judged on %(documents)s by %(human)s.", data)
        return join_sentences([scope, _nothing_yet(study)])
    notes = [
        _answer(findings.standing, lead, data),
        *_hangs_on(lead),
        *_within(lead),
        *_others(findings.standing, lead),
        *_turned(findings.standing),
        *_single_document(findings.standing),
    ]
    if findings.standing.answer != REFUTED:
        notes += [*_order(findings.comparison, lead), *_single_summaries(findings.summary, lead)]
    return join_sentences(notes)


def _nothing_yet(study: Study) -> Sentence:
    if not study.metrics:
        return Sentence(
            "There is no automatic metric to judge yet: add metric scores to the table, and this page will say which "
            "of them deserve trust."
        )
    if len(study.cube.systems) < FEW_SYSTEMS:
        return Sentence("No metric can be judged on fewer than %(n)s systems: add systems.", {"n": FEW_SYSTEMS})
    return Sentence("No metric can be judged: every correlation is undefined, for the reasons below.")


def _answer(verdict: StudyVerdict, lead: StandIn, data: dict[str, Value]) -> Sentence:
    values = {
        **data,
        "metric": lead.metric,
        "value": number(lead.value),
        "scope": Sentence("for these scores") if lead.noise is QUIET else Sentence("for the true means"),
        "low": number(lead.low),
        "high": number(lead.high),
        "n": len(verdict.metrics),
        "threshold": number(THRESHOLD, 1),
    }
    if verdict.answer == SHOWN:
        return Sentence(
            "On these %(systems)s and %(documents)s, %(metric)s can stand in for people when systems of this kind are "
            "ranked by %(human)s: r = %(value)s (%(scope)s %(low)s to %(high)s at 95 %% for all %(n)s metrics "
            "together), above %(threshold)s.",
            values,
        )
    if verdict.answer == REFUTED:
        return Sentence(
            "On these %(systems)s and %(documents)s, none of the metrics can stand in for people when systems of this "
            "kind are ranked by %(human)s: the closest of %(n)s, %(metric)s, has r = %(value)s (%(scope)s "
            "%(low)s to %(high)s at 95 %%), below %(threshold)s.",
            {**values, "low": number(lead.own_low), "high": number(lead.own_high)},
        )
    if lead.low > THRESHOLD:
        return Sentence(
            "On these %(systems)s and %(documents)s there is too little data to say whether a metric can stand in for "
            "people when systems of this kind are ranked by %(human)s, though the closest of %(n)s, %(metric)s, has "
            "r = %(value)s (%(scope)s %(low)s to %(high)s at 95 %% for all of them together).",
            values,
        )
    return Sentence(
        "On these %(systems)s and %(documents)s there is too little data to say whether a metric can stand in for "
        "people when systems of this kind are ranked by %(human)s: the closest of %(n)s, %(metric)s, has r = %(value)s "
        "(%(scope)s %(low)s to %(high)s at 95 %% for all of them together), and %(threshold)s would be "
        "needed.",
        values,
    )


def _hangs_on(lead: StandIn) -> list[Sentence]:
    """An answer that one system makes is none."""
    if not lead.hangs_on:
        return []
    return [Sentence("That hangs on one system: without %(system)s it would be open.", {"system": lead.hangs_on})]


def _within(lead: StandIn) -> list[Sentence]:
    """Whether it holds when kinds of systems aren't told apart."""
    if lead.within is None:
        return []
    values = _numbers(lead.within)
    if lead.answer == SHOWN:
        notes = [
            Sentence(
                "It holds within the groups of systems taken together (r = %(value)s, %(low)s to %(high)s).", values
            )
        ]
        small = [group.group for group in lead.small_groups]
        if judged := [group.group for group in lead.groups if group.group not in small]:
            notes.append(Sentence("It holds within each by itself: %(names)s.", {"names": some_of(judged)}))
        if small:
            notes.append(Sentence("Too small to be judged by themselves: %(names)s.", {"names": some_of(small)}))
        return notes
    if not lead.only_overall:
        return []
    if failed := lead.failed_groups:
        return [
            Sentence(
                "Over all systems it is high enough, but within %(group)s it is too low (r = %(value)s, %(low)s to "
                "%(high)s).",
                _numbers(failed[0]),
            )
        ]
    if not lead.within.low > THRESHOLD:
        return [
            Sentence(
                "Over all systems it is high enough, but within the groups of systems that isn't shown (r = %(value)s, "
                "%(low)s to %(high)s): it may only tell kinds of systems apart.",
                values,
            )
        ]
    in_each = [
        Sentence("%(group)s (r = %(value)s, %(low)s to %(high)s)", _numbers(group)) for group in lead.open_groups
    ]
    notes = [
        Sentence(
            "It is high enough over all systems, and within their groups taken together (r = %(value)s, %(low)s to "
            "%(high)s), but not shown within single groups: %(groups)s.",
            {**values, "groups": join_sentences(in_each, ", ")},
        )
    ]
    if shown := [group.group for group in lead.groups if group.low > THRESHOLD]:
        notes.append(Sentence("It is shown within %(names)s.", {"names": some_of(shown)}))
    return notes


def _numbers(group: GroupVerdict) -> dict[str, Value]:
    ends = {"low": number(group.low), "high": number(group.high)}
    return {"group": group.group, "value": number(group.value), **ends}


def _others(verdict: StudyVerdict, lead: StandIn) -> list[Sentence]:
    notes = []
    also = [result.metric for result in verdict.with_answer(SHOWN) if result is not lead]
    ruled_out = [result.metric for result in verdict.with_answer(REFUTED)]
    if also:
        notes.append(Sentence("So can %(names)s.", {"names": some_of(also)}))
    if ruled_out and verdict.answer != REFUTED:
        notes.append(Sentence("These can't: %(names)s.", {"names": some_of(ruled_out)}))
    return notes


def _turned(verdict: StudyVerdict) -> list[Sentence]:
    """A metric that runs the other way is as good as one that doesn't; only a sure one is named."""
    names = [result.metric for result in verdict.metrics if result.turned and result.own_low > 0]
    if not names:
        return []
    return [
        Sentence(
            "Lower is better for %(names)s: their correlations are negative and stand here with the sign turned.",
            {"names": some_of(names)},
        )
    ]


def _single_document(verdict: StudyVerdict) -> list[Sentence]:
    if not verdict.single_document:
        return []
    return [Sentence("Everything rests on one document; what another would say can't be known from it.")]


def _order(comparison: Comparison | None, lead: StandIn) -> list[Sentence]:
    """Whether the lead over the others is more than chance, by paired tests."""
    standings = comparison.standings if comparison else ()
    rivals = [item for item in standings if item.metric != lead.metric and item.value == item.value]
    equal = [item.metric for item in rivals if lead.metric not in item.beaten_by]
    if not rivals:
        return []
    if not equal:
        return [Sentence("%(metric)s is significantly better than every other metric.", {"metric": lead.metric})]
    return [
        Sentence("Paired tests can't tell %(metric)s from %(names)s.", {"metric": lead.metric, "names": some_of(equal)})
    ]


def _single_summaries(summary: list[CorrelationResult], lead: StandIn) -> list[Sentence]:
    """The mean correlation per document, with its interval over documents."""
    result = next((result for result in summary if result.metric == lead.metric), None)
    if result is None or result.low != result.low:
        return []
    ends = sorted((result.low, result.high)) if not lead.turned else sorted((-result.low, -result.high))
    value = -result.value if lead.turned else result.value
    values = {"value": number(value, 2), "low": number(ends[0], 2), "high": number(ends[1], 2)}
    if ends[1] < THRESHOLD:
        return [
            Sentence(
                "Single summaries are another matter: there it reaches %(value)s (%(low)s to %(high)s), too little to "
                "judge them one by one.",
                values,
            )
        ]
    if lead.answer != SHOWN:
        return [Sentence("On single summaries of these systems it reaches %(value)s (%(low)s to %(high)s).", values)]
    if ends[0] > THRESHOLD:
        return [Sentence("It follows people on single summaries too: %(value)s (%(low)s to %(high)s).", values)]
    return [Sentence("Whether it does for single summaries is open: %(value)s (%(low)s to %(high)s).", values)]
