"""Small studies for tests, made through the models and functions that the site itself uses."""

from itertools import count

from annotation.models import (
    Batch,
    ContentUnit,
    Document,
    Membership,
    Reference,
    Role,
    Study,
    Summary,
    System,
    Task,
    User,
    Worker,
)

_numbers = count(1)


def make_user(name: str = "", password: str = "secret-for-tests") -> User:
    return User.objects.create_user(name or f"person{next(_numbers)}", password=password)


def make_member(study: Study, role: str = Role.ANNOTATOR, name: str = "") -> User:
    user = make_user(name)
    Membership.objects.create(study=study, user=user, role=role)
    return user


def make_worker(study: Study) -> Worker:
    return Worker.for_user(study, make_member(study))


def make_study(documents: int = 1, systems: int = 1, units: int = 3, name: str = "") -> Study:
    """Documents with one reference, a summary by each system, and `units` SCUs."""
    study = Study.objects.create(name=name or f"study {next(_numbers)}")
    all_systems = [System.objects.create(study=study, name=f"system{n}", group="abs") for n in range(systems)]
    for d in range(documents):
        document = Document.objects.create(study=study, doc_id=f"doc{d}", source=f"Source text number {d}. It goes on.")
        Reference.objects.create(document=document, text=[f"Reference number {d}.", "It has two sentences."])
        Summary.objects.bulk_create(
            Summary(document=document, system=system, text=f"Summary of document {d} by {system.name}.")
            for system in all_systems
        )
        ContentUnit.objects.bulk_create(
            ContentUnit(document=document, scu_id=f"scu{n:02}", text=f"Fact {n} of document {d}.") for n in range(units)
        )
    return study


def make_batch(study: Study, quota: int = 1, protocol: str = "litepyramid", state: str = Batch.State.OPEN) -> Batch:
    """An open batch with a task for every summary."""
    batch = Batch.objects.create(study=study, name=f"batch {next(_numbers)}", protocol=protocol, state=state)
    summaries = Summary.objects.filter(document__study=study).order_by("pk").values_list("document_id", "pk")
    Task.objects.bulk_create(
        Task(batch=batch, document_id=document, summary_id=summary, quota=quota) for document, summary in summaries
    )
    return batch
