"""Who calls: a token, its scopes, and the person's role in the study. Cookies count for nothing here."""

import re
from functools import cache
from typing import Any, NoReturn, cast

from django.http import Http404, HttpRequest
from django.utils.translation import gettext
from ninja.security import HttpBearer

from annotation.accounts import access
from annotation.accounts.api_tokens import find_token
from annotation.models import ApiToken, Role, Scope, Study

from .problems import Problem, unauthorized
from .rate_limits import count_stranger, count_token


class BearerToken(HttpBearer):
    """A living token that has this scope. The person behind it becomes the request's, whatever cookies it carries."""

    def __init__(self, scope: str) -> None:
        super().__init__()
        self.scope = scope

    def __call__(self, request: HttpRequest) -> Any:
        return super().__call__(request) or _refuse(request, gettext("Send “Authorization: Bearer pyr_…”."))

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken:
        row = find_token(token)
        if row is None:
            _refuse(request, gettext("This token is unknown, revoked or past its end. Make a new one."))
        cast(Any, request).rate = count_token(row)
        if self.scope not in row.scopes:
            sentence = gettext("This token may not do that: it lacks the scope “%(scope)s”. Nothing was changed.")
            raise Problem(403, sentence % {"scope": self.scope}, "scope")
        request.user = row.user
        _refuse_unknown(request)
        return row


def _refuse(request: HttpRequest, sentence: str) -> NoReturn:
    count_stranger(request)
    raise unauthorized(sentence)


def _refuse_unknown(request: HttpRequest) -> None:
    """A misspelt parameter is said, not passed over: `limt=5` would otherwise quietly fetch 100."""
    known_names = _parameters(request.resolver_match.route if request.resolver_match else "", str(request.method))
    unknown = [name for name in request.GET if name not in known_names]
    if unknown:
        sentence = gettext("There is no parameter “%(name)s” here. There are: %(known)s. Nothing was changed.")
        known = ", ".join(sorted(known_names)) or "–"
        raise Problem(422, sentence % {"name": unknown[0][:60], "known": known}, "invalid")


@cache
def _parameters(route: str, method: str) -> frozenset[str]:
    from .urls import document

    operation = document()["paths"]["/" + re.sub(r"<(\w+)>", r"{\1}", route)][method.lower()]
    return frozenset(parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "query")


READ, WRITE, ADMIN, PAY = map(BearerToken, (Scope.READ, Scope.WRITE, Scope.ADMIN, Scope.PAY))
READERS = access.READERS
EVERYBODY = tuple(Role.values)


def token_of(request: HttpRequest) -> ApiToken:
    return cast(ApiToken, cast(Any, request).auth)


def study_for(request: HttpRequest, slug: str, *roles: str) -> Study:
    """As on the site: 404 for strangers, 403 for another role; and 404 beyond the study a token is bound to."""
    bound = token_of(request).study
    if bound is not None and bound.slug != slug:
        raise Http404(gettext("There is no such study, or this token does not open it."))
    return access.study_for(request, slug, *roles)


def role_in(request: HttpRequest, study: Study) -> str:
    """The caller's role; asked of the database once per request."""
    roles: dict[int, str] = request.__dict__.setdefault("study_roles", {})
    if study.pk not in roles:
        roles[study.pk] = study.role_of(token_of(request).user) or ""
    return roles[study.pk]


def only_own(request: HttpRequest, study: Study) -> bool:
    """Annotators see their own work, and nothing that would tell them which system or check they judged."""
    return role_in(request, study) == Role.ANNOTATOR
