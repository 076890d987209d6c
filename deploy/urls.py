"""Every address of the site starts here."""

from django.urls import include, path

from annotation.urls import handler400, handler403, handler404
from annotation.urls import handler500 as own_page

from .monitoring import health, last_error_page

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]

handler500 = last_error_page.or_last_page(own_page)

urlpatterns = [
    path("healthz", health.alive, name="alive"),
    path("readyz", health.ready, name="ready"),
    path("metrics", health.meters, name="meters"),
    path("", include("annotation.urls")),
]
