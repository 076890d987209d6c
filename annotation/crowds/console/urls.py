"""The addresses of the crowd pages: launch, monitor, workers, links, ledger."""

from django.urls import path

from . import ledger_views, views, worker_views

urlpatterns = [
    path("collect/<int:batch_id>/launch/", views.launch, name="launch"),
    path("collect/<int:batch_id>/monitor/", views.monitor, name="monitor"),
    path("collect/<int:batch_id>/act/", views.act, name="batch-act"),
    path("collect/<int:batch_id>/workers/", worker_views.workers, name="crowd-workers"),
    path("collect/<int:batch_id>/workers/do/", worker_views.workers_do, name="crowd-workers-do"),
    path("collect/<int:batch_id>/workers/<int:worker_id>/", worker_views.worker, name="crowd-worker"),
    path("collect/<int:batch_id>/links/", worker_views.links, name="crowd-links"),
    path("ledger/", ledger_views.ledger, name="ledger"),
    path("ledger/ledger.csv", ledger_views.ledger_csv, name="ledger-csv"),
]
