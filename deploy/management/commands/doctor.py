"""Check a deployment."""

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from deploy.doctor import examine


class Command(BaseCommand):
    help = "Look at this deployment and say what to fix. Exits 1 when there is something."
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="the findings for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        problems = examine()
        n_problems = sum(map(bool, problems.values()))
        if options["json"]:
            rows = [{"check": name, "ok": not text, "problem": text or None} for name, text in problems.items()]
            self.stdout.write(json.dumps(rows, indent=1, ensure_ascii=False))
        else:
            for name, text in problems.items():
                self.stdout.write(f"{'FIX' if text else 'ok '}  {name:<18} {text}".rstrip())
            self.stdout.write(f"{len(problems) - n_problems} of {len(problems)} checks are fine.")
        if n_problems:
            sys.exit(1)
