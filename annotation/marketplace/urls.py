"""The marketplace's addresses. `POST /` is the requester API; it is answered before these (api/door.py)."""

from django.urls import include, path

from .submits import external_submit, submitted

urlpatterns = [
    path("mturk/externalSubmit", external_submit, name="external-submit"),
    path("mturk/submitted", submitted, name="submitted"),
    path("", include("annotation.marketplace.pages.urls")),
]
