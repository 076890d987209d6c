"""Requesters' HIT layouts: pages with placeholders, for CreateHIT with a HITLayoutId."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from annotation.marketplace.errors import Refused
from annotation.marketplace.hits.layouts import HIGHEST, create_layout, own_layout, placeholders

from .errors import answers_refusals
from .render import requester_of, show


class LayoutForm(forms.Form):
    name = forms.CharField(label="Name", max_length=200)
    frame_height = forms.IntegerField(
        label="Height",
        min_value=0,
        max_value=HIGHEST,
        initial=0,
        help_text="In pixels; 0: as high as the window allows.",
    )
    html = forms.CharField(
        label="Page",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 12, "spellcheck": "false"}),
        help_text="Whole HTML with a form to /mturk/externalSubmit; ${name} stands for a value that CreateHIT gives.",
    )


@require_http_methods(["GET", "POST"])
def layouts(request: HttpRequest) -> HttpResponse:
    """Requesters: their layouts, and a form for another one."""
    requester = requester_of(request)
    form = LayoutForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            layout = create_layout(requester, **form.cleaned_data)
        except Refused as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(request, f"Kept. Its HITLayoutId is {layout.layout_id}.")
            return redirect("layouts")
    rows = [(layout, placeholders(layout.html)) for layout in requester.layouts.all()]
    context = {"section": "layouts", "rows": rows, "form": form}
    return show(request, "requester/layouts.html", context, status=422 if form.errors else 200)


@require_POST
@answers_refusals
def delete_layout(request: HttpRequest, layout_id: str) -> HttpResponse:
    """The requester whose layout it is. HITs made from it stay as they are."""
    layout = own_layout(requester_of(request), layout_id)
    layout.delete()
    messages.success(request, f"Deleted “{layout.name}”. HITs made from it stay as they are.")
    return redirect("layouts")
