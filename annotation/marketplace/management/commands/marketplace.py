"""Start the marketplace, or manage it from the command line."""

import os
import sys
from importlib.util import find_spec
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.marketplace import serving

ACTIONS = {
    "serve": "migrate, collect static files, and serve (default)",
    "requester": "NAME [--top-up DOLLARS]: a requester with a key, shown once",
    "operator": "NAME: an account that runs the marketplace",
    "tick": "do what is due by the clock, once",
    "demo": "demo accounts and a key, in demo mode",
}


class Command(BaseCommand):
    help = "The marketplace: " + "; ".join(f"{name}: {description}" for name, description in ACTIONS.items())

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", nargs="?", choices=ACTIONS, default="serve", metavar="ACTION")
        parser.add_argument("words", nargs="*", metavar="WORD", help="what the action takes")
        parser.add_argument("--bind", help="address and port to serve on, default 127.0.0.1:8001")
        parser.add_argument("--top-up", metavar="DOLLARS", help="of `requester`")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] != "serve":
            extra = ["--top-up", options["top_up"]] if options["top_up"] else []
            sys.exit(serving.command(f"market_{options['action']}", *options["words"], *extra))
        if not find_spec("botocore"):
            raise CommandError("The marketplace needs botocore (requirements-site.txt). Nothing was started.")
        if code := serving.prepare():
            sys.exit(code)
        bind = options["bind"] or os.environ.get("MARKETPLACE_BIND") or "127.0.0.1:8001"
        self.stdout.write(f"== Marketplace: http://{bind}   (stop with Ctrl-C)")
        self.stdout.flush()
        serving.serve(options["bind"])
