"""What people are told: messages to workers, notices of events to requesters."""

from django.db import models
from django.db.models import Q

from .people import Requester, Worker


class Message(models.Model):
    """A message to a worker, from a requester or from the market itself."""

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="messages")
    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, null=True, blank=True, related_name="messages")
    subject = models.CharField(max_length=200)
    body = models.TextField()
    sent_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-sent_at", "-pk"]

    def __str__(self) -> str:
        return self.subject


class Notice(models.Model):
    """An event a requester asked to hear of. It is always in the inbox; with a `callback`, it is posted there too."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="notices")
    event_type = models.CharField(max_length=30)
    hit_type_id = models.CharField(max_length=64, blank=True)
    hit_id = models.CharField(max_length=64, blank=True)
    assignment_id = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)
    callback = models.URLField(max_length=500, blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True, blank=True)  # empty: nothing more to send
    problem = models.CharField(max_length=200, blank=True)  # of the last try

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["next_try_at"], condition=Q(next_try_at__isnull=False), name="notice_to_send")]

    def __str__(self) -> str:
        return f"{self.event_type} {self.hit_id}"
