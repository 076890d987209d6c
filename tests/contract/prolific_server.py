"""A server that speaks Prolific's documented REST API, over a real socket, with its errors and its traps.

It follows https://docs.prolific.com/api-reference: token in the header, drafts and transitions, paged lists, errors as
`{"error": {"status", "error_code", "title", "detail"}}`, bonuses that are set up and then paid again each time one
asks. `fail(method, path, …)` makes the next call of that kind go wrong in a chosen way.
"""

import base64
import hashlib
import hmac
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any
from urllib.parse import parse_qsl, urlsplit

TOKEN = "prolific-token-for-tests"
WORKSPACE, PROJECT = "workspace1", "project1"
REQUIRED = (
    "name",
    "description",
    "external_study_url",
    "prolific_id_option",
    "completion_codes",
    "total_available_places",
    "estimated_completion_time",
    "reward",
)
CODE_TYPES = {"COMPLETED", "FAILED_ATTENTION_CHECK", "FOLLOW_UP_STUDY", "GIVE_BONUS", "NO_CONSENT", "OTHER"}
ACTIONS = {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "REQUEST_RETURN", "ADD_TO_PARTICIPANT_GROUP"}
FILTERS = {"participant_group_allowlist", "participant_group_blocklist"}
CATEGORIES = {"TOO_QUICKLY", "LOW_EFFORT", "FAILED_CHECK", "FAILED_INSTRUCTIONS", "NO_DATA", "OTHER"}
EVENTS = ("submission.status.change", "study.status.change")
MOVES = {  # action: (from, to)
    "PUBLISH": ({"UNPUBLISHED"}, "ACTIVE"),
    "PAUSE": ({"ACTIVE"}, "PAUSED"),
    "START": ({"PAUSED"}, "ACTIVE"),
    "STOP": ({"ACTIVE", "PAUSED"}, "AWAITING REVIEW"),
}


class Wrong(Exception):
    def __init__(self, status: int, detail: Any) -> None:
        self.status, self.detail = status, detail


@dataclass
class Failure:
    """How a call goes wrong: a status, or a connection that breaks; before or after it took effect."""

    method: str
    path: str
    status: int = 0
    """0: the connection breaks without an answer."""
    after: bool = False
    times: int = 1
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None


@dataclass
class Contract:
    """What the account holds."""

    balance: int = 100_00
    studies: dict[str, dict[str, Any]] = field(default_factory=dict)
    submissions: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    bulk: dict[str, dict[str, Any]] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    secrets: dict[str, dict[str, Any]] = field(default_factory=dict)
    hooks: dict[str, dict[str, Any]] = field(default_factory=dict)
    numbers: Any = field(default_factory=lambda: count(1))

    def new_id(self, kind: str) -> str:
        return f"{kind}{next(self.numbers):020x}"

    # What people do

    def take_part(self, study: str, participant: str, status: str = "ACTIVE") -> str:
        row = {
            "id": self.new_id("sub"),
            "study_id": study,
            "participant_id": participant,
            "status": status,
            "started_at": "2026-11-16T08:00:00Z",
            "completed_at": None,
            "study_code": None,
            "bonus_payments": [],
        }
        self.submissions[row["id"]] = row
        return row["id"]

    def complete(self, submission: str, code: str) -> None:
        """What happens when the browser comes to /submissions/complete?cc=CODE."""
        row = self.submissions[submission]
        codes = {code_row["code"]: code_row for code_row in self.studies[row["study_id"]]["completion_codes"]}
        actions = {code_action["action"] for code_action in codes[code]["actions"]} if code in codes else set()
        status = "AWAITING REVIEW" if "MANUALLY_REVIEW" in actions else "RETURNED" if actions else row["status"]
        row.update(status=status, study_code=code, completed_at="2026-11-16T08:10:00Z")

    # The API

    def get_users_me(self) -> dict[str, Any]:
        return {"id": "researcher1", "email": "lab@example.org"}

    def get_balance(self, workspace: str) -> dict[str, Any]:
        if workspace != WORKSPACE:
            raise Wrong(404, "Not found.")
        return {"currency_code": "USD", "total_balance": self.balance, "available_balance": self.balance}

    def post_studies(self, body: dict[str, Any]) -> dict[str, Any]:
        problems = {name: ["This field is required."] for name in REQUIRED if name not in body}
        if not problems and "{{%SESSION_ID%}}" not in body["external_study_url"]:
            problems["external_study_url"] = ["The URL must carry the parameters."]
        for entry in body.get("completion_codes", []):
            if entry["code_type"] not in CODE_TYPES or not {a["action"] for a in entry["actions"]} <= ACTIONS:
                problems["completion_codes"] = [f"Unknown type or action in {entry}."]
        for entry in body.get("filters", []):
            if not self._is_filter(entry):
                problems["filters"] = [f"Unknown filter or group in {entry}."]
        if body.get("reward", 1) < 1:
            problems["reward"] = ["Ensure this value is greater than or equal to 1."]
        if problems:
            raise Wrong(400, problems)
        study = {**body, "id": self.new_id("study"), "status": "UNPUBLISHED"}
        self.studies[study["id"]] = study
        return study

    def list_studies(self) -> list[dict[str, Any]]:
        keep = ("id", "name", "internal_name", "status", "total_available_places", "reward")
        return [{name: study.get(name) for name in keep} for study in self.studies.values()]

    def list_project_studies(self, project: str) -> list[dict[str, Any]]:
        if project != PROJECT:
            raise Wrong(404, "Not found.")
        return self.list_studies()

    def get_study(self, study: str) -> dict[str, Any]:
        return self._known(self.studies, study)

    def patch_study(self, study: str, body: dict[str, Any]) -> dict[str, Any]:
        row = self._known(self.studies, study)
        if body.get("total_available_places", row["total_available_places"]) < row["total_available_places"]:
            raise Wrong(400, {"total_available_places": ["The number of places can only be increased."]})
        row.update(body)
        return row

    def post_study_transition(self, study: str, body: dict[str, Any]) -> dict[str, Any]:
        row = self._known(self.studies, study)
        sources, target = MOVES.get(body.get("action", ""), (set(), ""))
        if row["status"] not in sources:
            raise Wrong(400, f"A study that is {row['status']} can't be moved by {body.get('action')}.")
        if body["action"] == "PUBLISH":
            cost = row["reward"] * row["total_available_places"]
            if cost > self.balance:
                raise Wrong(400, "You do not have enough funds to publish this study.")
            self.balance -= cost
        row["status"] = target
        return row

    def list_submissions(self, study: str) -> list[dict[str, Any]]:
        self._known(self.studies, study)
        return [submission for submission in self.submissions.values() if submission["study_id"] == study]

    def get_submission(self, submission: str) -> dict[str, Any]:
        return self._known(self.submissions, submission)

    def post_submission_transition(self, submission: str, body: dict[str, Any]) -> dict[str, Any]:
        row, action = self._known(self.submissions, submission), body.get("action")
        status = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}.get(str(action))
        if status is None:
            raise Wrong(400, {"action": [f"{action} is no valid choice."]})
        if row["status"] == status:
            return row  # documented as idempotent
        if row["status"] != "AWAITING REVIEW":
            raise Wrong(400, f"A submission that is {row['status']} can't become {status}.")
        if action == "REJECT" and len(body.get("message", "")) < 100:
            raise Wrong(400, {"message": ["Ensure this field has at least 100 characters."]})
        if action == "REJECT" and body.get("rejection_category") not in CATEGORIES:
            raise Wrong(400, {"rejection_category": ["This field is required."]})
        row["status"] = status
        return row

    def post_bonus(self, body: dict[str, Any]) -> dict[str, Any]:
        rows = [line.split(",") for line in body["csv_bonuses"].splitlines() if line.strip()]
        submissions = {submission["id"]: submission for submission in self.list_submissions(body["study_id"])}
        strangers = [submission_id for submission_id, _amount in rows if submission_id not in submissions]
        if strangers:
            raise Wrong(400, f"Not in this study: {', '.join(strangers)}.")
        payment = {"id": self.new_id("bulk"), "study": body["study_id"], "rows": rows, "paid": 0}
        self.bulk[payment["id"]] = payment
        return {"id": payment["id"], "amount": 0, "fees": 0, "vat": 0, "total_amount": 0, "study": payment["study"]}

    def post_pay(self, bulk: str) -> None:
        """Pays each time it is asked: that is the trap."""
        payment = self._known(self.bulk, bulk)
        payment["paid"] += 1
        for submission_id, amount in payment["rows"]:
            cents = round(float(amount) * 100)
            self.submissions[submission_id]["bonus_payments"].append(cents)
            self.balance -= cents

    def list_groups(self) -> list[dict[str, Any]]:
        return list(self.groups.values())

    def post_group(self, body: dict[str, Any]) -> dict[str, Any]:
        if "name" not in body or not (body.get("workspace_id") or body.get("organisation_id")):
            raise Wrong(400, {"workspace_id": ["Either a workspace or an organisation is required."]})
        group = {**body, "id": self.new_id("group"), "participants": set(body.get("participant_ids", []))}
        self.groups[group["id"]] = group
        return group

    def post_members(self, group: str, body: dict[str, Any]) -> dict[str, Any]:
        self._known(self.groups, group)["participants"] |= set(body["participant_ids"])
        return {"results": []}

    def delete_members(self, group: str, body: dict[str, Any]) -> dict[str, Any]:
        self._known(self.groups, group)["participants"] -= set(body["participant_ids"])
        return {"results": []}

    def post_messages(self, body: dict[str, Any]) -> None:
        self._known(self.studies, body["study_id"])
        self.messages.append(body)

    def list_filters(self) -> list[dict[str, Any]]:
        places = {"0": "United Kingdom", "1": "United States", "2": "Ireland"}
        return [
            {"filter_id": "age", "title": "Age", "type": "range", "data_type": "integer", "min": 18, "max": 100},
            {
                "filter_id": "current-country-of-residence",
                "title": "Current country of residence",
                "type": "select",
                "data_type": "ChoiceID",
                "choices": places,
            },
        ]

    def list_secrets(self) -> list[dict[str, Any]]:
        return list(self.secrets.values())

    def post_secret(self, body: dict[str, Any]) -> dict[str, Any]:
        """One active secret a workspace: a second call replaces the first, and breaks who relied on it."""
        self.secrets[body["workspace_id"]] = {**body, "id": self.new_id("secret"), "value": self.new_id("value")}
        return self.secrets[body["workspace_id"]]

    def post_hook(self, body: dict[str, Any]) -> dict[str, Any]:
        if body.get("workspace_id") not in self.secrets:
            raise Wrong(400, "Create a secret first.")
        if not body.get("target_url", "").startswith("https://") or body.get("event_type") not in EVENTS:
            raise Wrong(400, {"target_url": ["It must use https and be publicly accessible."]})
        hook = {**body, "id": self.new_id("hook"), "is_enabled": False, "confirmation": self.new_id("confirm")}
        self.hooks[hook["id"]] = hook
        shown = {name: value for name, value in hook.items() if name != "confirmation"}
        return {**shown, "headers": {"X-Hook-Secret": hook["confirmation"]}}

    def post_hook_confirmation(self, hook: str, body: dict[str, Any]) -> dict[str, Any]:
        row = self._known(self.hooks, hook)
        if body.get("secret") != row["confirmation"]:
            raise Wrong(400, {"secret": ["It is not the one that was sent."]})
        row["is_enabled"] = True
        return {}

    def delete_hook(self, hook: str, body: dict[str, Any]) -> dict[str, Any]:
        self._known(self.hooks, hook)
        del self.hooks[hook]
        return {}

    def reports(self, submission: str, now: int, event: str = "event1") -> list[tuple[str, bytes, dict[str, str]]]:
        """What is sent to each enabled hook when a submission changes: address, body, headers."""
        row = self.submissions[submission]
        content = {"event_type": EVENTS[0], "resource_id": submission, "status": row["status"]}
        body = json.dumps({**content, "participant_id": row["participant_id"]}).encode()
        sent = []
        for hook in self.hooks.values():
            secret = self.secrets[hook["workspace_id"]]["value"]
            digest = hmac.new(secret.encode(), str(now).encode() + body, hashlib.sha256).digest()
            headers = {"X-Prolific-Request-Timestamp": str(now), "X-Event-ID": event}
            headers["X-Prolific-Request-Signature"] = base64.b64encode(digest).decode()
            sent += [(hook["target_url"], body, headers)] if hook["is_enabled"] else []
        return sent

    def _is_filter(self, entry: dict[str, Any]) -> bool:
        if entry["filter_id"] in FILTERS:
            return set(entry["selected_values"]) <= set(self.groups)
        row = next((row for row in self.list_filters() if row["filter_id"] == entry["filter_id"]), {})
        if row.get("type") == "range":
            ends = entry["selected_range"]
            return bool(row["min"] <= ends["lower"] <= ends["upper"] <= row["max"])
        return bool(row) and set(entry["selected_values"]) <= set(row["choices"])

    def _known(self, rows: dict[str, dict[str, Any]], key: str) -> dict[str, Any]:
        if key not in rows:
            raise Wrong(404, "Not found.")
        return rows[key]


ROUTES: list[tuple[str, str, str]] = [
    ("GET", r"/users/me/", "get_users_me"),
    ("GET", r"/workspaces/(\w+)/balance/", "get_balance"),
    ("POST", r"/studies/", "post_studies"),
    ("GET", r"/studies/", "list_studies"),
    ("GET", r"/projects/(\w+)/studies/", "list_project_studies"),
    ("GET", r"/studies/(\w+)/", "get_study"),
    ("PATCH", r"/studies/(\w+)/", "patch_study"),
    ("POST", r"/studies/(\w+)/transition/", "post_study_transition"),
    ("GET", r"/studies/(\w+)/submissions/", "list_submissions"),
    ("POST", r"/submissions/bonus-payments/", "post_bonus"),
    ("GET", r"/submissions/(\w+)/", "get_submission"),
    ("POST", r"/submissions/(\w+)/transition/", "post_submission_transition"),
    ("POST", r"/bulk-bonus-payments/(\w+)/pay/", "post_pay"),
    ("GET", r"/participant-groups/", "list_groups"),
    ("POST", r"/participant-groups/", "post_group"),
    ("POST", r"/participant-groups/(\w+)/participants/", "post_members"),
    ("DELETE", r"/participant-groups/(\w+)/participants/", "delete_members"),
    ("POST", r"/messages/bulk/", "post_messages"),
    ("GET", r"/filters/", "list_filters"),
    ("GET", r"/hooks/secrets/", "list_secrets"),
    ("POST", r"/hooks/secrets/", "post_secret"),
    ("POST", r"/hooks/subscriptions/", "post_hook"),
    ("POST", r"/hooks/subscriptions/(\w+)/", "post_hook_confirmation"),
    ("DELETE", r"/hooks/subscriptions/(\w+)/", "delete_hook"),
]


class ProlificServer:
    """The contract on a free port."""

    def __init__(self) -> None:
        self.contract = Contract()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def reset(self) -> Contract:
        self.contract = Contract()
        return self.contract

    def fail(self, method: str, path: str, status: int = 0, **options: Any) -> None:
        self.contract.failures.append(Failure(method, path, status, **options))

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def _handler(outer) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                path = urlsplit(self.path).path.removeprefix("/api/v1")
                length = int(self.headers.get("Content-Length") or 0)
                raw = self.rfile.read(length)
                contract = outer.contract
                contract.calls.append((self.command, path))
                failure = outer._failure(self.command, path)
                if failure and not failure.after:
                    return self.go_wrong(failure)
                try:
                    status, facts = outer._do(self, path, json.loads(raw) if raw else {})
                except Wrong as error:
                    status, facts = error.status, problem(error)
                if failure:
                    return self.go_wrong(failure)
                headers = facts.pop("headers", {})
                self.send(status, json.dumps(facts, default=list), headers)

            def go_wrong(self, failure: Failure) -> None:
                if failure.status == 0:
                    time.sleep(0.01)
                    self.close_connection = True
                    return
                facts = json.dumps(problem(Wrong(failure.status, "It went wrong.")))
                self.send(failure.status, facts if failure.body is None else failure.body, failure.headers)

            def send(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
                body = text.encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PATCH = do_DELETE = answer

            def log_message(self, *words: object) -> None:
                pass

        return Handler

    def _failure(self, method: str, path: str) -> Failure | None:
        for failure in self.contract.failures:
            if failure.times and failure.method == method and re.fullmatch(failure.path, path):
                failure.times -= 1
                return failure
        return None

    def _do(self, request: BaseHTTPRequestHandler, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if request.headers.get("Authorization") != f"Token {TOKEN}":
            raise Wrong(401, "Authentication failed, or the token is missing.")
        for method, pattern, name in ROUTES:
            match = re.fullmatch(pattern, path)
            if match and method == request.command:
                call: Callable[..., Any] = getattr(self.contract, name)
                takes_body = method in ("POST", "PATCH", "DELETE") and name != "post_pay"
                facts = call(*match.groups(), *([body] if takes_body else []))
                return 200, paged(facts, urlsplit(request.path).query) if isinstance(facts, list) else facts or {}
        raise Wrong(404, "Not found.")


def problem(error: Wrong) -> dict[str, Any]:
    title = {400: "Bad request", 401: "Authentication", 404: "Not found"}.get(error.status, "Error")
    return {"error": {"status": error.status, "error_code": 140100, "title": title, "detail": error.detail}}


def paged(rows: list[Any], query: str) -> dict[str, Any]:
    params = dict(parse_qsl(query))
    page, size = int(params.get("page", 1)), min(int(params.get("page_size", 20)), 2)  # small pages, so that they turn
    results = rows[(page - 1) * size : page * size]
    has_more = page * size < len(rows)
    links = {"next": {"href": f"?page={page + 1}" if has_more else None, "title": "Next"}}
    return {"results": results, "_links": links, "meta": {"count": len(rows)}}
