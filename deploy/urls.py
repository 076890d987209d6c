"""Every address of the site starts here."""

from django.urls import include, path

urlpatterns = [path("", include("annotation.urls"))]
