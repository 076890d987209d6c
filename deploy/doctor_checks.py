"""The checks of `manage.py doctor`: each looks at one thing that goes wrong in deployments."""

import http.client
import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from .doctor import check
from .environment import Environment

SKEW = timedelta(seconds=30)
STUCK = timedelta(minutes=2)
STALE_BACKUP = timedelta(days=2)
LEAST_KEY = 40
REDIRECTS = {301, 302, 303, 307, 308}
EXAMPLES = ("example.org", "example.com", "localhost", "127.0.0.1")
TABLES_WITH_TRIGGERS = {"annotation_assignment", "annotation_judgment", "annotation_entry"}


def _is_site() -> bool:
    return apps.is_installed("annotation")


def _ours(name: str) -> str:
    """What this product calls a setting that both have."""
    return name if _is_site() else f"MARKETPLACE_{name}"


def _manage(command: str) -> str:
    """How this product's command is typed."""
    if _is_site():
        return f"manage.py {command}"
    return f"python -m django {command} --settings deploy.marketplace_settings"


@check("demo")
def demo_is_off() -> str | None:
    if settings.DEMO:
        return "DEMO is on: everybody knows the passwords of the demo accounts. Set DEMO=no."
    return None


@check("debug")
def debug_is_off() -> str | None:
    if settings.DEBUG or Environment.here().flag("DEBUG"):
        return "DEBUG is on: error pages would show the inside of the program. Set DEBUG=no."
    return None


@check("secret key")
def secret_key_is_strong() -> str | None:
    key, name = settings.SECRET_KEY, _ours("SECRET_KEY")
    if len(key) < LEAST_KEY or len(set(key)) < 10:
        return (
            f"{name} is short or simple ({len(key)} characters): sessions and worker links could be forged. "
            'Make one: python -c "import secrets; print(secrets.token_urlsafe(50))".'
        )
    if key == Environment.here().text("MARKETPLACE_SECRET_KEY" if _is_site() else "SECRET_KEY"):
        return "SECRET_KEY and MARKETPLACE_SECRET_KEY are the same: give the marketplace one of its own."
    return None


@check("hosts")
def hosts_are_named() -> str | None:
    if "*" in settings.ALLOWED_HOSTS:
        return (
            f"{_ours('ALLOWED_HOSTS')} is *: anybody can make links that name another host. Name the hosts people type."
        )
    names = [host.lstrip(".") for host in settings.ALLOWED_HOSTS]
    if not settings.DEMO and all(any(name.endswith(known) for known in EXAMPLES) for name in names):
        shown = ", ".join(names) or "empty"
        return f"{_ours('ALLOWED_HOSTS')} is {shown}: an example, not the name people type. Set your own."
    return None


@check("site address")
def site_address_fits() -> str | None:
    name = "SITE_URL" if _is_site() else "MARKETPLACE_URL"
    address = getattr(settings, name)
    host = urlsplit(address).hostname
    if not host:
        if not _is_site() and not address:
            return None  # the marketplace then takes the address of each request
        return f"{name} is not set: markets could not send workers here. Set it, e.g. https://pyramidion.your-lab.org."
    if not settings.DEMO and urlsplit(address).scheme != "https":
        return f"{name} is {address}: browsers refuse plain HTTP inside a market's page. Serve and name it by https."
    if not any(host == known or (known.startswith(".") and host.endswith(known)) for known in settings.ALLOWED_HOSTS):
        hosts = _ours("ALLOWED_HOSTS")
        return f"{name} names {host}, which {hosts} does not: workers would get an error page. Add it there."
    return None


@check("https")
def https_is_on() -> str | None:
    if not settings.HTTPS:
        return None if settings.DEMO else "HTTPS is off: passwords travel in the clear. Set HTTPS=yes."
    if settings.SECURE_PROXY_SSL_HEADER is None:
        return (
            "HTTPS is on but BEHIND_PROXY is off: behind a proxy that ends TLS every page would redirect to itself. "
            "Set BEHIND_PROXY=yes when such a proxy stands in front."
        )
    return None


@check("database")
def database_answers() -> str | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        reason = (str(error).strip().splitlines() or [""])[0]
        return (
            f"The database does not answer ({reason[:120]}). Check {_ours('DATABASE_URL')}, and that the server runs."
        )
    return None


@check("migrations")
def migrations_are_applied() -> str | None:
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if waiting:
        return f"{len(waiting)} migrations wait. Run {_manage('migrate')} (after {_manage('backup')})."
    return None


@check("rules", site_only=True)
def triggers_are_there() -> str | None:
    if connection.vendor == "sqlite":
        query = "SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'trigger'"
    else:
        query = "SELECT DISTINCT event_object_table FROM information_schema.triggers"
    with connection.cursor() as cursor:
        cursor.execute(query)
        found = {name for (name,) in cursor.fetchall()}
    if not found >= TABLES_WITH_TRIGGERS:
        missing = ", ".join(sorted(TABLES_WITH_TRIGGERS - found))
        return f"The database lacks its own rules on {missing}: quotas are not kept. Run manage.py migrate."
    return None


@check("engine")
def engine_fits() -> str | None:
    processes = Environment.here().number(_ours("WEB_PROCESSES"), 2)
    if connection.vendor == "sqlite" and not settings.DEMO and processes > 2:
        return (
            f"SQLite with {processes} web processes: writers queue behind each other. "
            f"Use PostgreSQL ({_ours('DATABASE_URL')}=postgres://…), or {_ours('WEB_PROCESSES')}=2."
        )
    return None


@check("database password")
def database_asks_for_a_password() -> str | None:
    there = connection.settings_dict
    local = there.get("HOST", "") in ("", "127.0.0.1", "localhost", "::1") or str(there.get("HOST")).startswith("/")
    if connection.vendor == "postgresql" and not local:
        if not there.get("PASSWORD"):
            return f"{_ours('DATABASE_URL')} has no password for a server on another host. Give the account one."
        if "sslmode" not in there.get("OPTIONS", {}):
            return (
                f"The way to the database is not encrypted for sure. Add ?sslmode=require to {_ours('DATABASE_URL')}."
            )
    return None


@check("accounts", site_only=True)
def no_demo_accounts() -> str | None:
    if settings.DEMO:
        return None
    users = get_user_model().objects.filter(is_active=True)
    if found := users.filter(is_demo=True).count():
        return f"{found} demo accounts are in this database. They can't sign in; delete them all the same."
    weak = [user.get_username() for user in users.filter(is_superuser=True) if _has_known_password(user)]
    if weak:
        return (
            f"The password of {', '.join(weak)} is one that everybody tries first. Change it: manage.py changepassword."
        )
    if not users.filter(is_superuser=True).exists():
        return "Nobody can make studies: there is no superuser. Run manage.py createsuperuser."
    return None


def _has_known_password(user: object) -> bool:
    return any(user.check_password(word) for word in ("demo", "admin", "password"))  # type: ignore[attr-defined]


@check("background", site_only=True)
def background_work_goes_on() -> str | None:
    if settings.BACKGROUND == "immediate":
        if settings.DEMO:
            return None
        return (
            "BACKGROUND is immediate: long work would block the pages. Set BACKGROUND=worker and run manage.py worker."
        )
    from django_tasks_db.models import DBTaskResult

    overdue = DBTaskResult.objects.ready().filter(enqueued_at__lt=timezone.now() - STUCK).count()
    if overdue:
        return f"{overdue} jobs have waited for more than two minutes: no worker runs. Start manage.py worker."
    return None


@check("static files")
def static_files_are_collected() -> str | None:
    if not (Path(settings.STATIC_ROOT) / "staticfiles.json").is_file() and not settings.DEMO:
        return f"There are no static files in {settings.STATIC_ROOT}. Run {_manage('collectstatic')}."
    return None


@check("exports", site_only=True)
def exports_can_be_written() -> str | None:
    try:
        Path(settings.EXPORT_ROOT).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.EXPORT_ROOT):
            return None
    except OSError as error:
        return (
            f"EXPORT_ROOT is {settings.EXPORT_ROOT}, where nothing can be written ({error.strerror}): "
            "every export would fail. Name a folder that the account of the site and the workers may write to."
        )


@check("disk")
def disk_has_room() -> str | None:
    least = settings.DOCTOR_FREE_MB
    places = {Path(settings.STATIC_ROOT)}
    if connection.vendor == "sqlite":
        places.add(Path(connection.settings_dict["NAME"]).resolve().parent)
    if settings.BACKUP_DIR:
        places.add(Path(settings.BACKUP_DIR))
    for place in places:
        while not place.exists():
            place = place.parent
        free = shutil.disk_usage(place).free // 10**6
        if free < least:
            return f"{place} has {free} MB free, less than {least}. Make room before answers can't be saved."
    return None


@check("files")
def secrets_are_private() -> str | None:
    files = [Path(os.environ.get("ENV_FILE") or "var/env")]
    if connection.vendor == "sqlite":
        files.append(Path(connection.settings_dict["NAME"]))
    for file in files:
        if file.is_file() and file.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH) and not settings.DEMO:
            return f"Everybody on this machine can read {file}. Run chmod 600 {file}."
    return None


@check("backup")
def backup_is_recent() -> str | None:
    if settings.DEMO:
        return None
    if not settings.BACKUP_DIR:
        backup = _manage("backup")
        return f"BACKUP_DIR is not set: nobody can tell if there are backups. Set it, and run {backup} daily."
    files = [file for file in Path(settings.BACKUP_DIR).glob("*") if file.is_file()]
    newest = max((file.stat().st_mtime for file in files), default=0)
    if datetime.fromtimestamp(newest, UTC) < datetime.now(UTC) - STALE_BACKUP:
        return f"{settings.BACKUP_DIR} has no backup of the last two days. Run {_manage('backup')}, and look why."
    return None


@check("endpoints", site_only=True)
def endpoints_answer() -> str | None:
    for name in ("MTURK_ENDPOINT_URL", "PROLIFIC_URL"):
        address = str(getattr(settings, name, "") or "")
        if not address or (name == "PROLIFIC_URL" and not settings.PROLIFIC_TOKEN):
            continue
        if urlsplit(address).scheme != "https" and not settings.DEMO and not _is_local(address):
            return f"{name} is {address}: keys would travel in the clear. Name it by https."
        there = _knock(address)
        if there is None:
            return f"{name} is {address}, and nobody answers there. Correct it, or start the market."
        if there.moved_to and name == "MTURK_ENDPOINT_URL":
            return f"{name} is {address}, which redirects to {there.moved_to}. Calls don't follow: name that address."
    return None


@check("market key", site_only=True)
def market_key_is_there() -> str | None:
    given = settings.MTURK_ACCESS_KEY_ID and settings.MTURK_SECRET_ACCESS_KEY
    if settings.MTURK_ENDPOINT_URL and not given and not settings.DEMO:
        return (
            "MTURK_ENDPOINT_URL is set, but no key: nothing can be published, and nobody whom the market signs for is "
            "let in. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    return None


@check("signed entry", site_only=True)
def market_signs_whom_it_sends() -> str | None:
    if not settings.MTURK_ENDPOINT_URL or settings.DEMO or settings.MTURK_SIGNED_ENTRY is not _is_amazon():
        return None
    if settings.MTURK_SIGNED_ENTRY:
        return "Amazon's market signs nothing, so all its workers would be turned away. Set MTURK_SIGNED_ENTRY=no."
    return (
        "Whoever knows a worker's id can come to a task under it. The marketplace signs whom it sends: set "
        "MTURK_SIGNED_ENTRY=yes."
    )


def _is_amazon() -> bool:
    return f".{urlsplit(settings.MTURK_ENDPOINT_URL).hostname or ''}".endswith(".amazonaws.com")


@check("clock")
def clock_is_right() -> str | None:
    endpoint = getattr(settings, "MTURK_ENDPOINT_URL", "")
    market = _knock(endpoint) if endpoint else None
    times = [("the market", market.clock if market else None)]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            times.append(("the database", cursor.fetchone()[0]))
    for whose, there in times:
        if there is not None and abs(there - datetime.now(UTC)) > SKEW:
            off = abs(there - datetime.now(UTC)).total_seconds()
            return (
                f"This clock and that of {whose} differ by {off:.0f} seconds: "
                "leases and signatures would fail. Run a time service (timedatectl set-ntp true)."
            )
    return None


def _is_local(address: str) -> bool:
    return urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Knock:
    """What a web server says when it is asked for anything."""

    clock: datetime | None
    """By the Date of its answer; None when it keeps its time to itself."""
    moved_to: str
    """The other origin where it sends callers; empty when it answers itself."""


def _knock(address: str) -> Knock | None:
    """None when nobody answers."""
    parts = urlsplit(address)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    there = kind(parts.hostname or "", parts.port, timeout=5)
    try:
        there.request("HEAD", parts.path or "/")
        answer = there.getresponse()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        there.close()
    moved = urljoin(address, answer.getheader("Location") or "") if answer.status in REDIRECTS else ""
    if urlsplit(moved)[:2] == parts[:2]:
        moved = ""
    try:
        return Knock(parsedate_to_datetime(answer.getheader("Date") or ""), moved)
    except ValueError:
        return Knock(None, moved)


@check("ledger", site_only=True)
def ledger_waits_for_nobody() -> str | None:
    from annotation.models import Entry

    doubtful = Entry.objects.filter(state=Entry.State.DOUBTFUL).count()
    old = timezone.now() - timedelta(hours=1)
    unsettled = Entry.objects.filter(state=Entry.State.PLANNED, called_at__lt=old).count()
    if doubtful:
        return f"{doubtful} payments wait for a person's word (Collect → Ledger): say whether each was paid."
    if unsettled:
        return f"{unsettled} payments were begun and never confirmed. Run manage.py settle."
    return None


@check("measuring", site_only=True)
def measuring_is_protected() -> str | None:
    if not settings.METRICS_TOKEN and not settings.DEMO:
        return "METRICS_TOKEN is not set, so /metrics answers nobody. Set it to a long random string to measure."
    return None
