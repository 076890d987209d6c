"""The addresses, below a study's, where admins write guidance."""

from django.urls import path

from . import editing_views

urlpatterns = [
    path("guidance/", editing_views.guidance, name="guidance"),
    path("guidance/text/", editing_views.text, name="guidance-text"),
    path("guidance/preview/", editing_views.preview, name="guidance-preview"),
    path("guidance/test/", editing_views.test_preview, name="guidance-test"),
    path("guidance/rules/", editing_views.rules, name="guidance-rules"),
    path("guidance/language/", editing_views.language, name="guidance-language"),
    path("guidance/items/", editing_views.item, name="guidance-item"),
    path("guidance/items/<int:item_id>/retire/", editing_views.retire, name="guidance-retire"),
]
