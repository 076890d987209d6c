"""A person's word on a doubtful line of the ledger: where asking the market again could pay twice, people look."""

from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.common.labels import label
from annotation.crowds.ledger import State, fail_entry, settle_entry
from annotation.models import Entry, Study, User


def decide(entry: Entry, paid: bool, asked_by: User | None, note: str = "") -> Entry:
    """A person's word on a doubtful line: it was paid, or it was not."""
    line = Entry.objects.get(pk=entry.pk)
    if line.state != State.DOUBTFUL:
        raise Refused(_("This line is %(state)s, not doubtful. Nothing was changed.") % {"state": label(line.state)})
    person = asked_by.get_username() if asked_by else _("somebody")
    sentence = f"{person}: {'paid' if paid else 'not paid'}. {note}".strip()
    if paid:
        settle_entry(line, note=sentence)
    else:
        fail_entry(line, sentence)
    return line


def decide_line(study: Study, number: int, paid: bool, asked_by: User | None, note: str = "") -> Entry:
    """The same by the line's number."""
    entry = Entry.objects.filter(study=study, pk=number).first()
    if entry is None:
        raise Refused(_("This study's ledger has no line %(n)d. Nothing was changed.") % {"n": number})
    return decide(entry, paid, asked_by, note)
