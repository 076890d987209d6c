"""`python -m benchmarks [NAME …]`: run the named benchmarks, or all of them."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence

import benchmarks
from benchmarks import Measurement

ROOMS = ("analysis", "scoring", "site")


def scripts() -> dict[str, str]:
    """Every benchmark by name, with the module that measures it."""
    places = [(f"{benchmarks.__path__[0]}/{room}", room) for room in ROOMS]
    modules = [(module.name, room) for folder, room in places for module in pkgutil.iter_modules([folder])]
    return {name: f"benchmarks.{room}.{name}" for name, room in sorted(modules) if not name.startswith("_")}


def measure(module: str) -> Measurement:
    result = importlib.import_module(module).run()
    if not isinstance(result, Measurement):
        raise TypeError(f"{module}.run() must return a Measurement, not {type(result).__name__}.")
    return result


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run; without any, all of them")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    args = parser.parse_args(argv)
    modules = scripts()
    if args.list:
        print("\n".join(modules))
        return 0
    names = [name.replace("-", "_") for name in args.names] or list(modules)
    unknown = [name for name in names if name not in modules]
    if unknown:
        print(f"There is no benchmark {', '.join(unknown)}; there are {', '.join(modules)}.", file=sys.stderr)
        return 2
    failed = 0
    for name in names:
        measurement = measure(modules[name])
        print(measurement.line(name), flush=True)
        if not measurement.holds:
            print(f"{name}: ratio {measurement.ratio:.2f} is below the claimed {measurement.claim:g}.", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
