"""Which MTurk endpoint may be called, and with whose key. Both come from the environment alone."""

from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from annotation.crowds.base import MarketRefused


def allowed_endpoint() -> str:
    """The endpoint, if it is on the allow-list. MarketRefused otherwise: keys go nowhere else."""
    endpoint = settings.MTURK_ENDPOINT_URL.rstrip("/")
    if not endpoint:
        raise MarketRefused(
            _("MTURK_ENDPOINT_URL is not set, and Amazon's own market closed on 2026-09-30: name another one.")
        )
    url_parts = urlsplit(endpoint)
    plain = url_parts.scheme in ("http", "https") and not (url_parts.username or url_parts.password or url_parts.query)
    if not plain or endpoint not in [allowed_url.rstrip("/") for allowed_url in settings.MTURK_ALLOWED_ENDPOINTS]:
        raise MarketRefused(
            _("The endpoint %(endpoint)s is not in MTURK_ALLOWED_ENDPOINTS, so it is not called. Nothing was spent.")
            % {"endpoint": f"{url_parts.scheme}://{url_parts.hostname}"}
        )
    return endpoint


def access_key() -> tuple[str, str]:
    """The requester's key; in the demo that of the marketplace's demo requester, which it leaves in a file."""
    if settings.MTURK_ACCESS_KEY_ID and settings.MTURK_SECRET_ACCESS_KEY:
        return settings.MTURK_ACCESS_KEY_ID, settings.MTURK_SECRET_ACCESS_KEY
    file = settings.MTURK_DEMO_KEY_FILE
    words = file.read_text().split() if file is not None and file.is_file() else []
    if len(words) != 2:
        raise MarketRefused(
            _("There is no access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Nothing was spent.")
        )
    return words[0], words[1]
