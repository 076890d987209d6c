"""Who may see which study. A stranger learns nothing; a member with another role learns why not."""

from typing import cast

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.utils.translation import gettext

from annotation.common.labels import label
from annotation.models import Role, Study, User

READERS = (Role.ADMIN, Role.ANALYST)


def user_of(request: HttpRequest) -> User:
    """The signed-in person (LoginRequiredMiddleware has seen to it)."""
    return cast(User, request.user)


def may_make_studies(user: User) -> bool:
    """Whoever is the admin of a study may make another; and superusers."""
    return user.is_superuser or user.memberships.filter(role=Role.ADMIN).exists()


def study_for(request: HttpRequest, slug: str, *roles: str) -> Study:
    """The study, for a member with one of these roles; 404 for strangers, 403 with a sentence for other members."""
    study = Study.objects.filter(slug=slug).first()
    return member_of(request, study, *roles)


def member_of(request: HttpRequest, study: Study | None, *roles: str) -> Study:
    """The same for a study that is at hand already."""
    role = study.role_of(user_of(request)) if study else None
    if study is None or role is None:
        raise Http404(gettext("There is no such study, or you have no part in it."))
    if role not in roles:
        raise PermissionDenied(
            gettext(
                "This page is for another role in “%(study)s” (%(roles)s); you are its %(role)s. Nothing was changed."
            )
            % {"study": study, "roles": ", ".join(label(allowed_role) for allowed_role in roles), "role": label(role)}
        )
    return study
