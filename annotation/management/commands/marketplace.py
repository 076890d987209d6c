"""Start the marketplace beside the site: a process of its own, with its own settings and database."""

from annotation.marketplace.management.commands.marketplace import Command

__all__ = ["Command"]
