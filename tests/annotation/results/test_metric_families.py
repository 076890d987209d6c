"""Families and sets name metrics that there are."""

from annotation.results.metric_families import KNOWN, SETS, known_family, seconds_for
from scoring import registry


def test_every_family_has_a_name_and_every_set_holds_known_metrics():
    known = set(registry.known())
    first_names = {registry.get(name).family.description.names[0] for name in known}
    assert first_names <= set(KNOWN)
    assert {name for entry in SETS for name in entry.metrics} <= known
    assert {name for family in KNOWN.values() for name in family.usual} <= known


def test_a_family_of_ones_own_is_called_by_its_first_score():
    assert known_family(("mine-1", "mine-2")).name == "mine-1"
    assert seconds_for([("bleu",), ("chrf",)], 200) == 2 * (KNOWN["bleu"].seconds + KNOWN["chrf"].seconds)
