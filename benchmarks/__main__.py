"""`python -m benchmarks [NAME …]`: run the named benchmarks, or all of them."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence

import benchmarks
from benchmarks import Measurement


def names() -> list[str]:
    """Every benchmark there is, in order."""
    return sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_"))


def measure(name: str) -> Measurement:
    result = importlib.import_module(f"benchmarks.{name}").run()
    if not isinstance(result, Measurement):
        raise TypeError(f"benchmarks.{name}.run() must return a Measurement, not {type(result).__name__}.")
    return result


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run; without any, all of them")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    args = parser.parse_args(argv)
    known = names()
    if args.list:
        print("\n".join(known))
        return 0
    wanted = [name.replace("-", "_") for name in args.names] or known
    unknown = [name for name in wanted if name not in known]
    if unknown:
        print(f"There is no benchmark {', '.join(unknown)}; there are {', '.join(known)}.", file=sys.stderr)
        return 2
    failed = 0
    for name in wanted:
        found = measure(name)
        print(found.line(name), flush=True)
        if not found.holds:
            print(f"{name}: ratio {found.ratio:.2f} is below the claimed {found.claim:g}.", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
