"""The Django app."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        # These modules register kinds of jobs.
        from annotation.crowds.console import jobs as crowd_jobs  # noqa: F401
        from annotation.results.explorer import index  # noqa: F401
        from annotation.transfer.exporting import jobs as export_jobs  # noqa: F401

        from .results import quality, report, scoring_job  # noqa: F401

        post_migrate.connect(_after_migrate, sender=self)


def _after_migrate(using: str, **_: Any) -> None:
    from django.db import connections

    from annotation.models.triggers import install_triggers, install_words

    # Migrating backwards may leave no table to guard.
    tables = connections[using].introspection.table_names()
    if {"annotation_judgment", "annotation_extractedunit", "annotation_entry", "annotation_auditevent"} <= set(tables):
        install_triggers(using)
        install_words(using)
