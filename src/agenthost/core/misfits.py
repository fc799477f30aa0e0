"""Misfits: why a value does not fit a JSON Schema, in the words of `wire.mismatch`.

Whether it fits is decided elsewhere (`signatures`): this module only looks for the reason, so it may know
less than all of JSON Schema. It knows what msgspec writes.
"""

from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any

from agenthost.wire.json import Json, JsonObject
from agenthost.wire.mismatch import NAMES, Mismatch, describe, quote

_KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "string": ("a string", (str,)),
    "number": ("a number", (int, float)),
    "integer": ("a whole number", (int,)),
    "boolean": ("true or false", (bool,)),
    "null": ("null", (NoneType,)),
    "array": ("a list", (list, tuple)),
    "object": ("an object", (dict,)),
}

# In the order in which they are looked at: what is said, and when it is broken.
_LIMITS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "minimum": ("a number of at least {}", lambda value, limit: value < limit),
    "exclusiveMinimum": ("a number above {}", lambda value, limit: value <= limit),
    "maximum": ("a number of at most {}", lambda value, limit: value > limit),
    "exclusiveMaximum": ("a number below {}", lambda value, limit: value >= limit),
    "multipleOf": ("a multiple of {}", lambda value, limit: value % limit != 0),
    "minLength": ("a string of at least {} characters", lambda value, limit: len(value) < limit),
    "maxLength": ("a string of at most {} characters", lambda value, limit: len(value) > limit),
    "minItems": ("a list of at least {} items", lambda value, limit: len(value) < limit),
    "maxItems": ("a list of at most {} items", lambda value, limit: len(value) > limit),
    "minProperties": ("an object of at least {} keys", lambda value, limit: len(value) < limit),
    "maxProperties": ("an object of at most {} keys", lambda value, limit: len(value) > limit),
}


def find_misfit(value: Json, schema: JsonObject) -> Mismatch | None:
    """Find the first thing that is wrong with a value, or nothing that this module would know."""
    try:
        _look(value, schema, schema.get("$defs", {}))
    except Mismatch as mismatch:
        return mismatch
    return None


def _look(value: Json, schema: JsonObject, defs: JsonObject) -> None:
    schema = _resolve(schema, defs)
    if "anyOf" in schema:
        _look_at_union(value, schema, defs)
    elif "enum" in schema:
        if not any(_equals(value, allowed) for allowed in schema["enum"]):
            raise Mismatch(_name(schema, defs), _found(value, quote))
    elif "type" in schema:
        if not _is_kind(value, schema["type"]):
            raise Mismatch(_name(schema, defs), _found(value))
        _look_at_limits(value, schema)
        if schema["type"] == "object":
            _look_at_object(value, schema, defs)
        elif schema["type"] == "array":
            _look_at_list(value, schema, defs)


def _look_at_limits(value: Json, schema: JsonObject) -> None:
    for keyword, (words, is_broken) in _LIMITS.items():
        if keyword in schema and is_broken(value, schema[keyword]):
            found = _found(value) if type(value) in (int, float) else f"{len(value)}"
            raise Mismatch(words.format(schema[keyword]), found)


def _look_at_object(value: JsonObject, schema: JsonObject, defs: JsonObject) -> None:
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", {})
    for key in schema.get("required", ()):
        if key not in value:
            raise Mismatch(_name(properties[key], defs), "nothing").under(key)
    for key, item in value.items():
        if key not in properties and others is False:
            raise Mismatch(_only(properties), _found(key, quote))
        inside = properties.get(key, others)
        if isinstance(inside, dict):
            _look_under(key, item, inside, defs)


def _look_at_list(value: Sequence[Json], schema: JsonObject, defs: JsonObject) -> None:
    first = schema.get("prefixItems", [])
    others = schema.get("items", {})
    for index, item in enumerate(value):
        inside = first[index] if index < len(first) else others
        if isinstance(inside, dict):
            _look_under(index, item, inside, defs)


def _look_under(key: str | int, item: Json, schema: JsonObject, defs: JsonObject) -> None:
    try:
        _look(item, schema, defs)
    except Mismatch as mismatch:
        raise mismatch.under(key) from None


def _look_at_union(value: Json, schema: JsonObject, defs: JsonObject) -> None:
    if "discriminator" in schema and type(value) is dict:
        _look_at_tagged(value, schema["discriminator"], defs)
        return
    mismatches = []
    for member in schema["anyOf"]:
        try:
            _look(value, member, defs)
        except Mismatch as mismatch:
            mismatches.append((_resolve(member, defs), mismatch))
        else:
            return
    # If one member alone is of the value's kind, it was meant, and what is wrong is inside.
    near = [found for member, found in mismatches if _is_kind(value, member.get("type", ""))]
    raise near[0] if len(near) == 1 else Mismatch(_name(schema, defs), _found(value))


def _look_at_tagged(value: JsonObject, discriminator: JsonObject, defs: JsonObject) -> None:
    key, mapping = discriminator["propertyName"], discriminator["mapping"]
    tag = value.get(key)
    if type(tag) is not str or tag not in mapping:
        found = _found(tag, quote) if key in value else "nothing"
        raise Mismatch(" or ".join(map(quote, mapping)), found).under(key)
    _look(value, {"$ref": mapping[tag]}, defs)


def _resolve(schema: JsonObject, defs: JsonObject) -> JsonObject:
    while "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    return schema


def _name(schema: JsonObject, defs: JsonObject) -> str:
    """Say what a schema asks for, one level deep."""
    schema = _resolve(schema, defs)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_name(member, defs) for member in schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(quote(value) for value in schema["enum"])
    return _KINDS[schema["type"]][0] if "type" in schema else "a value"


def _only(properties: JsonObject) -> str:
    names = ", ".join(map(quote, properties))
    return f"nothing but {names}" if names else "an empty object"


def _is_kind(value: Json, kind: str) -> bool:
    if kind == "integer" and type(value) is float:
        return value.is_integer()
    return type(value) in _KINDS.get(kind, ("", ()))[1]


def _equals(value: Json, other: Json) -> bool:
    """Compare as JSON does: `True == 1` in Python."""
    return bool(value == other) and (type(value) is bool) == (type(other) is bool)


def _found(value: Json, words: Callable[[Json], str] = describe) -> str:
    """Name a value, which a caller in this process may have made of anything."""
    return (
        words(value) if type(value) in NAMES or type(value) is float else f"a Python {type(value).__name__}"
    )
