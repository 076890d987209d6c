"""Turkle's pages for workers, with the addresses its templates link to."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("django.contrib.auth.urls")),
    path("", include("turkle.urls")),
]
