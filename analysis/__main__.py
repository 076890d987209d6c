"""`python -m analysis COMMAND …`."""

from __future__ import annotations

import signal
import sys


def run() -> int:
    """The command. Ctrl-C while the libraries still load just ends the process: nothing is under way."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from analysis.cli import main

    signal.signal(signal.SIGINT, handler)
    return main()


if __name__ == "__main__":
    sys.exit(run())
