"""From which address a request came, for whoever counts failures by it."""

from django.conf import settings
from django.http import HttpRequest


def address_of(request: HttpRequest) -> str:
    """Who asks. Behind our proxy, the last address it noted; what a client claims further left is worth nothing."""
    if settings.SECURE_PROXY_SSL_HEADER:
        noted = request.headers.get("X-Forwarded-For", "").split(",")[-1].strip()
        if noted:
            return noted
    return str(request.META.get("REMOTE_ADDR", ""))
