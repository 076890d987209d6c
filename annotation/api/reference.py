"""The OpenAPI document as rows for a page: no script, nothing from outside."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Line:
    """One operation, ready to print."""

    name: str
    method: str
    path: str
    description: str
    parameters: list[dict[str, Any]]
    body: list[dict[str, Any]]
    answer: list[dict[str, Any]]
    status: str


def operations(document: dict[str, Any]) -> dict[str, list[Line]]:
    """Every operation by resource, in the document's order."""
    parts: dict[str, list[Line]] = {}
    for address, methods in document["paths"].items():
        for method, one in methods.items():
            parts.setdefault(one["tags"][0], []).append(_line(document, address, method, one))
    return parts


def _line(document: dict[str, Any], address: str, method: str, one: dict[str, Any]) -> Line:
    status = next(iter(one["responses"]))
    body = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    answer = one["responses"][status].get("content", {}).get("application/json", {}).get("schema", {})
    return Line(
        name=one["operationId"],
        method=method.upper(),
        path=address,
        description=one.get("description", ""),
        parameters=[
            {"name": p["name"], "where": p["in"], "kind": _kind(p["schema"]), "about": p.get("description", "")}
            for p in one.get("parameters", [])
        ],
        body=_fields(document, body),
        answer=_fields(document, _item(document, answer)),
        status=status,
    )


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return dict(document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]])
    return schema


def _item(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """For a page of things, one of the things."""
    found = _resolved(document, schema)
    items = found.get("properties", {}).get("items", found if found.get("type") == "array" else {}).get("items")
    return items or found


def _fields(document: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    found = _resolved(document, schema)
    needed = set(found.get("required", []))
    return [
        {"name": name, "kind": _kind(one), "about": one.get("description", ""), "needed": name in needed}
        for name, one in found.get("properties", {}).items()
    ]


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[-1])
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    return str(schema.get("format") or schema.get("type") or schema.get("const") or "anything")
