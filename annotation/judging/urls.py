"""The addresses of work: what comes before a task, the task itself, and what the page's script asks."""

from django.urls import path

from . import guidance_views, script_views, views

urlpatterns = [
    path("work/batch/<int:batch_id>/", views.take, name="take"),
    path("work/batch/<int:batch_id>/consent/", guidance_views.consent, name="consent"),
    path("work/batch/<int:batch_id>/instructions/", guidance_views.instructions, name="instructions"),
    path("work/batch/<int:batch_id>/tutorial/", guidance_views.tutorial, name="tutorial"),
    path("work/batch/<int:batch_id>/test/", guidance_views.test, name="test"),
    path("work/batch/<int:batch_id>/answers/", views.answers, name="answers"),
    path("work/<str:key>/", views.task, name="task"),
    path("work/<str:key>/release/", views.release, name="release"),
    path("work/<str:key>/undo/", views.undo, name="undo"),
    path("work/<str:key>/receipt/", views.receipt, name="receipt"),
    path("work/<str:key>/revise/", views.revise, name="revise"),
    path("work/<str:key>/draft/", script_views.draft, name="draft"),
    path("work/<str:key>/submit/", script_views.submit, name="submit"),
    path("work/<str:key>/ahead/", script_views.ahead, name="ahead"),
]
