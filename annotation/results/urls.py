"""The addresses, below a study's, of quality, metrics, report and explorer, and of the jobs behind them."""

from django.urls import path

from . import metrics_views, quality_views, report_views
from .explorer import views as explorer_views

urlpatterns = [
    path("explorer/", explorer_views.explorer, name="explorer"),
    path("explorer/refresh/", explorer_views.refresh, name="explorer-refresh"),
    path("explorer/<int:document_id>/", explorer_views.document, name="explorer-document"),
    path("quality/", quality_views.quality, name="quality"),
    path("quality/decide/", quality_views.decide, name="quality-decide"),
    path("quality/batches/", quality_views.batches, name="quality-batches"),
    path("quality/workers/<str:pseudonym>/", quality_views.worker, name="quality-worker"),
    path("quality/<str:protocol>/<str:name>", quality_views.download, name="quality-download"),
    path("report/", report_views.report, name="report"),
    path("report/folder/", report_views.report_folder, name="report-folder"),
    path("report/<str:name>", report_views.report_file, name="report-file"),
    path("metrics/", metrics_views.metrics, name="metrics"),
    path("metrics/<str:name>/", metrics_views.metric, name="metric"),
    path("metrics/<str:name>/explain/", metrics_views.explanation, name="explain"),
    path("jobs/<int:job_id>/", metrics_views.job, name="job"),
    path("jobs/<int:job_id>/again/", metrics_views.job_again, name="job-again"),
]
