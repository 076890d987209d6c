"""Who may sign in."""

from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend


class AccountBackend(ModelBackend):
    """Django's accounts; a demo account is nobody outside the demo, even with a session or the right password."""

    def user_can_authenticate(self, user: Any) -> bool:
        return super().user_can_authenticate(user) and (settings.DEMO or not getattr(user, "is_demo", False))
