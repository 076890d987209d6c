"""The Django app."""

from typing import Any

from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate, pre_migrate

from annotation.common.private import keep_database_private


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        # These modules register kinds of jobs and pages.
        from annotation.crowds.console import jobs as crowd_jobs  # noqa: F401
        from annotation.crowds.console import schedule, worker_figures  # noqa: F401
        from annotation.crowds.judges import jobs as judge_jobs  # noqa: F401
        from annotation.results.explorer import index  # noqa: F401
        from annotation.transfer.exporting import jobs as export_jobs  # noqa: F401
        from annotation.transfer.importing import reading  # noqa: F401

        from .results import correlations, metrics, quality, report, scoring_job, training  # noqa: F401

        pre_migrate.connect(_before_migrate, sender=self)
        post_migrate.connect(_after_migrate, sender=self)
        connection_created.connect(keep_database_private)


def _before_migrate(using: str, plan: list[Any], **_: Any) -> None:
    from annotation.models.triggers import drop_triggers

    if plan:
        drop_triggers(using)


def _after_migrate(using: str, **_: Any) -> None:
    from django.db import connections

    from annotation.models.triggers import install_triggers, install_words

    # Migrating backwards may leave no table to guard.
    tables = connections[using].introspection.table_names()
    guarded = ("judgment", "extractedunit", "entry", "auditevent", "judgecall")
    if {f"annotation_{name}" for name in guarded} <= set(tables):
        install_triggers(using)
        install_words(using)
