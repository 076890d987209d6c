"""A proxy between boto3 and the market that goes wrong on demand: `proxy.fail("SendBonus", "drop-after")`."""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

FAULTS = ("throttle", "500", "500-after", "drop", "drop-after", "half", "hang")
"""`…-after`, `half` and `hang`: the market does what it was asked, and the answer does not arrive whole."""
AFTER = ("500-after", "drop-after", "half", "hang")


class FaultyProxy:
    """Stands before one market, on a free port of its own."""

    def __init__(self, target: str) -> None:
        self.target = urlsplit(target).netloc
        self.planned: list[tuple[str, str]] = []
        self.met: list[tuple[str, str]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def fail(self, operation: str, fault: str, times: int = 1) -> None:
        """The next calls of this operation go wrong."""
        self.planned += [(operation, fault)] * times

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def fault_for(self, operation: str) -> str:
        for fault in self.planned:
            if fault[0] == operation:
                self.planned.remove(fault)
                self.met.append(fault)
                return fault[1]
        return ""

    def pass_on(self, request: BaseHTTPRequestHandler, body: bytes) -> tuple[int, bytes]:
        upstream = http.client.HTTPConnection(self.target, timeout=20)
        try:
            upstream.putrequest("POST", request.path, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers.items():  # the signature covers them, Host included
                upstream.putheader(name, value)
            upstream.endheaders(body)
            answer = upstream.getresponse()
            return answer.status, answer.read()
        finally:
            upstream.close()

    def _handler(outer) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                fault = outer.fault_for(self.headers.get("X-Amz-Target", "").rpartition(".")[2])
                status, answer = 0, b""
                if not fault or fault in AFTER:
                    status, answer = outer.pass_on(self, body)
                if fault == "throttle":
                    self.reply(400, b'{"__type":"ThrottlingException","Message":"Rate exceeded"}')
                elif fault in ("500", "500-after"):
                    self.reply(500, b'{"__type":"ServiceFault","Message":"Something broke"}')
                elif fault in ("drop", "drop-after"):
                    self.close_connection = True
                elif fault == "half":
                    self.reply(status, answer, cut=len(answer) // 2)
                    self.close_connection = True
                elif fault == "hang":
                    self.rfile.read(1)  # nothing comes, until the client gives up
                    self.close_connection = True
                else:
                    self.reply(status, answer)

            def reply(self, status: int, body: bytes, cut: int | None = None) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/x-amz-json-1.1")
                self.send_header("Content-Length", str(max(len(body), 2 if cut is not None else 0)))
                self.end_headers()
                self.wfile.write(body[:cut])

            def log_message(self, *words: object) -> None:
                pass

        return Handler
