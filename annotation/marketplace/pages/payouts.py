"""The operator pays workers in one go: whom the market owes, lists for the bank, and what was paid."""

from django.contrib import messages
from django.db.models import Count, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from annotation.marketplace.books.money import cents, dollars
from annotation.marketplace.books.payouts import (
    COLUMNS,
    bank_rows,
    debts,
    list_by_number,
    make_list,
    mark_paid,
    owed_workers,
    total_of,
    withdraw_list,
)
from annotation.marketplace.errors import Refused
from annotation.marketplace.models import PayoutList, Worker
from annotation.marketplace.people import record

from .errors import answers_refusals
from .render import as_csv, operator_of, paginate, show


@require_http_methods(["GET", "HEAD", "POST"])
@answers_refusals
def payouts(request: HttpRequest) -> HttpResponse:
    """The operator: whom the market owes, as a page or as CSV; a POST makes a list of those who can be paid."""
    operator = operator_of(request)
    if request.method == "POST":
        try:
            payout_list = make_list(operator, cents(request.POST.get("least", "").strip().lstrip("$") or "0.01"))
        except Refused as refusal:
            messages.warning(request, str(refusal))
            return redirect("operator-payouts")
        return redirect("operator-payout-list", payout_list.pk)
    rows = owed_workers()
    if request.GET.get("format") == "csv":
        columns = ["worker_id", "name", "email", "country", "earned_usd", "paid_out_usd", "owed_usd", "simulated"]
        return as_csv("payouts.csv", columns, (_payout_row(worker) for worker in rows.iterator(2000)))
    lists = PayoutList.objects.annotate(workers=Count("lines"), cents=Sum("lines__cents"))
    context = {
        "section": "payouts",
        "page": paginate(request, rows),
        "owed": sum(worker.owed_cents for worker in rows),
        "debts": debts(),
        "lists": lists[:20],
    }
    return show(request, "operator/payouts.html", context)


def _payout_row(worker: Worker) -> list[str]:
    name, email = (worker.account.username, worker.account.email) if worker.account else ("", "")
    amounts = [dollars(worker.earned_cents), dollars(worker.paid_out_cents), dollars(worker.owed_cents)]
    return [worker.worker_id, name, email, worker.country, *amounts, "yes" if worker.is_simulated else "no"]


@require_http_methods(["GET", "HEAD", "POST"])
@answers_refusals
def payout_list(request: HttpRequest, number: int) -> HttpResponse:
    """The operator: one list; a POST marks it as paid, or withdraws it."""
    operator, row = operator_of(request), list_by_number(number)
    if request.method == "POST":
        try:
            if request.POST.get("action") == "withdraw":
                withdraw_list(row, operator)
                messages.success(request, "Withdrawn. Nothing of it was recorded as paid.")
            else:
                mark_paid(row, request.POST.get("reference", ""), operator)
                messages.success(request, f"Recorded: {row.lines.count()} workers, ${dollars(total_of(row))}.")
        except Refused as refusal:
            messages.warning(request, str(refusal))
        return redirect("operator-payout-list", number)
    lines = row.lines.select_related("worker__account", "worker__bank_details").order_by("worker__worker_id")
    context = {"section": "payouts", "list": row, "page": paginate(request, lines), "total": total_of(row)}
    return show(request, "operator/payout_list.html", context)


@require_safe
@answers_refusals
def payout_file(request: HttpRequest, number: int) -> HttpResponse:
    """The operator: the file for the bank. The log says who fetched it."""
    operator, row = operator_of(request), list_by_number(number)
    record(operator, "payout list fetched", str(row.pk))
    response = as_csv(f"payout-{row.pk}.csv", COLUMNS, bank_rows(row))
    response["Cache-Control"] = "no-store"
    return response
