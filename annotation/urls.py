"""The site's addresses."""

from django.urls import path

from .views import home, study, work

handler400 = "annotation.views.errors.bad_request"
handler403 = "annotation.views.errors.denied"
handler404 = "annotation.views.errors.not_found"
handler500 = "annotation.views.errors.broken"

urlpatterns = [
    path("", home.home, name="home"),
    path("sign-in/", home.SignIn.as_view(), name="sign-in"),
    path("sign-out/", home.SignOut.as_view(), name="sign-out"),
    path("work/batch/<int:batch_id>/", work.take, name="take"),
    path("work/<str:key>/", work.task, name="task"),
    path("work/<str:key>/release/", work.release, name="release"),
    path("work/<str:key>/receipt/", work.receipt, name="receipt"),
    path("studies/<slug:slug>/", study.overview, name="study"),
    path("studies/<slug:slug>/report/", study.report, name="report"),
]
