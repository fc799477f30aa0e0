"""Signatures: the input of a Python function as JSON Schema, and arguments checked against it.

Knows nothing of tools or protocols. Supported are msgspec's types: `str`, `int`, `float`, `bool`, `list`,
`dict`, `Literal`, enumerations, unions, `TypedDict`, dataclasses, `Struct`.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypedDict, get_args, get_origin

import msgspec

from agenthost.core.docstrings import read_docstring
from agenthost.core.json_schema_check import find_mismatch
from agenthost.errors import InvalidValue
from agenthost.wire.json import Json, JsonObject, decode_json, encode_json

_make_record: Any = TypedDict


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function.

    Attributes:
        schema: the JSON Schema of its arguments, an object.
        context: the name of the parameter that the caller fills in, if there is one.
        record: the arguments as a `TypedDict`.
    """

    schema: JsonObject
    context: str | None
    record: Any

    def read(self, arguments: Json) -> dict[str, Any]:
        """Check arguments and convert them to the annotated types; defaults are not filled in.

        Raises:
            InvalidValue: an argument is missing, unknown, or of the wrong type.
        """
        known = self.schema["properties"]
        try:
            if type(arguments) is dict and arguments.keys() <= known.keys():
                values: dict[str, Any] = _convert(arguments, self.record)
                return values
            reason = "Unknown arguments"
        except msgspec.ValidationError as error:
            reason = str(error)
        raise self._refusal(arguments, reason)

    def _refusal(self, arguments: Json, reason: str) -> InvalidValue:
        if mismatch := find_mismatch(arguments, self.schema):
            return mismatch.at("$")
        words, _, path = reason.partition(" - at ")
        return InvalidValue(path.strip("`") or "$", "a value that fits", f"one that does not ({words})")


@dataclass(frozen=True, slots=True)
class SchemaSignature:
    """The parameters of a function with a given schema: `arguments`, a plain object, and `context`."""

    schema: JsonObject
    context: str | None = "context"

    def read(self, arguments: Json) -> dict[str, Any]:
        """Check arguments; they are not converted.

        Raises:
            InvalidValue: they do not fit the schema.
        """
        mismatch = find_mismatch(arguments, {"type": "object"}) or find_mismatch(arguments, self.schema)
        if mismatch is not None:
            raise mismatch.at("$")
        return {"arguments": arguments}


def read_signature(function: Callable[..., Any], context: type | None = None) -> Signature:
    """Read the signature of a function; a parameter annotated with `context` is not part of its input.

    Raises:
        TypeError: a parameter is variadic or positional-only, has no annotation, or has a type without JSON.
    """
    parameters = _parameters(function)
    filled = next((p.name for p in parameters if context is not None and p.annotation is context), None)
    inputs = [parameter for parameter in parameters if parameter.name != filled]
    fields = {p.name: _hint(function, p) for p in inputs}
    record = _make_record("Arguments", fields)
    schema = _schema(function, record, fields)
    words = read_docstring(function.__doc__).parameters
    for parameter in inputs:
        _describe(schema["properties"][parameter.name], parameter, words)
    return Signature(schema, filled, record)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function, eval_str=True).parameters.values())
    except NameError as error:
        name = _name(function)
        raise TypeError(
            f"{name}: the annotation {error.name!r} is not defined where the function is"
        ) from error


def _hint(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    where = f"{_name(function)}: the parameter {parameter.name!r}"
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise TypeError(f"{where} cannot be passed by name")
    if parameter.annotation is parameter.empty:
        raise TypeError(f"{where} has no annotation (for a method, pass the bound method of an instance)")
    return parameter.annotation if parameter.default is parameter.empty else NotRequired[parameter.annotation]


def _schema(function: Callable[..., Any], record: Any, fields: dict[str, Any]) -> JsonObject:
    """Return the schema: the record at the top, and what it refers to under `$defs`."""
    try:
        msgspec.json.Decoder(record)  # raises for types that it cannot decode
        (top,), defs = msgspec.json.schema_components([record])
    except TypeError as error:
        raise _culprit(function, fields, error) from error
    inside = defs.pop(top["$ref"].rpartition("/")[2])
    required = inside.get("required", ())
    # msgspec sorts properties; people and models expect the order of the parameters.
    schema: JsonObject = {
        "type": "object",
        "properties": {name: inside["properties"][name] for name in fields},
    }
    if required:
        schema["required"] = [name for name in fields if name in required]
    schema["additionalProperties"] = False
    return schema | {"$defs": defs} if defs else schema


def _culprit(function: Callable[..., Any], fields: dict[str, Any], error: TypeError) -> TypeError:
    """Return an error that names the parameter: msgspec only names the type."""
    for name, hint in fields.items():
        try:
            record = _make_record("Arguments", {name: hint})
            msgspec.json.Decoder(record)
            msgspec.json.schema_components([record])
        except TypeError:
            return TypeError(f"{_name(function)}: the parameter {name!r} has a type without JSON: {hint}")
    return TypeError(f"{_name(function)}: {error}")


def _describe(schema: JsonObject, parameter: inspect.Parameter, words: dict[str, str]) -> None:
    """Add the description of a parameter; an annotation takes precedence over the docstring."""
    text = _note(parameter.annotation) or schema.get("description") or words.get(parameter.name)
    if text:
        schema["description"] = text
    if parameter.default is not parameter.empty:
        try:
            schema["default"] = decode_json(encode_json(parameter.default))
        except TypeError:
            return  # a default without JSON is left to the function


def _note(annotation: Any) -> str | None:
    notes = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    return next((note for note in notes if isinstance(note, str)), None)


def _convert(arguments: JsonObject, record: Any) -> dict[str, Any]:
    try:
        return _strictly(arguments, record)
    except msgspec.ValidationError:
        # JSON has one kind of number, and some models write 2.0 for 2, which is an integer in JSON Schema.
        return _strictly(_with_integers(arguments), record)


def _strictly(arguments: JsonObject, record: Any) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.convert(arguments, record, strict=True, str_keys=True)
    return values


def _with_integers(value: Json) -> Json:
    if type(value) is float and value.is_integer():
        return int(value)
    if type(value) is list:
        return [_with_integers(item) for item in value]
    if type(value) is dict:
        return {key: _with_integers(item) for key, item in value.items()}
    return value


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", repr(function))
