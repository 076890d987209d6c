"""The Django app."""

from typing import Any

from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate

from annotation.common.private import keep_database_private


class MarketplaceConfig(AppConfig):
    name = "annotation.marketplace"
    label = "marketplace"
    verbose_name = "Marketplace"

    def ready(self) -> None:
        post_migrate.connect(_after_migrate, sender=self)
        connection_created.connect(keep_database_private)


def _after_migrate(using: str, **_: Any) -> None:
    from annotation.marketplace.books.triggers import install_triggers

    install_triggers(using)
