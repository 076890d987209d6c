"""The addresses of the front page and of a study: its overview, batches, members and second rounds."""

from django.urls import path

from . import batch_views, builder_views, round_views, views

urlpatterns = [
    path("", views.home, name="home"),
    path("studies/<slug:slug>/", views.overview, name="study"),
    path("studies/<slug:slug>/edit/", views.edit_study, name="edit-study"),
    path("studies/<slug:slug>/collect/", batch_views.collect, name="collect"),
    path("studies/<slug:slug>/collect/new/", builder_views.new_batch, name="new-batch"),
    path("studies/<slug:slug>/collect/new/size/", builder_views.size, name="batch-size"),
    path("studies/<slug:slug>/collect/new/preview/", builder_views.preview, name="batch-preview"),
    path("studies/<slug:slug>/collect/<int:batch_id>/edit/", builder_views.edit_batch, name="edit-batch"),
    path("studies/<slug:slug>/collect/<int:batch_id>/", batch_views.batch_state, name="batch-state"),
    path("studies/<slug:slug>/collect/members/", batch_views.members, name="members"),
    path("studies/<slug:slug>/collect/invitations/", batch_views.invite, name="invite"),
    path("studies/<slug:slug>/rounds/", round_views.rounds, name="rounds"),
    path("studies/<slug:slug>/rounds/<int:batch_id>/", round_views.round_of, name="round"),
    path("studies/<slug:slug>/rounds/<int:batch_id>/open/", round_views.open_round, name="open-round"),
]
