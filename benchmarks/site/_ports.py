"""Ports of this machine for the servers that a benchmark starts."""

from __future__ import annotations

import socket
import time


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(*ports: int, seconds: float = 60) -> None:
    """Until a server answers on each of the ports."""
    end = time.monotonic() + seconds
    for port in ports:
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if time.monotonic() > end:
                raise RuntimeError(f"A server did not start within {seconds:g} s.")
            time.sleep(0.1)
