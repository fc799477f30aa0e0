"""JSON as bytes: decoding that survives hostile input, and encoding. Knows no shapes."""

from typing import Any, TypeAlias

import msgspec

from agenthost.errors import NotJson

Json: TypeAlias = Any
"""Any JSON value: what the protocols leave free."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object whose keys the protocols leave free."""

MAX_DEPTH = 128
"""How deep a value may nest. Deeper ones could be read here but not written where the stack is fuller."""

_decode = msgspec.json.Decoder().decode


def decode_json(data: bytes | str) -> Json:
    """Decode one JSON value.

    Raises:
        NotJson: malformed, not UTF-8, a number out of range, or nested deeper than `MAX_DEPTH`.
    """
    try:
        value = _decode(data)
    except msgspec.MsgspecError as error:
        raise NotJson(f"not JSON: {error}") from error
    except UnicodeError as error:
        raise NotJson("not JSON: a string is not valid UTF-8") from error
    except RecursionError:
        raise NotJson(f"nested deeper than {MAX_DEPTH} levels") from None
    # A level takes two brackets, so short texts cannot be deep.
    if len(data) >= 2 * MAX_DEPTH:
        _refuse_deep(value)
    return value


encode_json = msgspec.json.Encoder().encode
"""Encode a value as compact JSON. Bytes that are JSON already ride along as `msgspec.Raw`.

The encoder itself, as a function around it would be called often.
"""


def _refuse_deep(value: Json) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [item for holder in level for item in _holders(holder)]
        if not level:
            return
    raise NotJson(f"nested deeper than {MAX_DEPTH} levels")


def _holders(value: Json) -> list[Json]:
    items = value.values() if type(value) is dict else value if type(value) is list else ()
    return [item for item in items if type(item) in (dict, list)]
