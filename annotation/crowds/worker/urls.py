"""The addresses of workers without an account. Everything below /w/ works without a cookie."""

from django.urls import path

from . import reports
from . import views as work

urlpatterns = [
    path("mturk/<str:token>/", work.come_in, {"crowd": "mturk"}, name="crowd-mturk"),
    path("prolific/<str:token>/", work.come_in, {"crowd": "prolific"}, name="crowd-prolific"),
    path("link/<str:token>/", work.link, name="crowd-link"),
    path("about/<str:token>/", work.about, name="crowd-about"),
    path("report/<slug:crowd>/<str:address>/", reports.report, name="crowd-report"),
    path("preview/<int:batch_id>/", work.preview, name="crowd-preview"),
    path("t/<str:token>/", work.start, name="crowd-start"),
    path("t/<str:token>/consent/", work.consent, name="crowd-consent"),
    path("t/<str:token>/instructions/", work.instructions, name="crowd-instructions"),
    path("t/<str:token>/tutorial/", work.tutorial, name="crowd-tutorial"),
    path("t/<str:token>/test/", work.test, name="crowd-test"),
    path("t/<str:token>/finish/", work.end, name="crowd-finish"),
    path("t/<str:token>/leave/", work.stop, name="crowd-leave"),
    path("t/<str:token>/<str:key>/", work.task, name="crowd-task"),
    path("t/<str:token>/<str:key>/draft/", work.draft, name="crowd-draft"),
    path("t/<str:token>/<str:key>/submit/", work.submit, name="crowd-submit"),
    path("t/<str:token>/<str:key>/ahead/", work.ahead, name="crowd-ahead"),
    path("t/<str:token>/<str:key>/undo/", work.undo, name="crowd-undo"),
    path("t/<str:token>/<str:key>/advice/", work.advice, name="crowd-advice"),
    path("t/<str:token>/<str:key>/done/", work.done, name="crowd-done"),
    path("<slug:crowd>/<str:token>/", work.come_in, name="crowd-entry"),  # any other market
]
