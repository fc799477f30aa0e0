"""JSON as bytes: decoding that survives hostile input, and encoding. `shape` checks the values."""

from typing import Any, TypeAlias

import msgspec

from agenthost.errors import NotJson

Json: TypeAlias = Any
"""Any JSON value, where the protocols leave it open."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object, where the protocols leave its keys open."""

MAX_DEPTH = 128
"""How deep a value may nest. A deeper one could be decoded, but not encoded again on a fuller stack."""

MAX_GIVEN_DEPTH = 96
"""How deep a value may nest that will be stored: the object that it becomes part of must be decodable too."""

MAX_VALUES = 50_000
"""How many values a peer's message may have. Each costs much more time and memory than its bytes."""

MAX_BARE_BYTES = 1024 * 1024
"""How many bytes of a message may be outside of strings: long numbers are slow to decode, too."""

UNCHECKED_BYTES = 32 * 1024
"""Shorter messages cannot have enough values to matter."""

SLOW_NUMBER_COST = 20
"""How many values a number with a negative exponent counts as: it takes that much longer to decode."""

_decode = msgspec.json.Decoder().decode

_TOO_MANY = f"more than {MAX_VALUES} values, or their like, in one message"


def decode_json(data: bytes | str, levels: int = MAX_DEPTH) -> Json:
    """Decode one JSON value, nested at most `levels` deep.

    Raises:
        NotJson: malformed, not UTF-8, a number out of range, or nested deeper.
    """
    try:
        value = _decode(data)
    except msgspec.MsgspecError as error:
        raise NotJson(f"not JSON: {error}") from error
    except UnicodeError as error:
        raise NotJson("not JSON: a string is not valid UTF-8") from error
    except RecursionError:
        raise NotJson(f"nested deeper than {levels} levels") from None
    # A level takes two brackets, so short texts cannot be too deep.
    if len(data) >= 2 * levels:
        check_depth(value, levels)
    return value


def check_density(data: bytes | str) -> None:
    """Refuse a message with so many values that decoding it would block everybody else.

    Counts what is outside of strings, before anything is decoded.

    Raises:
        NotJson: there are more than `MAX_VALUES`.
    """
    if len(data) <= UNCHECKED_BYTES:
        return
    text = data.encode(errors="replace") if isinstance(data, str) else data
    unescaped = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    if unescaped.count(b'"') > 4 * MAX_VALUES:  # two quotes for a key, and two for its value
        raise NotJson(_TOO_MANY)
    # Split at the quotes: of the pieces, every second one is outside of strings.
    bare = b"".join(unescaped.split(b'"')[::2])
    slow = bare.count(b"e-") + bare.count(b"E-")
    count = bare.count(b",") + bare.count(b"[") + bare.count(b"{") + SLOW_NUMBER_COST * slow
    if count > MAX_VALUES or len(bare) > MAX_BARE_BYTES:
        raise NotJson(_TOO_MANY)


encode_json = msgspec.json.Encoder().encode
"""Encode a value as compact JSON. Bytes that are JSON already can be included as `msgspec.Raw`.

This is the encoder's own method: a wrapper would cost one more call for each message.
"""


def copy_json(value: Json) -> Json:
    """Return a copy of a value as JSON has it. For values from other people's code that will be stored.

    Raises:
        NotJson: nested deeper than `MAX_GIVEN_DEPTH`.
        TypeError: the value has no JSON form.
    """
    try:
        data = encode_json(value)
    except RecursionError:
        raise NotJson(f"nested deeper than {MAX_GIVEN_DEPTH} levels") from None
    return decode_json(data, MAX_GIVEN_DEPTH)


def is_same_json(one: Json, other: Json) -> bool:
    """Compare two values as JSON does: 1 is 1.0 but not true, where Python has `True == 1`."""
    if type(one) is dict and type(other) is dict:
        return one.keys() == other.keys() and all(is_same_json(one[key], other[key]) for key in one)
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(is_same_json, one, other))
    return (type(one) is bool) == (type(other) is bool) and bool(one == other)


def check_depth(value: Json, levels: int = MAX_GIVEN_DEPTH) -> None:
    """Refuse a value that nests too deep. Does not recurse, so no depth can break it.

    Raises:
        NotJson: nested deeper than `levels`.
    """
    level = [value]
    for _ in range(levels):
        level = [item for holder in level for item in _containers(holder)]
        if not level:
            return
    raise NotJson(f"nested deeper than {levels} levels")


def _containers(value: Json) -> list[Json]:
    items = value.values() if type(value) is dict else value if type(value) is list else ()
    return [item for item in items if type(item) in (dict, list)]
