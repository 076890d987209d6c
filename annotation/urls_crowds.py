"""The addresses of the crowd pages: launch, monitor, workers, links, ledger."""

from django.urls import path

from .views import crowd_people, crowds, ledger

urlpatterns = [
    path("collect/<int:batch_id>/launch/", crowds.launch, name="launch"),
    path("collect/<int:batch_id>/monitor/", crowds.monitor, name="monitor"),
    path("collect/<int:batch_id>/act/", crowds.act, name="batch-act"),
    path("collect/<int:batch_id>/workers/", crowd_people.workers, name="crowd-workers"),
    path("collect/<int:batch_id>/workers/do/", crowd_people.workers_do, name="crowd-workers-do"),
    path("collect/<int:batch_id>/links/", crowd_people.links, name="crowd-links"),
    path("ledger/", ledger.ledger, name="ledger"),
    path("ledger/ledger.csv", ledger.ledger_csv, name="ledger-csv"),
]
