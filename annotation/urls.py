"""The site's addresses: every room has its own."""

from django.urls import include, path

from annotation.common.error_pages import Route, answer_wrong_methods
from annotation.crowds.worker.access import BARE

handler400 = "annotation.common.error_pages.bad_request"
handler403 = "annotation.common.error_pages.denied"
handler404 = "annotation.common.error_pages.not_found"
handler500 = "annotation.common.error_pages.broken"

pages: list[Route] = [
    path("", include("annotation.accounts.urls")),
    path("", include("annotation.judging.urls")),
    path("", include("annotation.studies.urls")),
    path("studies/<slug:slug>/", include("annotation.guidance.urls")),
    path("", include("annotation.scus.urls")),
    path("studies/<slug:slug>/", include("annotation.crowds.console.urls")),
    path("studies/<slug:slug>/", include("annotation.crowds.judges.urls")),
    path("studies/<slug:slug>/", include("annotation.results.urls")),
    path("", include("annotation.transfer.urls")),
]

bare_pages = [path("w/", include("annotation.crowds.worker.urls"))]

urlpatterns = [
    *answer_wrong_methods(bare_pages, BARE),
    *answer_wrong_methods(pages),
    path("api/", include("annotation.api.urls")),
]
