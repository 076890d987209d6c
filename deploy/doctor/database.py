"""The database, whom it lets in, and the work that waits in it."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.core.checks import Error
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from deploy.environment import Environment

from . import Problems, check, manage, setting_name

STUCK = timedelta(minutes=2)
TABLES_WITH_TRIGGERS = {"annotation_assignment", "annotation_judgment", "annotation_entry"}


@check("database")
def database_answers() -> Problems:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        reason = (str(error).strip().splitlines() or [""])[0][:120]
        yield Error(
            f"The database does not answer ({reason}).",
            f"Check {setting_name('DATABASE_URL')}, and that the server runs.",
        )


@check("migrations")
def migrations_are_applied() -> Problems:
    executor = MigrationExecutor(connection)
    if migrations := executor.migration_plan(executor.loader.graph.leaf_nodes()):
        yield Error(f"{len(migrations)} migrations wait.", f"Run {manage('migrate')} (after {manage('backup')}).")


@check("rules", site_only=True)
def triggers_are_there() -> Problems:
    if connection.vendor == "sqlite":
        query = "SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'trigger'"
    else:
        query = "SELECT DISTINCT event_object_table FROM information_schema.triggers"
    with connection.cursor() as cursor:
        cursor.execute(query)
        missing = TABLES_WITH_TRIGGERS - {name for (name,) in cursor.fetchall()}
    if missing:
        yield Error(
            f"The database lacks its own rules on {', '.join(sorted(missing))}: quotas are not kept.",
            "Run manage.py migrate.",
        )


@check("engine")
def engine_fits() -> Problems:
    processes = Environment.current().number(setting_name("WEB_PROCESSES"), 2)
    if connection.vendor == "sqlite" and not settings.DEMO and processes > 2:
        yield Error(
            f"SQLite with {processes} web processes: writers queue behind each other.",
            f"Use PostgreSQL ({setting_name('DATABASE_URL')}=postgres://…), or {setting_name('WEB_PROCESSES')}=2.",
        )


@check("database password")
def database_asks_for_a_password() -> Problems:
    server, setting = connection.settings_dict, setting_name("DATABASE_URL")
    host = str(server.get("HOST", ""))
    if connection.vendor == "postgresql" and host not in ("", "127.0.0.1", "localhost", "::1") and host[0] != "/":
        if not server.get("PASSWORD"):
            yield Error(f"{setting} has no password for a server on another host.", "Give the account one.")
        if "sslmode" not in server.get("OPTIONS", {}):
            yield Error("The way to the database is not encrypted for sure.", f"Add ?sslmode=require to {setting}.")


@check("accounts", site_only=True)
def no_demo_accounts() -> Problems:
    if settings.DEMO:
        return
    users = get_user_model().objects.filter(is_active=True)
    admins = users.filter(is_superuser=True)
    if demo := users.filter(is_demo=True).count():
        yield Error(f"{demo} demo accounts are in this database.", "They can't sign in; delete them all the same.")
    if weak := [user.get_username() for user in admins if _has_known_password(user)]:
        yield Error(
            f"The password of {', '.join(weak)} is one that everybody tries first.",
            "Change it: manage.py changepassword.",
        )
    if not admins.exists():
        yield Error("Nobody can make studies: there is no superuser.", "Run manage.py createsuperuser.")


def _has_known_password(user: AbstractUser) -> bool:
    return any(user.check_password(word) for word in ("demo", "admin", "password"))


@check("background", site_only=True)
def background_work_goes_on() -> Problems:
    if settings.BACKGROUND == "immediate":
        if not settings.DEMO:
            yield Error(
                "BACKGROUND is immediate: long work would block the pages.",
                "Set BACKGROUND=worker and run manage.py worker.",
            )
        return
    from django_tasks_db.models import DBTaskResult

    if overdue := DBTaskResult.objects.ready().filter(enqueued_at__lt=timezone.now() - STUCK).count():
        yield Error(f"{overdue} jobs have waited for more than two minutes: no worker runs.", "Start manage.py worker.")
