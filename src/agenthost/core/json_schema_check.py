"""JSON Schema: why a value does not fit one, in the words of `wire.error_messages`.

For Python functions, `signatures` decides whether arguments fit, and this module only finds the reason. For
schemas that others wrote, and for settings, it decides itself, as far as it knows them: types, limits, the
contents of objects and lists, choices and unions. It ignores what it does not know (patterns, formats,
conditions): the author of the schema checks again. A schema that makes no sense refuses nothing.
"""

from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any

from agenthost.wire.error_messages import TYPE_NAMES, Mismatch, describe, quote
from agenthost.wire.json import Json, JsonObject, is_same_json

MAX_DEPTH = 100
"""How many references may follow each other, and how deep values are checked."""

MAX_STEPS = 100_000
"""How many steps one check may take: a schema can be written so that checking it never ends."""

TOLERANCE = 1e-9
"""How far a float may be off: 0.3 is a multiple of 0.1."""

_KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "string": ("a string", (str,)),
    "number": ("a number", (int, float)),
    "integer": ("a whole number", (int,)),
    "boolean": ("true or false", (bool,)),
    "null": ("null", (NoneType,)),
    "array": ("a list", (list, tuple)),
    "object": ("an object", (dict,)),
}

# In the order in which they are checked: the type they apply to, the error text, and when they are broken.
_LIMITS: dict[str, tuple[str, str, Callable[[Any, Any], bool]]] = {
    "minimum": ("number", "a number of at least {}", lambda value, limit: value < limit),
    "exclusiveMinimum": ("number", "a number above {}", lambda value, limit: value <= limit),
    "maximum": ("number", "a number of at most {}", lambda value, limit: value > limit),
    "exclusiveMaximum": ("number", "a number below {}", lambda value, limit: value >= limit),
    "multipleOf": ("number", "a multiple of {}", lambda value, limit: not _is_multiple(value, limit)),
    "minLength": ("string", "a string of at least {} characters", lambda value, limit: len(value) < limit),
    "maxLength": ("string", "a string of at most {} characters", lambda value, limit: len(value) > limit),
    "minItems": ("array", "a list of at least {} items", lambda value, limit: len(value) < limit),
    "maxItems": ("array", "a list of at most {} items", lambda value, limit: len(value) > limit),
    "minProperties": ("object", "an object of at least {} keys", lambda value, limit: len(value) < limit),
    "maxProperties": ("object", "an object of at most {} keys", lambda value, limit: len(value) > limit),
}


def find_mismatch(value: Json, schema: JsonObject) -> Mismatch | None:
    """Return the first thing that is wrong with a value; `None` if this module finds nothing."""
    try:
        _Checker(schema).check(value, schema)
    except Mismatch as mismatch:
        return mismatch
    except _TooManySteps:
        return None  # the author of the schema checks again
    return None


class _TooManySteps(Exception):
    """The check has taken more than `MAX_STEPS`."""


class _Checker:
    """Checks one value against a schema that may refer to parts of itself."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._depth = 0
        self._steps = 0

    def check(self, value: Json, schema: Any) -> None:
        """Check a value against a part of the schema.

        Raises:
            Mismatch: it does not fit.
        """
        schema = self._resolve(schema)
        if schema is False:
            raise Mismatch("nothing", _found(value))
        if type(schema) is not dict or self._depth > MAX_DEPTH:
            return
        self._count(1)
        self._depth += 1
        try:
            self._check_unions(value, schema)
            self._check_itself(value, schema)
        finally:
            self._depth -= 1

    def _count(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MAX_STEPS:
            raise _TooManySteps

    def _check_itself(self, value: Json, schema: JsonObject) -> None:
        choices = _choices(schema)
        self._count(len(choices or ()) + len(_list(schema.get("required"))))
        if choices is not None and not any(
            # Python's `==` is faster, and takes too much for equal at most.
            value == allowed and is_same_json(value, allowed)
            for allowed in choices
        ):
            raise Mismatch(self._name(schema), _found(value, quote))
        kinds = _kinds(schema)
        if kinds and not any(_is_kind(value, kind) for kind in kinds):
            raise Mismatch(self._name(schema), _found(value))
        _check_limits(value, schema)
        if type(value) is dict:
            self._check_object(value, schema)
        elif isinstance(value, list | tuple):
            self._check_list(value, schema)

    def _check_object(self, value: JsonObject, schema: JsonObject) -> None:
        properties = _dict(schema.get("properties"))
        # Which keys a pattern matches is not known here, so with patterns any other key is allowed.
        others = {} if "patternProperties" in schema else schema.get("additionalProperties", {})
        for key in _list(schema.get("required")):
            if isinstance(key, str) and key not in value:
                raise Mismatch(self._name(properties.get(key, {})), "nothing").under(key)
        for key, item in value.items():
            if key not in properties and others is False:
                raise Mismatch(_only(properties), _found(key, quote))
            self._check_item(key, item, properties.get(key, others))

    def _check_list(self, value: Sequence[Json], schema: JsonObject) -> None:
        # Before draft 2020-12, `prefixItems` was a list under `items`, with `additionalItems` for the rest.
        items = schema.get("items", {})
        first = items if isinstance(items, list) else _list(schema.get("prefixItems"))
        others = schema.get("additionalItems", {}) if isinstance(items, list) else items
        for index, item in enumerate(value):
            self._check_item(index, item, first[index] if index < len(first) else others)

    def _check_item(self, key: str | int, item: Json, schema: Any) -> None:
        try:
            self.check(item, schema)
        except Mismatch as mismatch:
            raise mismatch.under(key) from None

    def _check_unions(self, value: Json, schema: JsonObject) -> None:
        for part in _list(schema.get("allOf")):
            self.check(value, part)
        for keyword in ("anyOf", "oneOf"):
            if members := _list(schema.get(keyword)):
                self._check_union(value, schema, members)

    def _check_union(self, value: Json, schema: JsonObject, members: Sequence[Any]) -> None:
        discriminator = _dict(schema.get("discriminator"))
        if {"propertyName", "mapping"} <= discriminator.keys() and type(value) is dict:
            self._check_tagged(value, discriminator)
            return
        mismatches = []
        for member in members:
            try:
                self.check(value, member)
            except Mismatch as mismatch:
                mismatches.append((self._resolve(member), mismatch))
            else:
                return
        # If only one member has the value's type, that one was intended: report what is wrong inside it.
        near = [
            found for member, found in mismatches if any(_is_kind(value, kind) for kind in _kinds(member))
        ]
        raise near[0] if len(near) == 1 else Mismatch(self._name({"anyOf": members}), _found(value))

    def _check_tagged(self, value: JsonObject, discriminator: JsonObject) -> None:
        key, mapping = discriminator["propertyName"], discriminator["mapping"]
        tag = value.get(key)
        if type(tag) is not str or tag not in mapping:
            found = _found(tag, quote) if key in value else "nothing"
            raise Mismatch(" or ".join(map(quote, mapping)), found).under(key)
        self.check(value, {"$ref": mapping[tag]})

    def _resolve(self, schema: Any) -> Any:
        """Follow references inside the schema. A reference that leads outside allows anything."""
        for _ in range(MAX_DEPTH):
            if type(schema) is not dict or "$ref" not in schema:
                return schema
            schema = _follow_pointer(self._root, schema["$ref"])
        return {}

    def _name(self, schema: Any) -> str:
        """Describe what a schema asks for, one level deep."""
        schema = _dict(self._resolve(schema))
        if members := _list(schema.get("anyOf")) or _list(schema.get("oneOf")):
            self._count(len(members))
            plain = [one for one in map(self._resolve, members) if not {"anyOf", "oneOf"} & _dict(one).keys()]
            return " or ".join(dict.fromkeys(map(self._name, plain))) or "a value"
        if (choices := _choices(schema)) is not None:
            return " or ".join(map(quote, choices)) or "nothing"
        return " or ".join(_KINDS[kind][0] for kind in _kinds(schema) if kind in _KINDS) or "a value"


def _follow_pointer(root: JsonObject, reference: Any) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return {}
    # RFC 6901: `~1` is `/` and `~0` is `~`, decoded in this order.
    found: Any = root
    for step in reference[1:].split("/")[1:]:
        found = _dict(found).get(step.replace("~1", "/").replace("~0", "~"), {})
    return found


def _check_limits(value: Json, schema: JsonObject) -> None:
    for keyword, (kind, words, is_broken) in _LIMITS.items():
        limit = schema.get(keyword)
        if type(limit) in (int, float) and _is_kind(value, kind) and is_broken(value, limit):
            found = _found(value) if kind == "number" else f"{len(value)}"
            raise Mismatch(words.format(limit), found)


def _is_multiple(value: float, of: float) -> bool:
    if of == 0 or (type(value) is int and type(of) is int):
        return of == 0 or value % of == 0
    try:
        share = value / of  # a remainder of floats would be off for 0.3 and 0.1
        return abs(share - round(share)) < TOLERANCE
    except OverflowError:
        return True


def _choices(schema: JsonObject) -> Sequence[Json] | None:
    if "const" in schema:
        return [schema["const"]]
    # AHP: the schema lists only some of the values. The code that applies the setting knows them all.
    if schema.get("enumDynamic") is True:
        return None
    return schema["enum"] if isinstance(schema.get("enum"), list) else None


def _kinds(schema: Any) -> Sequence[str]:
    kind = _dict(schema).get("type")
    return [kind] if isinstance(kind, str) else [one for one in _list(kind) if isinstance(one, str)]


def _dict(value: Any) -> JsonObject:
    return value if type(value) is dict else {}


def _list(value: Any) -> Sequence[Any]:
    return value if type(value) is list else []


def _only(properties: JsonObject) -> str:
    names = ", ".join(map(quote, properties))
    return f"nothing but {names}" if names else "an empty object"


def _is_kind(value: Json, kind: str) -> bool:
    if kind == "integer" and type(value) is float:
        return value.is_integer()
    return type(value) in _KINDS[kind][1] if kind in _KINDS else True


def _found(value: Json, words: Callable[[Json], str] = describe) -> str:
    """Describe a value. A caller in this process may pass objects that JSON does not have."""
    return (
        words(value)
        if type(value) in TYPE_NAMES or type(value) is float
        else f"a Python {type(value).__name__}"
    )
