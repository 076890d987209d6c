"""A judge as an admin describes it: checked, and kept as a version with a hash over all that decides its answers."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.errors import Refused
from annotation.common.middleware import strip_unreadable
from annotation.models import Judge, Study, User

from . import entailment
from .endpoint import allowed_address

PLACES = ("instructions", "texts", "items", "answer")
PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
PROMPT = """\
# What people are told
{{instructions}}

# The texts
{{texts}}

# What is asked
{{items}}

# How to answer
{{answer}}
"""
FORMATS = (
    ("schema", gettext_lazy("JSON by schema")),
    ("object", gettext_lazy("any JSON object")),
    ("text", gettext_lazy("not asked for")),
)
LIMIT_NAMES = (("max_tokens", "max_tokens"), ("max_completion_tokens", "max_completion_tokens"))
UNHASHED = ("parallel", "repeats")
"""Options that change how it is called, and not what it is asked."""


class JudgeForm(forms.Form):
    """All that a version is made of."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=40)
    kind = forms.ChoiceField(
        label=gettext_lazy("Kind"),
        choices=[
            ("chat", gettext_lazy("language model behind an endpoint")),
            ("nli", gettext_lazy("entailment model on this machine")),
        ],
        initial="chat",
    )
    endpoint = forms.CharField(label=gettext_lazy("Endpoint"), max_length=300, required=False)
    model = forms.CharField(label=gettext_lazy("Model"), max_length=200)
    prompt = forms.CharField(
        label=gettext_lazy("Prompt"),
        max_length=20_000,
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14}),
    )
    temperature = forms.FloatField(label=gettext_lazy("Temperature"), min_value=0, max_value=2, initial=0)
    samples = forms.IntegerField(label=gettext_lazy("Samples of each task"), min_value=1, max_value=20, initial=1)
    max_tokens = forms.IntegerField(
        label=gettext_lazy("Tokens of an answer, at most"), min_value=16, max_value=32_000, initial=1000
    )
    seed = forms.IntegerField(label=gettext_lazy("Seed"), min_value=0, max_value=2**31 - 1, initial=0)
    format = forms.ChoiceField(label=gettext_lazy("Form of the answer"), choices=FORMATS, initial="schema")
    limit_name = forms.ChoiceField(
        label=gettext_lazy("How the endpoint calls that limit"), choices=LIMIT_NAMES, initial="max_tokens"
    )
    parallel = forms.IntegerField(label=gettext_lazy("Calls at once"), min_value=1, max_value=64, initial=4)
    logprobs = forms.BooleanField(label=gettext_lazy("Ask for token probabilities"), required=False)
    repeats = forms.BooleanField(
        label=gettext_lazy("The endpoint bills a repeated Idempotency-Key once"), required=False
    )
    price_in = forms.DecimalField(
        label=gettext_lazy("Price of a million tokens in"), min_value=0, max_digits=12, decimal_places=4, initial=0
    )
    price_out = forms.DecimalField(
        label=gettext_lazy("Price of a million tokens out"), min_value=0, max_digits=12, decimal_places=4, initial=0
    )
    own_system = forms.CharField(
        label=gettext_lazy("Its own system, if the study has one"), max_length=200, required=False
    )

    OPTIONS = ("temperature", "samples", "max_tokens", "seed", "format", "limit_name", "logprobs", *UNHASHED)

    def clean_prompt(self) -> str:
        prompt = strip_unreadable(self.cleaned_data["prompt"]).replace("\r\n", "\n").strip()
        if self.cleaned_data.get("kind") == Judge.Kind.NLI:
            return ""
        places = PLACE.findall(prompt or PROMPT)
        if missing := [name for name in PLACES if name not in places]:
            raise forms.ValidationError(
                _("The prompt has no place for %(names)s.")
                % {"names": ", ".join(f"{{{{{name}}}}}" for name in missing)}
            )
        if unknown := [name for name in places if name not in PLACES]:
            raise forms.ValidationError(
                _("The prompt has a place {{%(name)s}}, which nothing fills. Known: %(known)s.")
                % {"name": unknown[0][:40], "known": ", ".join(PLACES)}
            )
        return prompt or PROMPT.strip()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        try:
            if cleaned.get("kind") == Judge.Kind.NLI:
                cleaned["endpoint"] = ""
                entailment.check(cleaned.get("model", ""))
            elif "endpoint" in cleaned:
                cleaned["endpoint"], _key = allowed_address(cleaned["endpoint"])
        except Refused as refusal:
            raise forms.ValidationError(str(refusal)) from None
        return cleaned


def keep_judge(study: Study, values: Mapping[str, Any], user: User | None) -> Judge:
    """The version that these values describe: a new one, unless the newest is the same. Refused names what is wrong."""
    defaults = {name: field.initial for name, field in JudgeForm.base_fields.items() if field.initial is not None}
    form = JudgeForm({**defaults, "prompt": PROMPT, **values})
    if not form.is_valid():
        problems = [
            f"{form.fields[name].label}: {problem}" if name in form.fields else str(problem)
            for name, problems in form.errors.items()
            for problem in problems
        ]
        raise Refused(" ".join([*problems, _("Nothing was kept.")]))
    cleaned = form.cleaned_data
    facts = {name: cleaned[name] for name in ("kind", "endpoint", "model", "prompt")}
    facts["options"] = {name: cleaned[name] for name in JudgeForm.OPTIONS}
    paid = {name: cleaned[name] for name in ("price_in", "price_out", "own_system")}
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)  # one version at a time
        versions = study.judges.filter(name=cleaned["name"])
        newest = versions.order_by("version").last()
        if newest and all(getattr(newest, name) == value for name, value in {**facts, **paid}.items()):
            return newest
        number = (versions.aggregate(n=Max("version"))["n"] or 0) + 1
        return Judge.objects.create(
            study=study,
            name=cleaned["name"],
            version=number,
            digest=_digest(facts),
            made_by=user,
            **facts,
            **paid,
        )


def _digest(facts: Mapping[str, Any]) -> str:
    options = {name: value for name, value in facts["options"].items() if name not in UNHASHED}
    words = json.dumps({**facts, "options": options}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(words.encode()).hexdigest()
