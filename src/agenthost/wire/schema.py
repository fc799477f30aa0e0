"""JSON Schema (2020-12) from the annotations that `checks` reads, for documentation and other tools.

A schema accepts what `STRICT` accepts: only variants and constants that we know, and any unknown keys.
"""

import inspect
from collections.abc import Mapping
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from agenthost.wire.annotations import ByKey, Constants, Tag, is_record, is_union, record_fields, tag_values
from agenthost.wire.json import JsonObject

__all__ = ["DEFS", "Schemas", "schema_document"]

DEFS = "#/$defs/"
"""Where references point in a JSON Schema document; OpenAPI has `#/components/schemas/`."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_document(kinds: Mapping[str, Any]) -> JsonObject:
    """Return one document for named annotations: each is under `$defs`, with every record it contains."""
    schemas = Schemas()
    for name, kind in kinds.items():
        schemas.define(name, kind)
    return {"$schema": _DIALECT, "$defs": schemas.definitions}


class Schemas:
    """Schemas that refer to each other.

    Attributes:
        definitions: the schemas of all named annotations, and of all records that they contain.
    """

    def __init__(self, prefix: str = DEFS) -> None:
        self.definitions: dict[str, JsonObject] = {}
        self._prefix = prefix
        self._kinds: dict[str, Any] = {}

    def define(self, name: str, kind: Any) -> JsonObject:
        """Register an annotation under a name, and return a reference to it.

        Raises:
            ValueError: the name is taken by another type.
        """
        if name not in self._kinds:
            self._kinds[name] = kind
            # A record may contain itself, so its name is reserved before its fields are read.
            self.definitions[name] = {}
            is_itself = is_record(kind) and kind.__name__ == name
            self.definitions[name] = self._record(kind) if is_itself else self.refer(kind)
        elif self._kinds[name] != kind:
            message = f"two types are called {name!r}"
            raise ValueError(message)
        return {"$ref": self._prefix + name}

    def refer(self, kind: Any) -> JsonObject:
        """Return the schema of an annotation, in which records are references."""
        origin = get_origin(kind)
        if origin is Annotated:
            return self._marked(kind)
        if is_union(kind):
            return {"anyOf": [self.refer(member) for member in get_args(kind)]}
        if origin is Literal:
            return _constants(get_args(kind))
        if origin is list:
            return {"type": "array", "items": self.refer(get_args(kind)[0])}
        if origin is dict:
            return self._map(get_args(kind)[1])
        if is_record(kind):
            return self.define(kind.__name__, kind)
        return dict(_PLAIN[kind])

    def _record(self, kind: Any) -> JsonObject:
        fields = record_fields(kind)
        schema: JsonObject = {"type": "object"}
        if text := kind.__dict__.get("__doc__"):
            schema["description"] = inspect.cleandoc(text)
        if fields:
            schema["properties"] = {key: self.refer(hint) for key, (hint, _) in fields.items()}
        if required := [key for key, (_, is_required) in fields.items() if is_required]:
            schema["required"] = required
        return schema

    def _map(self, item: Any) -> JsonObject:
        inside = self.refer(item)
        return {"type": "object", "additionalProperties": inside} if inside else {"type": "object"}

    def _marked(self, kind: Any) -> JsonObject:
        inner, mark = get_args(kind)
        if isinstance(mark, Constants):
            return self.refer(inner)
        if isinstance(mark, Tag):
            return self._tagged(mark.key, get_args(inner) if is_union(inner) else (inner,))
        return self._by_key(mark)

    def _tagged(self, key: str, members: tuple[Any, ...]) -> JsonObject:
        schema: JsonObject = {"oneOf": [self.refer(member) for member in members]}
        mapping = {
            constant: self.refer(member)["$ref"]
            for member in members
            if is_record(member)
            for constant in tag_values(member, key)
        }
        # OpenAPI's discriminator supports only strings, and only references.
        if all(map(is_record, members)) and all(type(constant) is str for constant in mapping):
            schema["discriminator"] = {"propertyName": key, "mapping": mapping}
        return schema

    def _by_key(self, mark: ByKey) -> JsonObject:
        """Express what `checks` does: the first key that is present decides."""
        schema: JsonObject = {"not": {}}
        for key, member in reversed(mark.members):
            chosen = self.refer(member)
            schema = {"if": {"required": [key]}, "then": chosen, "else": schema} if key else chosen
        return schema


def _constants(values: tuple[Any, ...]) -> JsonObject:
    return {"const": values[0]} if len(values) == 1 else {"enum": list(values)}


_PLAIN: dict[Any, JsonObject] = {
    Any: {},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
    float: {"type": "number"},
    NoneType: {"type": "null"},
}
