"""The API as a whole: its routers, its errors, and its OpenAPI document."""

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from .problems import MEDIA_TYPE, ProblemOut, answer_problems

DESCRIPTION = """Studies, their texts, judgments, scores and reports, as the site shows them to a token's owner.

Every request carries `Authorization: Bearer pyr_…`; tokens are made on the site under “API”. Lists come in pages: send
`next` back as `after`. Answers carry an ETag; `If-None-Match` saves the transfer and `If-Match` guards a change.
Every error is an `application/problem+json` document. Workers appear by pseudonym."""

# What may happen at any operation, and what only where something is sent or changed.
ALWAYS = {
    400: "The body is not JSON, or the address holds a character that no text has",
    401: "No valid token",
    403: "The token's scope or the person's role does not allow it",
    404: "There is no such thing, or you have no part in it",
    405: "The address does not take this method",
    413: "The body is too large",
    415: "The body is not application/json",
    422: "The request does not fit; `errors` says where",
    429: "Too many requests; `Retry-After` says how long to wait",
    500: "Something went wrong on our side",
    503: "The database doesn't answer now; `Retry-After` says how long to wait",
}
READING = {304: "You have it already (If-None-Match)"}
WRITING = {
    409: "It can't be done as things stand; nothing was changed",
    412: "It has changed since you read it (If-Match)",
}


class Api(NinjaAPI):
    """django-ninja's API, with readable operation names and every error in the document."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        document = super().get_openapi_schema(**options)
        schemas = document["components"]["schemas"]
        schema = ProblemOut.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(schema.pop("$defs"))
        schemas["Problem"] = schema
        for path in document["paths"].values():
            for method, operation in path.items():
                _say_errors(method, operation)
                _say_conditions(method, operation)
                if operation.pop("x-file", False):
                    _say_file(operation)
        _say_links(document["paths"])
        return document


def _say_errors(method: str, operation: dict[str, Any]) -> None:
    answers = {**ALWAYS, **(READING if method == "get" else WRITING)}
    operation["responses"] = {str(status): body for status, body in operation["responses"].items()}
    for status, description in sorted(answers.items()):
        body = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
        operation["responses"].setdefault(str(status), {"description": description, **({} if status == 304 else body)})


def _say_conditions(method: str, operation: dict[str, Any]) -> None:
    if method == "get":
        header = {"schema": {"type": "string"}, "description": "An ETag you were given: 304 if it still holds"}
        operation["parameters"].append({"in": "header", "name": "If-None-Match", "required": False, **header})
    elif method in ("patch", "delete"):
        operation["description"] += " With `If-Match` and an ETag, only while nobody has changed it since."


def _say_file(operation: dict[str, Any]) -> None:
    body = {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}
    refusal = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    operation["responses"]["200"] = {"description": "The file", **body}
    operation["responses"]["206"] = {"description": "The piece asked for with Range", **body}
    operation["responses"]["410"] = {"description": "The export has expired", **refusal}
    operation["responses"]["416"] = {"description": "The file has no such piece"}


def _say_links(paths: dict[str, Any]) -> None:
    """Where a list's items lead: the document says it, so that programs can follow."""
    by_address = {address.removeprefix("/api/v1"): methods for address, methods in paths.items()}
    for address, methods in by_address.items():
        for operation in methods.values():
            if "{study}" in address:
                origin, parameters = "/studies", {"study": "$response.body#/items/0/slug"}
                if "{id}" in address:
                    origin = address.split("/{id}")[0]
                    parameters = {"study": "$request.path.study", "id": "$response.body#/items/0/id"}
                links = by_address[origin]["get"]["responses"]["200"].setdefault("links", {})
                links[operation["operationId"]] = {"operationId": operation["operationId"], "parameters": parameters}


def make_api() -> Api:
    """The API with all its resources. They are imported here: models must be ready first."""
    from . import (
        assignments,
        batches,
        exports,
        filters,
        jobs,
        judgments,
        reports,
        scores,
        studies,
        workers,
    )
    from .crowd import launch, submissions
    from .texts import documents, imports, scus, summaries

    api = Api(
        title="Pyramidion",
        version="1",
        description=DESCRIPTION,
        docs_url=None,
        openapi_url=None,
        urls_namespace="api",
    )
    answer_problems(api)
    api.add_router("", studies.router, tags=["studies"])
    api.add_router("", imports.router, tags=["imports"])
    for resource in (
        documents,
        summaries,
        scus,
        batches,
        launch,
        submissions,
        assignments,
        judgments,
        scores,
        filters,
        reports,
        jobs,
        workers,
        exports,
    ):
        api.add_router("/studies/{study}", resource.router, tags=[resource.__name__.rsplit(".", 1)[-1]])
    return api
