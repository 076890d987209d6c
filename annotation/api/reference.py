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
    lines_by_tag: dict[str, list[Line]] = {}
    for address, methods in document["paths"].items():
        for method, operation in methods.items():
            lines_by_tag.setdefault(operation["tags"][0], []).append(_line(document, address, method, operation))
    return lines_by_tag


def _line(document: dict[str, Any], address: str, method: str, operation: dict[str, Any]) -> Line:
    status = next(iter(operation["responses"]))
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    answer = operation["responses"][status].get("content", {}).get("application/json", {}).get("schema", {})
    return Line(
        name=operation["operationId"],
        method=method.upper(),
        path=address,
        description=operation.get("description", ""),
        parameters=[
            {"name": p["name"], "where": p["in"], "kind": _kind(p["schema"]), "about": p.get("description", "")}
            for p in operation.get("parameters", [])
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
    resolved = _resolved(document, schema)
    array = resolved if resolved.get("type") == "array" else {}
    return resolved.get("properties", {}).get("items", array).get("items") or resolved


def _fields(document: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    resolved = _resolved(document, schema)
    required = set(resolved.get("required", []))
    return [
        {"name": name, "kind": _kind(field), "about": field.get("description", ""), "needed": name in required}
        for name, field in resolved.get("properties", {}).items()
    ]


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[-1])
    if "anyOf" in schema:
        return " or ".join(_kind(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    return str(schema.get("format") or schema.get("type") or schema.get("const") or "anything")
