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
        findings = examine()
        wrong = [finding for finding in findings if not finding.ok]
        if options["json"]:
            rows = [{"check": one.name, "ok": one.ok, "problem": one.problem or None} for one in findings]
            self.stdout.write(json.dumps(rows, indent=1, ensure_ascii=False))
        else:
            for finding in findings:
                self.stdout.write(f"{'ok ' if finding.ok else 'FIX'}  {finding.name:<18} {finding.problem}".rstrip())
            self.stdout.write(f"{len(findings) - len(wrong)} of {len(findings)} checks are fine.")
        if wrong:
            sys.exit(1)
