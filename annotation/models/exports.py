"""Exports that were asked for, and the files they gave."""

import secrets

from django.db import models

from .jobs import Job
from .study import Study, User


def new_export_key() -> str:
    return secrets.token_hex(8)


class Export(models.Model):
    """A study's data as files, made in the background by a job and kept until it expires."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="exports")
    key = models.CharField(max_length=32, default=new_export_key, editable=False)  # its folder and its address
    job = models.OneToOneField(Job, on_delete=models.SET_NULL, null=True, blank=True, related_name="export")
    options = models.JSONField(default=dict, blank=True)  # annotation/transfer/exporting/options.py
    for_admins = models.BooleanField(default=False)  # holds worker ids or money: nobody else may fetch it
    asked_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    asked_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ["-asked_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["key"], name="export_key_once")]

    def __str__(self) -> str:
        return self.key


class ExportFile(models.Model):
    """One file of an export. Its hash is also what a download resumes by."""

    export = models.ForeignKey(Export, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=100)
    size = models.BigIntegerField()
    rows = models.BigIntegerField(null=True, blank=True)
    sha256 = models.CharField(max_length=64)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["export", "name"], name="export_file_once")]

    def __str__(self) -> str:
        return self.name
