"""Who may sign in."""

from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend

from annotation.common.prepared_queries import PreparedQuery

NAMES = ("id", "password", "is_superuser", "username", "is_staff", "is_active", "is_demo")
"""What every request asks of the person, in the order of the table; the rest is fetched when somebody looks at it."""


class AccountBackend(ModelBackend):
    """Django's accounts; a demo account is nobody outside the demo, even with a session or the right password."""

    def user_can_authenticate(self, user: Any) -> bool:
        return super().user_can_authenticate(user) and (settings.DEMO or not getattr(user, "is_demo", False))

    def get_user(self, user_id: int) -> Any:
        from annotation.models import User

        for row in _person(user=user_id):
            cells = [bool(cell) if name.startswith("is_") else cell for name, cell in zip(NAMES, row, strict=True)]
            user = User.from_db("default", NAMES, cells)
            return user if self.user_can_authenticate(user) else None
        return None


def _people(user: int) -> Any:
    from annotation.models import User

    return User.objects.filter(pk=user).values_list(*NAMES)


_person = PreparedQuery(_people, "user")
