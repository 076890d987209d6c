"""A simulated crowd: rehearse a whole study, or let it work on a batch that stands on the marketplace."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation import protocols
from annotation.common.errors import Refused
from annotation.common.money import to_cents
from annotation.crowds.lookup import study_named
from annotation.crowds.terms import terms_of
from annotation.models import Batch, Study
from annotation.rehearsal.characters import USUAL, parse_crowd, people_of
from annotation.rehearsal.crowd import Crowd
from annotation.rehearsal.marks import marker_for
from annotation.rehearsal.rehearsal import rehearse
from annotation.rehearsal.report import as_json, terminal, write_report
from annotation.rehearsal.stage import RULES, Plan
from annotation.rehearsal.truth import truth_of


class Command(BaseCommand):
    help = (
        "Rehearse a study on a copy: launched, worked by simulated people over HTTP, collected, filtered, paid. "
        "With --batch, only let them work on a batch that stands on the marketplace."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", nargs="?", default="", help="the study's name; default: the only one, or the demo")
        parser.add_argument("--batch", default="", help="work on this published batch, and do nothing else")
        parser.add_argument(
            "--like", default="", metavar="BATCH", help="rehearse this batch: its options and its reward"
        )
        parser.add_argument("--crowd", default=USUAL, help=f"who comes: KIND=NUMBER,…; default {USUAL}")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--protocol", default="litepyramid", choices=protocols.judging())
        parser.add_argument("--quota", type=int, default=3, help="answers per task")
        parser.add_argument("--documents", type=int, default=None, help="only the first so many documents")
        parser.add_argument("--reward", default="0.20", help="per task, such as 0.20")
        parser.add_argument("--question", default="external", choices=["external", "html"])
        parser.add_argument(
            "--rules", default=",".join(RULES), help="filters, as `python -m analysis filter` reads them"
        )
        parser.add_argument("--pay-caught", action="store_true", help="approve also those whom the filters caught")
        parser.add_argument("--at-once", type=int, default=6, help="people who work at the same time")
        parser.add_argument("--duration", type=int, default=60, help="seconds for a task on the market, from 30 up")
        parser.add_argument("--out", type=Path, default=None, help="folder for report.md, report.html, report.json")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")
        parser.add_argument("--yes", action="store_true", help="outside the demo: spend the money of this market")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = _study(options["study"])
            if not settings.DEMO and not options["yes"]:
                raise Refused(
                    f"This is no demo: simulated people would take tasks at {settings.MTURK_ENDPOINT_URL} "
                    "and be paid with the money there. Nothing was begun: if that is meant, add --yes."
                )
            if options["batch"]:
                self._work(study, options)
            else:
                self._rehearse(study, options)
        except (Refused, ValueError) as refusal:
            raise CommandError(str(refusal), returncode=2) from None

    def _rehearse(self, study: Study, options: dict[str, Any]) -> None:
        run = rehearse(_plan(study, options), tell=lambda line: self.stderr.write(line))
        folder = options["out"] or settings.HOME / "rehearsals" / run.batch.study.slug
        files = write_report(run, folder)
        if options["json"]:
            self.stdout.write(json.dumps(as_json(run), ensure_ascii=False, default=str))
        else:
            self.stdout.write("\n".join(terminal(run)))
            self.stdout.write(f"Report: {files[1]}")
        if not run.books.balanced:
            raise CommandError("The ledger and the market's books differ; the report says where.", returncode=1)

    def _work(self, study: Study, options: dict[str, Any]) -> None:
        batch = study.batches.filter(name=options["batch"]).first()
        if batch is None or not batch.postings.exists():
            published = Batch.objects.filter(study=study, postings__isnull=False).distinct()
            names = ", ".join(repr(row.name) for row in published)
            raise Refused(f"There is no published batch {options['batch']!r}. Published: {names or 'none yet'}.")
        people = people_of(parse_crowd(options["crowd"]), options["seed"])
        truth = truth_of(batch, options["seed"])
        crowd = Crowd(people, settings.MTURK_ENDPOINT_URL, truth, at_once=options["at_once"], mark=marker_for(batch))
        crowd.work(people, terms_of(batch).title, tell=lambda line: self.stderr.write(line))
        rows: list[dict[str, Any]] = [
            {
                "name": worked.person.name,
                "character": worked.person.character.name,
                "turns": len(worked.outcomes),
                "handed_in": worked.count("handed in"),
                "problem": worked.problem,
            }
            for worked in crowd.worked()
        ]
        n_handed_in = sum(row["handed_in"] for row in rows)
        summary = f"{n_handed_in} answers handed in by {len(rows)} people, seed {options['seed']}."
        self.stdout.write(json.dumps(rows) if options["json"] else summary)


def _plan(study: Study, options: dict[str, Any]) -> Plan:
    from analysis.filters import parse_rules

    names = ("seed", "crowd", "protocol", "quota", "documents", "question", "at_once")
    return Plan(
        study=study,
        **{name: options[name] for name in names},
        reward_cents=to_cents(options["reward"]),
        duration_seconds=options["duration"],
        rules=tuple(str(rule) for rule in parse_rules(options["rules"])),
        reject_caught=not options["pay_caught"],
        like=_batch_named(study, options["like"]),
    )


def _batch_named(study: Study, name: str) -> Batch | None:
    if not name:
        return None
    batch = study.batches.filter(name=name, protocol__in=protocols.judging()).first()
    if batch is None:
        names = ", ".join(repr(row.name) for row in study.batches.order_by("pk"))
        raise Refused(f"There is no batch {name!r} to rehearse. There are: {names or 'none yet'}.")
    return batch


def _study(name: str) -> Study:
    from annotation.demo import STUDY

    if not name and Study.objects.count() == 1:
        return Study.objects.get()
    return study_named(name or STUDY)
