"""Addresses of the pages."""

from django.urls import path

from . import accounts, front, layouts, operator, payouts, requesters, worker_account, worker_qualifications, workers
from .errors import answer_wrong_methods
from .frame import frame

PAGES = [
    path("", front.home, name="home"),
    path("about/", front.about_page, name="about"),
    path("qualified/", front.qualified, name="qualified"),
    path("operations/", front.operations, name="operations"),
    path("operations/<str:name>/", front.operation, name="operation"),
    path("sign-in/", accounts.sign_in, name="sign-in"),
    path("sign-out/", accounts.sign_out, name="sign-out"),
    path("join/", accounts.join, name="join"),
    path("join/<str:code>/", accounts.join, name="join-by-code"),
    path("account/", worker_account.account, name="account"),
    path("account/password/", accounts.change_password, name="password"),
    path("account/bank/", worker_account.bank, name="bank"),
    path("account/data.json", worker_account.download, name="download"),
    # Workers
    path("hits/", workers.find, name="find"),
    path("hits/<str:hit_id>/", workers.preview, name="preview"),
    path("hits/<str:hit_id>/accept/", workers.accept, name="accept"),
    path("groups/<str:hit_type_id>/accept/", workers.accept_next, name="accept-next"),
    path("mturk/preview", workers.preview_group, name="preview-group"),
    path("work/", workers.queue, name="queue"),
    path("work/<str:assignment_id>/", workers.work, name="work"),
    path("work/<str:assignment_id>/state/", workers.work_state, name="work-state"),
    path("work/<str:assignment_id>/return/", workers.give_back, name="return"),
    path("frame/<str:token>/", frame, name="frame"),
    path("qualifications/", worker_qualifications.qualifications, name="qualifications"),
    path("qualifications/tests/<str:request_id>/", worker_qualifications.test, name="test"),
    path("qualifications/<str:qualification_type_id>/", worker_qualifications.qualification, name="qualification"),
    path("qualifications/<str:qualification_type_id>/ask/", worker_qualifications.ask, name="ask"),
    path("earnings/", worker_account.earnings, name="earnings"),
    path("history/", worker_account.history, name="history"),
    path("messages/", worker_account.inbox, name="inbox"),
    path("messages/<int:pk>/", worker_account.message, name="message"),
    # Requesters
    path("requester/", requesters.overview, name="requester"),
    path("requester/keys/", requesters.keys, name="keys"),
    path("requester/keys/<str:key_id>/revoke/", requesters.revoke, name="revoke"),
    path("requester/statement/", requesters.statement, name="statement"),
    path("requester/payments.csv", requesters.payments, name="payments"),
    path("requester/hits/", requesters.hits, name="requester-hits"),
    path("requester/hits/<str:hit_id>/", requesters.hit, name="requester-hit"),
    path("requester/assignments/<str:assignment_id>/judge/", requesters.judge, name="judge"),
    path("requester/layouts/", layouts.layouts, name="layouts"),
    path("requester/layouts/<str:layout_id>/delete/", layouts.delete_layout, name="delete-layout"),
    path("requester/events/", requesters.events, name="events"),
    # The operator
    path("operator/", operator.overview, name="operator"),
    path("operator/requesters/", operator.requesters, name="operator-requesters"),
    path("operator/requesters/<str:requester_id>/", operator.requester, name="operator-requester"),
    path("operator/workers/", operator.workers, name="operator-workers"),
    path("operator/workers/<str:worker_id>/", operator.worker, name="operator-worker"),
    path("operator/payouts/", payouts.payouts, name="operator-payouts"),
    path("operator/payouts/<int:number>/", payouts.payout_list, name="operator-payout-list"),
    path("operator/payouts/<int:number>/bank.csv", payouts.payout_file, name="operator-payout-file"),
    path("operator/settings/", operator.market_settings, name="operator-settings"),
    path("operator/invitations/", operator.invitations, name="operator-invitations"),
    path("operator/invitations/<int:pk>/withdraw/", operator.withdraw, name="operator-withdraw"),
    path("operator/blocks/", operator.blocks, name="operator-blocks"),
    path("operator/audit/", operator.audit, name="operator-audit"),
]

urlpatterns = answer_wrong_methods(PAGES)
