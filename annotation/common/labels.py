"""States, roles and kinds, which the database keeps in English, in the reader's language."""

from django.utils.translation import gettext, gettext_noop

WORDS = frozenset(
    {
        gettext_noop("draft"),
        gettext_noop("open"),
        gettext_noop("paused"),
        gettext_noop("closed"),
        gettext_noop("expired"),
        gettext_noop("withdrawn"),
        gettext_noop("planned"),
        gettext_noop("settled"),
        gettext_noop("failed"),
        gettext_noop("doubtful"),
        gettext_noop("started"),
        gettext_noop("submitted"),
        gettext_noop("approved"),
        gettext_noop("rejected"),
        gettext_noop("returned"),
        gettext_noop("post"),
        gettext_noop("extend"),
        gettext_noop("approve"),
        gettext_noop("bonus"),
        gettext_noop("release"),
        gettext_noop("annotator"),
        gettext_noop("admin"),
        gettext_noop("analyst"),
        gettext_noop("crowd"),
        gettext_noop("expert"),
        gettext_noop("model"),
        gettext_noop("answered"),
        gettext_noop("lost"),
        gettext_noop("tutorial"),
        gettext_noop("test"),
        gettext_noop("nothing"),
        gettext_noop("desktop"),
        gettext_noop("tablet"),
        gettext_noop("mobile"),
        gettext_noop("whole work"),
        gettext_noop("whole work of workers who don't stand out"),
    }
)


def label(value: str) -> str:
    """One of the words above as people read it; any other stays as it is."""
    return gettext(value) if value in WORDS else value
