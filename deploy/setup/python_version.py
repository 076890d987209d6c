"""Says whether this Python can run Pyramidion, by pyproject.toml. Python 2 must be able to read this file."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main():  # type: ignore[no-untyped-def]  # Python 2 knows no annotations
    with open(os.path.join(HERE, os.pardir, os.pardir, "pyproject.toml")) as file:
        low, high = re.findall(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', file.read())[0]
    if sys.version_info[0] == 3 and int(low) <= sys.version_info[1] < int(high):
        return 0
    sentence = "Pyramidion runs on Python 3.{0} to 3.{1}; this is {2}. Name another: make PYTHON=/path/to/python run"
    sys.stderr.write(sentence.format(low, int(high) - 1, sys.version.split()[0]) + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())  # type: ignore[no-untyped-call]
