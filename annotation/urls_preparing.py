"""The addresses of what comes before and after judging: guidance, SCU lists, second rounds."""

from django.urls import path

from .views import guidance_admin, rounds, scus, work_guidance

urlpatterns = [
    path("work/batch/<int:batch_id>/consent/", work_guidance.consent, name="consent"),
    path("work/batch/<int:batch_id>/instructions/", work_guidance.instructions, name="instructions"),
    path("work/batch/<int:batch_id>/tutorial/", work_guidance.tutorial, name="tutorial"),
    path("work/batch/<int:batch_id>/test/", work_guidance.test, name="test"),
    path("work/<str:key>/advice/", scus.advice, name="advice"),
    path("studies/<slug:slug>/scus/", scus.scus, name="scus"),
    path("studies/<slug:slug>/scus/<int:reference_id>/", scus.scu_list, name="scu-list"),
    path("studies/<slug:slug>/scus/<int:reference_id>/advice/", scus.list_advice, name="list-advice"),
    path("studies/<slug:slug>/rounds/", rounds.rounds, name="rounds"),
    path("studies/<slug:slug>/rounds/<int:batch_id>/", rounds.round_of, name="round"),
    path("studies/<slug:slug>/rounds/<int:batch_id>/open/", rounds.open_round, name="open-round"),
    path("studies/<slug:slug>/guidance/", guidance_admin.guidance, name="guidance"),
    path("studies/<slug:slug>/guidance/text/", guidance_admin.text, name="guidance-text"),
    path("studies/<slug:slug>/guidance/preview/", guidance_admin.preview, name="guidance-preview"),
    path("studies/<slug:slug>/guidance/rules/", guidance_admin.rules, name="guidance-rules"),
    path("studies/<slug:slug>/guidance/items/", guidance_admin.item, name="guidance-item"),
    path("studies/<slug:slug>/guidance/items/<int:item_id>/retire/", guidance_admin.retire, name="guidance-retire"),
]
