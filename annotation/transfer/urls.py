"""The addresses of studies coming in and going out."""

from django.urls import path

from .exporting import views as exporting_views
from .importing import system_views
from .importing import views as importing_views
from .mturk_csv import views as mturk_csv_views

urlpatterns = [
    path("new-study/", importing_views.new_study, name="new-study"),
    path("new-study/<int:job_id>/", importing_views.reading, name="new-study-reading"),
    path("new-study/<int:job_id>/again/", importing_views.again, name="new-study-again"),
    path("new-study/templates/<str:name>", importing_views.template_file, name="new-study-template"),
    path("new-study/<int:job_id>/stop/", importing_views.stop, name="new-study-stop"),
    path("studies/<slug:slug>/systems/", system_views.add_system, name="add-system"),
    path("studies/<slug:slug>/collect/<int:batch_id>/batch.csv", mturk_csv_views.batch_csv, name="batch-csv"),
    path("studies/<slug:slug>/exports/", exporting_views.exports, name="exports"),
    path("studies/<slug:slug>/exports/<str:key>/<str:name>", exporting_views.export_file, name="export-file"),
    path("studies/<slug:slug>/datasheet/", exporting_views.datasheet_page, name="datasheet"),
    path("studies/<slug:slug>/datasheet/<str:name>", exporting_views.datasheet_file, name="datasheet-file"),
]
