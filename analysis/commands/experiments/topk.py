"""`topk`: do metrics still follow people among the best systems?"""

from __future__ import annotations

import argparse

from analysis.cli import CommandResult, UsageError
from analysis.cli.arguments import positive
from analysis.commands._metrics import add_plot, add_scores_and_human, chosen_metrics, load_scores
from analysis.correlate.coefficients import COEFFICIENTS
from analysis.experiments.topk import SMALLEST, top_k

HELP = "Correlate metrics with a human measure among the k best systems, for every k."
COLUMNS = ["k", "metric", "coefficient", "value"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_scores_and_human(parser)
    parser.add_argument("--coefficient", choices=tuple(COEFFICIENTS), default="pearson", help="coefficient")
    parser.add_argument("--k", metavar="10,5", help="only these k (default: all systems down to --smallest)")
    parser.add_argument("--smallest", type=positive, default=SMALLEST, help="the least k")
    add_plot(parser)


def run(args: argparse.Namespace) -> CommandResult:
    results = top_k(
        load_scores(args),
        human=args.human,
        metrics=chosen_metrics(args),
        coefficient=args.coefficient,
        ks=_numbers(args.k) if args.k else None,
        smallest=args.smallest,
    )
    if not results:
        raise UsageError(f"There is no metric beside {args.human} to correlate with it; add a table of scores.")
    if args.plot:
        from analysis.plot import save
        from analysis.plot.metrics import topk_lines

        save(topk_lines(results, args.human), args.plot)
    notes = [f"Top k by mean {args.human}; with few systems a correlation is little more than chance."]
    tied = sorted({result.k for result in results if result.tied})
    if tied:
        tied_list = ", ".join(map(str, tied))
        notes.append(f"At k = {tied_list} the next system has the same human score: the choice is by name.")
    return CommandResult([{name: getattr(result, name) for name in COLUMNS} for result in results], COLUMNS, notes)


def _numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise UsageError(f"--k takes whole numbers between commas, not {text!r}.") from None
