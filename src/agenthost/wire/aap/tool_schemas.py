"""Tool schemas: whether an object is a JSON Schema for a tool's input. Values are not checked here."""

from collections.abc import Iterator
from typing import Any

from agenthost.errors import InvalidValue
from agenthost.wire.error_messages import describe, quote
from agenthost.wire.json import Json

__all__ = ["check_schema"]

_TYPES = {"array", "boolean", "integer", "null", "number", "object", "string"}
_ONE = ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else")
_MANY = ("anyOf", "allOf", "oneOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def check_schema(schema: Json, at: str) -> None:
    """Check the schema of a tool's input: it describes an object, and its keywords have valid values.

    Raises:
        InvalidValue: its path starts with `at`.
    """
    _check(schema, at)
    kind = schema.get("type", "object") if type(schema) is dict else None
    if kind != "object":
        raise InvalidValue(f"{at}.type", "'object', as the input of a tool is one", describe(kind))


def _check(schema: Any, at: str) -> None:
    if type(schema) is bool:
        return
    if type(schema) is not dict:
        raise InvalidValue(at, "a JSON Schema", describe(schema))
    _check_type(schema, at)
    for part, where in _parts(schema, at):
        _check(part, where)


def _parts(schema: Any, at: str) -> Iterator[tuple[Any, str]]:
    """Return the schemas inside a schema, with their paths."""
    yield from ((schema[key], f"{at}.{key}") for key in _ONE if key in schema)
    for key in _MANY:
        for place, part in enumerate(_list(schema.get(key, []), f"{at}.{key}")):
            yield part, f"{at}.{key}[{place}]"
    for key in _NAMED:
        named = schema.get(key, {})
        if type(named) is not dict:
            raise InvalidValue(f"{at}.{key}", "an object of schemas", describe(named))
        yield from ((part, f"{at}.{key}.{name}") for name, part in named.items())


def _check_type(schema: Any, at: str) -> None:
    kinds = schema.get("type", [])
    for kind in [kinds] if type(kinds) is str else _list(kinds, f"{at}.type"):
        if type(kind) is not str or kind not in _TYPES:
            raise InvalidValue(
                f"{at}.type", f"one of {', '.join(map(quote, sorted(_TYPES)))}", describe(kind)
            )
    for name in _list(schema.get("required", []), f"{at}.required"):
        if type(name) is not str:
            raise InvalidValue(f"{at}.required", "a list of names", describe(name))
    if "enum" in schema:
        _list(schema["enum"], f"{at}.enum")


def _list(value: Any, at: str) -> list[Any]:
    if type(value) is not list:
        raise InvalidValue(at, "a list", describe(value))
    return value
