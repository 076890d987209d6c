"""What admins do while judgments come in: batches change state, people get roles."""

from django.db import transaction
from django.utils.translation import gettext, gettext_lazy, ngettext

from annotation.common.errors import Refused
from annotation.common.labels import label
from annotation.guidance.pinning import pin
from annotation.models import Batch, Membership, Posting, Role, Study, User

# What a batch may be turned into, with the word on the button.
MOVES = {
    Batch.State.DRAFT: [(Batch.State.OPEN, gettext_lazy("Open"))],
    Batch.State.OPEN: [(Batch.State.PAUSED, gettext_lazy("Pause")), (Batch.State.CLOSED, gettext_lazy("Close"))],
    Batch.State.PAUSED: [(Batch.State.OPEN, gettext_lazy("Open again")), (Batch.State.CLOSED, gettext_lazy("Close"))],
    Batch.State.CLOSED: [],
}


# The postings that the market has to be asked about first, by what the batch is to become.
ON_MARKET: dict[str, list[str]] = {
    Batch.State.PAUSED: [Posting.State.OPEN],
    Batch.State.OPEN: [Posting.State.PAUSED],
    Batch.State.CLOSED: [state for state in Posting.State if state != Posting.State.CLOSED],
}


class PostingsStand(Refused):
    """The batch has to be paused, opened again or closed on its market first."""


def set_state(study: Study, batch_id: int, state: str) -> None:
    """Move a batch on. A closed one stays closed: its answers are the record."""
    with transaction.atomic():
        batch = Batch.objects.select_for_update().filter(study=study, pk=batch_id).first()
        if batch is None:
            raise Refused(gettext("There is no such batch in this study. Nothing was changed."))
        if state not in dict(MOVES[Batch.State(batch.state)]):
            raise Refused(
                gettext("“%(batch)s” is %(state)s and can't become “%(wanted)s”. Nothing was changed.")
                % {"batch": batch, "state": label(batch.state), "wanted": label(state[:20])}
            )
        _refuse_standing(batch, Batch.State(state))
        if state == Batch.State.OPEN:
            pin(batch)
        batch.state = state
        batch.save(update_fields=["state"])


def _refuse_standing(batch: Batch, state: Batch.State) -> None:
    """A batch is not moved under its postings: workers would take what nobody can do, or find nothing to take."""
    n_standing = 0 if batch.is_direct else batch.postings.filter(state__in=ON_MARKET[state]).count()
    if n_standing:
        raise PostingsStand(
            ngettext(
                "%(n)d posting of “%(batch)s” stands on the market. Nothing was changed: do this on its Monitor page.",
                "%(n)d postings of “%(batch)s” stand on the market. Nothing was changed: do this on its Monitor page.",
                n_standing,
            )
            % {"n": n_standing, "batch": batch}
        )


def add_member(study: Study, name: str, role: str) -> None:
    """Give an existing account a role, or another role than before."""
    if role not in Role.values:
        raise Refused(
            gettext("There is no role “%(role)s”. Known: %(known)s. Nothing was changed.")
            % {"role": role[:20], "known": ", ".join(Role.values)}
        )
    user = User.objects.filter(username=name).first()
    if user is None:
        raise Refused(
            gettext(
                "There is no account named “%(name)s”. Nothing was changed: look at the spelling, or invite this "
                "person below."
            )
            % {"name": name[:60]}
        )
    with transaction.atomic():
        _keep_an_admin(study, name, role)
        Membership.objects.update_or_create(study=study, user=user, defaults={"role": role})


def remove_member(study: Study, name: str) -> None:
    """Take a person's role away. Their judgments stay."""
    with transaction.atomic():
        _keep_an_admin(study, name, "")
        if not Membership.objects.filter(study=study, user__username=name).delete()[0]:
            raise Refused(gettext("“%(name)s” has no part in this study. Nothing was changed.") % {"name": name[:60]})


def _keep_an_admin(study: Study, name: str, role: str) -> None:
    """Refused for the last one. Two admins who take each other out take turns at the study's row."""
    Study.objects.select_for_update().get(pk=study.pk)
    admins = set(study.memberships.filter(role=Role.ADMIN).values_list("user__username", flat=True))
    if admins == {name} and role != Role.ADMIN:
        raise Refused(
            gettext("“%(name)s” is the study's only admin. Make somebody else admin first. Nothing was changed.")
            % {"name": name}
        )
