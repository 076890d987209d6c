"""What the settings say."""

from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import Error

from deploy.environment import Environment

from . import Problems, check, is_site, setting_name

LEAST_KEY = 40
EXAMPLES = ("example.org", "example.com", "localhost", "127.0.0.1")


@check("demo")
def demo_is_off() -> Problems:
    if settings.DEMO:
        yield Error("DEMO is on: everybody knows the passwords of the demo accounts.", "Set DEMO=no.")


@check("debug")
def debug_is_off() -> Problems:
    if settings.DEBUG or Environment.current().flag("DEBUG"):
        yield Error("DEBUG is on: error pages would show the inside of the program.", "Set DEBUG=no.")


@check("secret key")
def secret_key_is_strong() -> Problems:
    key, name = settings.SECRET_KEY, setting_name("SECRET_KEY")
    if len(key) < LEAST_KEY or len(set(key)) < 10:
        yield Error(
            f"{name} is short or simple ({len(key)} characters): sessions and worker links could be forged.",
            'Make one: python -c "import secrets; print(secrets.token_urlsafe(50))".',
        )
    if key == Environment.current().text("MARKETPLACE_SECRET_KEY" if is_site() else "SECRET_KEY"):
        yield Error("SECRET_KEY and MARKETPLACE_SECRET_KEY are the same:", "give the marketplace one of its own.")


@check("hosts")
def hosts_are_named() -> Problems:
    setting = setting_name("ALLOWED_HOSTS")
    if "*" in settings.ALLOWED_HOSTS:
        yield Error(f"{setting} is *: anybody can make links that name another host.", "Name the hosts people type.")
    names = [host.lstrip(".") for host in settings.ALLOWED_HOSTS]
    if not settings.DEMO and all(name.endswith(EXAMPLES) for name in names):
        listing = ", ".join(names) or "empty"
        yield Error(f"{setting} is {listing}: an example, not the name people type.", "Set your own.")


@check("site address")
def site_address_fits() -> Problems:
    name, hosts = "SITE_URL" if is_site() else "MARKETPLACE_URL", settings.ALLOWED_HOSTS
    address = getattr(settings, name)
    host = urlsplit(address).hostname
    if not is_site() and not address:
        return  # the marketplace then takes the address of each request
    if not host:
        yield Error(
            f"{name} is not set: markets could not send workers here.",
            "Set it, e.g. https://pyramidion.your-lab.org.",
        )
    elif not settings.DEMO and urlsplit(address).scheme != "https":
        yield Error(
            f"{name} is {address}: browsers refuse plain HTTP inside a market's page.", "Serve and name it by https."
        )
    elif not any(host == pattern or (pattern.startswith(".") and host.endswith(pattern)) for pattern in hosts):
        yield Error(
            f"{name} names {host}, which {setting_name('ALLOWED_HOSTS')} does not: workers would get an error page.",
            "Add it there.",
        )


@check("https")
def https_is_on() -> Problems:
    if not settings.HTTPS:
        if not settings.DEMO:
            yield Error("HTTPS is off: passwords travel in the clear.", "Set HTTPS=yes.")
    elif settings.SECURE_PROXY_SSL_HEADER is None:
        yield Error(
            "HTTPS is on but BEHIND_PROXY is off: behind a proxy that ends TLS every page would redirect to itself, "
            "and as all come from the proxy's address, nobody would be refused early who is refused again and again.",
            "Set BEHIND_PROXY=yes when such a proxy stands in front.",
        )
