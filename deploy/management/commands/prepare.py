"""Make ready to serve: the database, the static files, and what a last command adds."""

import hashlib
import secrets
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from deploy.environment import ADVICE


class Command(BaseCommand):
    help = "Migrate, collect static files, then run a last command; what is done already is left out."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--first-account", action="store_true", help="where nobody has one, make admin and say its password, once"
        )
        parser.add_argument("words", nargs="...", metavar="COMMAND …", help="a last command, e.g. load_demo")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)
            migrate()
            collect_static()
            if options["first_account"] and (sentence := make_first_account()):
                self.stdout.write(sentence)
            if options["words"]:
                call_command(*options["words"], stdout=self.stdout)
        except (OSError, OperationalError) as error:
            sentence = f"Nothing can be written to {settings.HOME} ({error}). {ADVICE}"
            raise CommandError(sentence, returncode=2) from error


def migrate() -> None:
    """Django's migrate, where something is left to do: looking takes a tenth of doing nothing."""
    executor = MigrationExecutor(connection)
    loader, labels = executor.loader, {app.label for app in apps.get_app_configs()}
    unknown = sorted(key for key in loader.applied_migrations if key[0] in labels and key not in loader.disk_migrations)
    if unknown:
        raise CommandError(
            f"The database was written by a newer Pyramidion (it knows {' '.join(unknown[-1])}). Install that version, "
            "or give another folder; nothing was changed.",
            returncode=2,
        )
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", verbosity=0)


def make_first_account() -> str:
    """An admin, so that somebody can sign in, and its password in a sentence; empty where people have accounts."""
    accounts = get_user_model().objects
    if accounts.exists():
        return ""
    password = secrets.token_urlsafe(9)
    accounts.create_superuser("admin", "admin@localhost", password)
    return f"== Sign in as admin with the password {password} (said only this once; change it under your account)"


def collect_static() -> None:
    """Django's collectstatic, unless the files are as they were the last time."""
    stamp = Path(settings.STATIC_ROOT) / ".collected"
    fingerprint = static_fingerprint()
    if not stamp.is_file() or stamp.read_text("utf-8") != fingerprint:
        call_command("collectstatic", interactive=False, verbosity=0)
        stamp.write_text(fingerprint, "utf-8")


def static_fingerprint() -> str:
    """Of every static file its name, size and time."""
    marks = []
    for finder in get_finders():
        for path, storage in finder.list([]):
            facts = Path(storage.path(path)).stat()
            marks.append((path, facts.st_size, facts.st_mtime_ns))
    return hashlib.sha256(repr(sorted(marks)).encode()).hexdigest()
