"""The addresses of the pages of judges."""

from django.urls import path

from . import views

urlpatterns = [
    path("judges/", views.judges, name="judges"),
    path("judges/<int:judge_id>/", views.judge, name="judge"),
    path("judges/runs/<int:batch_id>/", views.judge_run, name="judge-run"),
    path("judges/runs/<int:batch_id>/calls.jsonl", views.judge_calls, name="judge-calls"),
]
