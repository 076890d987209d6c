"""The marketplace's addresses. `POST /` is the requester API; it is answered before these (api/middleware.py)."""

from django.urls import include, path

from annotation.marketplace.hits.external_submit import external_submit, submitted

urlpatterns = [
    path("mturk/externalSubmit", external_submit, name="external-submit"),
    path("mturk/submitted", submitted, name="submitted"),
    path("", include("annotation.marketplace.pages.urls")),
]

# Pages for what went wrong
handler400 = "annotation.marketplace.pages.errors.bad_request"
handler403 = "annotation.marketplace.pages.errors.denied"
handler404 = "annotation.marketplace.pages.errors.not_found"
handler500 = "annotation.marketplace.pages.errors.broken"
