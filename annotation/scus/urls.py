"""The addresses of SCU lists, and of the advice while one is written."""

from django.urls import path

from . import views

urlpatterns = [
    path("work/<str:key>/advice/", views.advice, name="advice"),
    path("studies/<slug:slug>/scus/", views.scus, name="scus"),
    path("studies/<slug:slug>/scus/<int:reference_id>/", views.scu_list, name="scu-list"),
    path("studies/<slug:slug>/scus/<int:reference_id>/advice/", views.list_advice, name="list-advice"),
]
