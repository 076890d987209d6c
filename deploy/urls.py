"""Every address of the site starts here."""

from django.urls import include, path

from annotation.urls import handler400, handler403, handler404, handler500

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]

urlpatterns = [path("", include("annotation.urls"))]
