"""A study gets another name, or goes: only by its typed name, and only where no money was ever promised."""

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.models import Job, Posting, Study

LONGEST_NAME = 200


def rename_study(study: Study, name: str) -> None:
    """Another name; the address stays, because links and the record have it."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME:
        raise Refused(_("A study's name has 1 to %(most)d characters. Nothing was changed.") % {"most": LONGEST_NAME})
    study.name = name
    try:
        with transaction.atomic():
            study.save(update_fields=["name"])
    except IntegrityError:
        raise Refused(
            _("Another study has the name “%(name)s” already. Nothing was changed.") % {"name": name}
        ) from None


def delete_study(study: Study, typed: str) -> None:
    """Take a study away with all its texts, answers and its own record; who did so stays in the site's.

    Refused while anything of it stands on a market, where money was promised, or where a job of it runs.
    """
    if typed.strip() != study.name:
        raise Refused(_("The name that you typed is not the study's. Nothing was deleted."))
    with transaction.atomic():
        study = Study.objects.select_for_update().get(pk=study.pk)
        if study.entries.exists() or Posting.objects.filter(batch__study=study).exists():
            raise Refused(
                _(
                    "Money was promised in this study, so that its ledger must stay. Nothing was deleted: close its "
                    "batches instead."
                )
            )
        if study.jobs.filter(state__in=[Job.State.WAITING, Job.State.RUNNING]).exists():
            raise Refused(_("A job of this study is still running. Nothing was deleted: try again when it is over."))
        study.audit_events.all().delete()
        study.delete()
