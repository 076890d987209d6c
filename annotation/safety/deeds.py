"""What the lines of a study's record mean, in words. A line keeps the method and the route, which never change."""

from django.utils.translation import gettext_lazy as _

DEEDS = {
    "POST scu-list": _("Changed a list of SCUs"),
    "POST open-round": _("Opened a second round"),
    "POST guidance-text": _("Wrote a text for annotators"),
    "POST guidance-rules": _("Changed what stands before the first task"),
    "POST guidance-item": _("Wrote a practice item"),
    "POST guidance-retire": _("Retired a practice item"),
    "POST launch": _("Launched a batch"),
    "POST batch-act": _("Steered a batch on its market"),
    "POST crowd-workers-do": _("Decided on workers"),
    "POST crowd-links": _("Made or withdrew personal links"),
    "POST batch-csv": _("Took in a result file"),
    "POST ledger": _("Set the budget or the minimum wage"),
    "POST new-study": _("Made the study"),
    "POST collect": _("Made a batch"),
    "POST batch-state": _("Opened, paused or closed a batch"),
    "POST members": _("Changed who belongs to the study"),
    "POST invite": _("Made or withdrew an invitation"),
    "POST explorer-refresh": _("Had the Explorer brought up to date"),
    "POST quality-decide": _("Applied or undid a filter"),
    "POST exports": _("Ordered an export"),
    "POST metrics": _("Had metrics computed"),
    "POST api:list_batches": _("Made a batch through the API"),
    "PATCH api:get_batch": _("Changed a batch through the API"),
    "POST api:post_metric_run": _("Had metrics computed through the API"),
    "POST api:list_filters": _("Applied a filter through the API"),
    "DELETE api:get_filter": _("Undid a filter through the API"),
    "POST api:list_exports": _("Ordered an export through the API"),
}
