"""The contract: botocore's service model of MTurk. What comes in is checked against it, what goes out follows it.

botocore's own validator checks presence, types and minima only; here maxima, patterns and enumerations count as well.
Where clients differ, we are liberal: unknown members and nulls are left out, "3" is taken for 3.
"""

import re
from datetime import UTC, datetime
from functools import cache
from typing import Any

from botocore.loaders import Loader
from botocore.model import ListShape, ServiceModel, Shape, StructureShape
from django.utils.dateparse import parse_datetime

from annotation.marketplace.errors import BadParameter

BOUNDS = {"integer": 2**31, "long": 2**63}


@cache
def service_model() -> ServiceModel:
    """Pinned with botocore: a later one may have dropped it (docs/marketplace/operations.md)."""
    return ServiceModel(Loader().load_service_model("mturk", "service-2"), "mturk")


@cache
def target_prefix() -> str:
    return service_model().metadata["targetPrefix"]


@cache
def operation_names() -> frozenset[str]:
    return frozenset(service_model().operation_names)


@cache
def _input_shape(operation: str) -> StructureShape:
    return service_model().operation_model(operation).input_shape


def check_parameters(operation: str, data: Any) -> dict[str, Any]:
    """The parameters of a call, cleaned. Raises BadParameter naming the member that is wrong."""
    parameters: dict[str, Any] = _clean(_input_shape(operation), data, "")
    return parameters


def _clean(shape: Shape, value: Any, path: str) -> Any:
    match shape.type_name:
        case "structure":
            return _structure(shape, value, path)
        case "list":
            return _list(shape, value, path)
        case "integer" | "long":
            return _integer(shape, value, path)
        case "boolean":
            return _boolean(value, path)
        case "timestamp":
            return _timestamp(value, path)
        case _:
            return _text(shape, value, path)


def _structure(shape: StructureShape, value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong_type(path or "The request", value, "an object")
    members = {name: member for name, member in value.items() if member is not None and name in shape.members}
    for name in shape.required_members:
        if name not in members:
            raise BadParameter(f"{_join(path, name)} is missing; it is required.")
    return {name: _clean(shape.members[name], member, _join(path, name)) for name, member in members.items()}


def _list(shape: ListShape, value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise _wrong_type(path, value, "a list")
    return [_clean(shape.member, entry, f"{path}[{n}]") for n, entry in enumerate(value)]


def _integer(shape: Shape, value: Any, path: str) -> int:
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,20}", value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong_type(path, value, "a whole number")
    minimum = shape.metadata.get("min", -BOUNDS[shape.type_name])
    maximum = shape.metadata.get("max", BOUNDS[shape.type_name] - 1)
    if not minimum <= value <= maximum:
        raise BadParameter(f"{path} is {value}; it must be {minimum} to {maximum}.")
    return value


def _boolean(value: Any, path: str) -> bool:
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise _wrong_type(path, value, "true or false")
    return value


def _timestamp(value: Any, path: str) -> datetime:
    try:
        if isinstance(value, str):
            value = float(value) if re.fullmatch(r"-?[0-9.]+", value) else parse_datetime(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = datetime.fromtimestamp(value, UTC)
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise BadParameter(f"{path} must be a time: seconds since 1970, or ISO 8601.")


def _text(shape: Shape, value: Any, path: str) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise _wrong_type(path, value, "a string")
    if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise BadParameter(f"{path} has characters that no text has (NUL or half a surrogate pair).")
    limits = shape.metadata
    minimum, maximum = limits.get("min", 0), limits.get("max")
    if len(value) < minimum or (maximum is not None and len(value) > maximum):
        raise BadParameter(f"{path} has {len(value)} characters; it must have {minimum} to {maximum or 'any number'}.")
    if "pattern" in limits and not re.fullmatch(limits["pattern"].strip("^$"), value):
        raise BadParameter(f"{path} is {value[:80]!r}; it must match {limits['pattern']}.")
    if "enum" in limits and value not in limits["enum"]:
        raise BadParameter(f"{path} is {value[:80]!r}; it must be one of {', '.join(limits['enum'])}.")
    return value


def _wrong_type(path: str, value: Any, expected: str) -> BadParameter:
    return BadParameter(f"{path} must be {expected}, not {type(value).__name__}.")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
