"""A small server that speaks the chat completions API over a real socket, and goes wrong on demand.

It answers every item of the schema it is sent, keeps a bill by Idempotency-Key, and bills a repeated key once only if
it is told to (`keeps_keys`).
"""

import hashlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FAULTS = ("slow", "429", "500", "cut", "body", "broken", "schema", "half", "refusal", "long", "400", "redirect")
"""Before the answer: 429, 500, 400, redirect. Billed, and then: cut (the connection ends half-way), body (no JSON at
all), broken (a message that is no JSON), schema (values outside it), half (every second item), refusal, long."""
UNBILLED = {"429": 429, "500": 500, "400": 400, "redirect": 307}
TOKENS_IN, TOKENS_OUT = 100, 20


class FaultServer:
    """Stands on a free port of its own."""

    def __init__(self, *, keeps_keys: bool = False, model: str = "judge-1", key: str = "") -> None:
        self.keeps_keys, self.model, self.key = keeps_keys, model, key
        self.faults: deque[str] = deque()
        self.latency, self.in_hand, self.most_in_hand = 0.0, 0, 0
        self.logprobs = True
        self.answer: Callable[[dict[str, Any], str], int] | None = None
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.keys_sent: list[str] = []
        self.billed: dict[str, int] = {}
        self.answers: dict[str, bytes] = {}
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a caller that was killed
        self.server.request_queue_size = 128
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def fail(self, *faults: str) -> None:
        """The next calls go wrong, in this order."""
        assert set(faults) <= {"", *FAULTS}
        self.faults.extend(faults)

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def calls(self) -> int:
        return len(self.requests)

    def completion(self, request: dict[str, Any], fault: str) -> bytes:
        """The answer as it goes over the wire."""
        content, message = json.dumps(self._values(request, fault)), {}
        if fault == "broken":
            content = content[:-2] + ", oh"
        if fault == "refusal":
            content, message = "", {"refusal": "I can't help with that."}
        if fault == "long":
            content = content[: len(content) // 2]
        message |= {"role": "assistant", "content": content}
        choice = {"index": 0, "finish_reason": "length" if fault == "long" else "stop", "message": message}
        if request.get("logprobs") and self.logprobs:
            choice["logprobs"] = {"content": _tokens(content)}
        usage = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT, "total_tokens": TOKENS_IN + TOKENS_OUT}
        whole = {"id": "c", "object": "chat.completion", "created": 1, "model": self.model}
        return json.dumps({**whole, "choices": [choice], "usage": usage}).encode()

    def _values(self, request: dict[str, Any], fault: str) -> dict[str, Any]:
        schema = request["response_format"]["json_schema"]["schema"]
        values: dict[str, Any] = {}
        for name, kind in schema["properties"].items():
            if kind["type"] == "array":
                values[name] = ["A first fact.", "A second fact."]
            elif self.answer is not None:
                values[name] = self.answer(request, name)
            else:
                text = request["messages"][1]["content"] + name
                values[name] = kind["enum"][hashlib.sha256(text.encode()).digest()[0] % len(kind["enum"])]
        if fault == "schema":
            return dict.fromkeys(values, "yes")
        return dict(list(values.items())[::2]) if fault == "half" else values

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                """In silence."""

            def do_GET(self) -> None:
                if outer._is_stranger(self):
                    return _reply(self, 401, {"error": {"message": "Incorrect API key"}})
                return _reply(self, 200, {"object": "list", "data": [{"id": outer.model, "object": "model"}]})

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                key = self.headers.get("Idempotency-Key", "")
                if outer._is_stranger(self):
                    return _reply(self, 401, {"error": {"message": "Incorrect API key"}})
                if request["model"] != outer.model:
                    return _reply(self, 404, {"error": {"message": "The model does not exist"}})
                return outer._complete(self, request, key)

        return Handler

    def _is_stranger(self, handler: BaseHTTPRequestHandler) -> bool:
        self.keys_sent.append(handler.headers.get("Authorization", ""))
        return bool(self.key) and handler.headers.get("Authorization") != f"Bearer {self.key}"

    def _complete(self, handler: BaseHTTPRequestHandler, request: dict[str, Any], key: str) -> None:
        with self.lock:
            self.requests.append((key, request))
            known = self.answers.get(key) if self.keeps_keys else None
            fault = "" if known is not None else (self.faults.popleft() if self.faults else "")
            self.in_hand += 1
            self.most_in_hand = max(self.most_in_hand, self.in_hand)
        time.sleep(0.3 if fault == "slow" else self.latency)
        with self.lock:
            self.in_hand -= 1
        if fault in UNBILLED:
            headers = {"Retry-After": "0.1"} if fault == "429" else {}
            headers |= {"Location": "http://127.0.0.1:9/v1/chat/completions"} if fault == "redirect" else {}
            return _reply(handler, UNBILLED[fault], {"error": {"message": f"fault {fault}"}}, headers)
        body = known if known is not None else self.completion(request, fault)
        with self.lock:
            if known is None:
                self.billed[key] = self.billed.get(key, 0) + 1
                self.answers[key] = body
        if fault == "cut":
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body[: len(body) // 2])
            handler.wfile.flush()
            handler.close_connection = True
            return handler.connection.close()
        return _send(handler, 200, b"<html>busy</html>" if fault == "body" else body)


def _tokens(content: str) -> list[dict[str, Any]]:
    """A token for each character; where a number stands, its neighbours have a share as well."""
    shares = {"1": [("1", -0.105361), ("0", -2.302585)], "0": [("0", -0.223144), ("1", -1.609438)]}
    return [
        {
            "token": sign,
            "logprob": 0.0,
            "top_logprobs": [{"token": word, "logprob": share} for word, share in shares.get(sign, [(sign, 0.0)])],
        }
        for sign in content
    ]


def _reply(handler: BaseHTTPRequestHandler, status: int, body: dict[str, Any], headers: Any = None) -> None:
    _send(handler, status, json.dumps(body).encode(), headers)


def _send(handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: Any = None) -> None:
    handler.send_response(status)
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)
