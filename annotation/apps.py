"""The Django app."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from . import explorer_jobs, exports, quality, reports, scores  # noqa: F401  they register kinds of jobs
        from .crowds import jobs  # noqa: F401  as above

        post_migrate.connect(_after_migrate, sender=self)


def _after_migrate(using: str, **_: Any) -> None:
    from django.db import connections

    from .triggers import install_triggers, install_words

    # Migrating backwards may leave no table to guard.
    tables = connections[using].introspection.table_names()
    if {"annotation_judgment", "annotation_extractedunit", "annotation_entry", "annotation_auditevent"} <= set(tables):
        install_triggers(using)
        install_words(using)
