"""Asks a port of this host whether it is ready: `python -m deploy.monitoring.probe 8000`. For containers."""

import http.client
import os
import sys


def ready(port: int, host: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=4)
    try:
        connection.request("GET", "/readyz", headers={"Host": host})
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    name = "MARKETPLACE_ALLOWED_HOSTS" if sys.argv[2:] == ["marketplace"] else "ALLOWED_HOSTS"
    host = os.environ.get(name, "127.0.0.1").split(",")[0].strip().lstrip(".")
    sys.exit(0 if ready(int(sys.argv[1]), host) else 1)
