"""A judge is a version with a hash; what is wrong with one is said in a sentence, before anything is spent."""

import logging

import pytest
from django.db import IntegrityError, transaction

from annotation.common.errors import Refused
from annotation.crowds.base import MarketRefused
from annotation.crowds.judges.launch import launch_judge
from annotation.crowds.markets.models.versions import PROMPT, keep_judge
from annotation.models import Batch, Judge
from tests.annotation.crowds.judges.conftest import make_judge, make_run
from tests.annotation.crowds.judges.fault_server import FaultServer
from tests.factories import make_batch, make_study

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_change_is_a_new_version_and_the_same_again_is_none(server: FaultServer) -> None:
    study = make_study()
    first = make_judge(study, server)
    assert make_judge(study, server) == first
    second = make_judge(study, server, prompt=PROMPT + "\nBe strict.")
    assert (first.version, second.version) == (1, 2)
    assert first.digest != second.digest
    assert make_judge(study, server, prompt=PROMPT + "\nBe strict.", parallel=9).digest == second.digest


def test_a_version_never_changes(server: FaultServer) -> None:
    judge = make_judge(make_study(), server)
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        Judge.objects.filter(pk=judge.pk).update(prompt="another")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"prompt": "Rate this: {{texts}}"}, "no place for {{instructions}}, {{items}}, {{answer}}"),
        ({"prompt": PROMPT + "{{secret}}"}, "a place {{secret}}, which nothing fills"),
        ({"endpoint": "http://169.254.169.254/v1"}, "not in MODEL_ENDPOINTS"),
        ({"endpoint": "file:///etc/passwd"}, "not in MODEL_ENDPOINTS"),
        ({"temperature": "hot"}, "Temperature"),
        ({"samples": 0}, "Samples of each task"),
        ({"price_in": -1}, "Price of a million tokens in"),
        ({"kind": "oracle"}, "Kind"),
        ({"name": ""}, "Name"),
        ({"kind": "nli", "model": "/etc"}, "MODEL_FOLDERS"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_is_kept(server: FaultServer, values, sentence: str) -> None:
    study = make_study()
    with pytest.raises(Refused) as refusal:
        make_judge(study, server, **values)
    assert sentence in str(refusal.value)
    assert str(refusal.value).endswith("Nothing was kept.")
    assert not study.judges.exists()


def test_an_unknown_model_is_answered_with_the_known_ones_and_nothing_is_spent(server: FaultServer) -> None:
    with pytest.raises(MarketRefused, match=r"no model “other”\. It has: judge-1"):
        make_run(make_batch(make_study()), server, model="other")
    assert not server.calls
    assert not Batch.objects.filter(role="model").exists()


def test_a_wrong_key_is_a_sentence_without_the_key(server: FaultServer, settings, caplog) -> None:
    server.key, settings.MODEL_API_KEYS = "sk-right", ["sk-wrong"]
    caplog.set_level(logging.DEBUG)
    with pytest.raises(MarketRefused, match="refuses the key: look at MODEL_API_KEYS") as refusal:
        make_run(make_batch(make_study()), server)
    assert "sk-wrong" not in str(refusal.value) + caplog.text
    assert not server.calls


def test_a_key_goes_to_its_own_endpoint_only_and_into_no_row(server: FaultServer, settings) -> None:
    other = FaultServer()
    settings.MODEL_ENDPOINTS, settings.MODEL_API_KEYS = [server.url, other.url], ["sk-first", "-"]
    try:
        make_run(make_batch(make_study()), server)
        make_run(make_batch(make_study()), other)
    finally:
        other.stop()
    assert set(server.keys_sent) == {"Bearer sk-first"}
    assert set(other.keys_sent) == {"Bearer none"}
    assert "sk-first" not in str(list(Judge.objects.values()))


def test_an_endpoint_that_is_no_longer_allowed_gets_nothing(server: FaultServer, settings) -> None:
    batch = make_batch(make_study())
    judge = make_judge(batch.study, server)
    settings.MODEL_ENDPOINTS = []
    with pytest.raises(MarketRefused, match="not in MODEL_ENDPOINTS"):
        launch_judge(judge, batch, 100, None)
    assert not server.keys_sent


def test_a_protocol_that_says_nothing_of_models_is_refused(server: FaultServer, monkeypatch) -> None:
    from annotation.protocols import PROTOCOLS
    from annotation.protocols.base import Protocol

    monkeypatch.setattr(type(PROTOCOLS["litepyramid"]), "model_question", Protocol.model_question)
    with pytest.raises(Refused, match="LitePyramid can't be asked of a model"):
        make_run(make_batch(make_study()), server)


def test_entailment_is_asked_only_where_something_can_follow(tmp_path, settings) -> None:
    from annotation.studies.batches import create_batch
    from tests.scoring.models.tiny_models import make_entailment_model

    settings.MODEL_FOLDERS = [str(tmp_path)]
    study = make_study(systems=2)
    judge = keep_judge(study, {"name": "nli", "kind": "nli", "model": make_entailment_model(tmp_path)}, None)
    batch = create_batch(study, "ratings", "likert", 1)
    with pytest.raises(Refused, match="no question of entailment"):
        launch_judge(judge, batch, 0, None)
