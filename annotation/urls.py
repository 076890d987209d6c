"""The site's addresses."""

from django.urls import include, path

from annotation.views.crowd_door import BARE
from annotation.views.errors import Route, answer_wrong_methods

from .views import (
    account,
    collect,
    explorer,
    exports,
    home,
    metrics,
    mturk_csv,
    new_study,
    quality,
    record,
    report,
    study,
    tokens,
    work,
    work_api,
)

handler400 = "annotation.views.errors.bad_request"
handler403 = "annotation.views.errors.denied"
handler404 = "annotation.views.errors.not_found"
handler500 = "annotation.views.errors.broken"

pages: list[Route] = [
    path("", include("annotation.urls_preparing")),
    path("studies/<slug:slug>/", include("annotation.urls_crowds")),
    path("tokens/", tokens.tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", tokens.revoke, name="revoke-token"),
    path("", home.home, name="home"),
    path("new-study/", new_study.new_study, name="new-study"),
    path("sign-in/", account.SignIn.as_view(), name="sign-in"),
    path("sign-in/code/", account.sign_in_code, name="sign-in-code"),
    path("account/", account.account, name="account"),
    path("account/password/", account.ChangePassword.as_view(), name="password"),
    path("account/second-factor/", account.set_up_factor, name="factor"),
    path("account/second-factor/off/", account.turn_off_factor, name="factor-off"),
    path("invited/<str:secret>/", account.invited, name="invited"),
    path("sign-out/", home.SignOut.as_view(), name="sign-out"),
    path("work/batch/<int:batch_id>/", work.take, name="take"),
    path("work/<str:key>/", work.task, name="task"),
    path("work/<str:key>/release/", work.release, name="release"),
    path("work/<str:key>/receipt/", work.receipt, name="receipt"),
    # The work page's script, revising, and the list of one's own answers
    path("work/batch/<int:batch_id>/answers/", work.answers, name="answers"),
    path("work/<str:key>/revise/", work.revise, name="revise"),
    path("work/<str:key>/draft/", work_api.draft, name="draft"),
    path("work/<str:key>/submit/", work_api.submit, name="submit"),
    path("studies/<slug:slug>/", study.overview, name="study"),
    path("studies/<slug:slug>/collect/", collect.collect, name="collect"),
    path("studies/<slug:slug>/collect/<int:batch_id>/", collect.batch_state, name="batch-state"),
    path("studies/<slug:slug>/collect/members/", collect.members, name="members"),
    path("studies/<slug:slug>/explorer/", explorer.explorer, name="explorer"),
    path("studies/<slug:slug>/explorer/refresh/", explorer.refresh, name="explorer-refresh"),
    path("studies/<slug:slug>/explorer/<int:document_id>/", explorer.document, name="explorer-document"),
    path("studies/<slug:slug>/collect/invitations/", collect.invite, name="invite"),
    path("studies/<slug:slug>/record/", record.record, name="record"),
    path("studies/<slug:slug>/quality/", quality.quality, name="quality"),
    path("studies/<slug:slug>/quality/decide/", quality.decide, name="quality-decide"),
    path("studies/<slug:slug>/quality/workers/<str:pseudonym>/", quality.worker, name="quality-worker"),
    path("studies/<slug:slug>/quality/<str:protocol>/<str:name>", quality.download, name="quality-download"),
    path("studies/<slug:slug>/report/", report.report, name="report"),
    path("studies/<slug:slug>/report/folder/", report.report_folder, name="report-folder"),
    path("studies/<slug:slug>/report/<str:name>", report.report_file, name="report-file"),
    path("studies/<slug:slug>/collect/<int:batch_id>/batch.csv", mturk_csv.batch_csv, name="batch-csv"),
    path("studies/<slug:slug>/exports/", exports.exports, name="exports"),
    path("studies/<slug:slug>/exports/<str:key>/<str:name>", exports.export_file, name="export-file"),
    path("studies/<slug:slug>/datasheet/", exports.datasheet_page, name="datasheet"),
    path("studies/<slug:slug>/datasheet/<str:name>", exports.datasheet_file, name="datasheet-file"),
    path("studies/<slug:slug>/metrics/", metrics.metrics, name="metrics"),
    path("studies/<slug:slug>/metrics/<str:name>/", metrics.metric, name="metric"),
    path("studies/<slug:slug>/metrics/<str:name>/explain/", metrics.explanation, name="explain"),
    path("studies/<slug:slug>/jobs/<int:job_id>/", metrics.job, name="job"),
]

bare_pages = [path("w/", include("annotation.urls_crowds_work"))]

urlpatterns = [
    *answer_wrong_methods(bare_pages, BARE),
    *answer_wrong_methods(pages),
    path("api/", include("annotation.api.urls")),
]
