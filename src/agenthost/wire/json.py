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

MAX_GIVEN_DEPTH = 96
"""How deep a value may nest that others give to be kept: what it is put into has to be read again."""

MAX_VALUES = 50_000
"""How many values a message of a peer may hold. Each costs much more time and memory than its bytes."""

MAX_BARE_BYTES = 1024 * 1024
"""How many bytes of such a message may stand outside of strings: long numbers take their time, too."""

FEW_BYTES = 32 * 1024
"""Shorter messages cannot hold so many values that it matters."""

SLOW_NUMBER = 20
"""How many values a number with a negative exponent counts for: it takes that much longer to be read."""

_decode = msgspec.json.Decoder().decode

_TOO_MANY = f"more than {MAX_VALUES} values, or their like, in one message"


def decode_json(data: bytes | str, levels: int = MAX_DEPTH) -> Json:
    """Decode one JSON value, which may nest so many levels deep.

    Raises:
        NotJson: malformed, not UTF-8, a number out of range, or nested deeper than that.
    """
    try:
        value = _decode(data)
    except msgspec.MsgspecError as error:
        raise NotJson(f"not JSON: {error}") from error
    except UnicodeError as error:
        raise NotJson("not JSON: a string is not valid UTF-8") from error
    except RecursionError:
        raise NotJson(f"nested deeper than {levels} levels") from None
    # A level takes two brackets, so short texts cannot be deep.
    if len(data) >= 2 * levels:
        check_depth(value, levels)
    return value


def check_density(data: bytes | str) -> None:
    """Refuse a message of so many values that decoding it would hold up everybody.

    Counts what stands outside of strings, before anything is made of it.

    Raises:
        NotJson: there are more than `MAX_VALUES`.
    """
    if len(data) <= FEW_BYTES:
        return
    text = data.encode(errors="replace") if isinstance(data, str) else data
    unescaped = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    if unescaped.count(b'"') > 4 * MAX_VALUES:  # two for each key, and two for its value
        raise NotJson(_TOO_MANY)
    bare = b"".join(unescaped.split(b'"')[::2])
    slow = bare.count(b"e-") + bare.count(b"E-")
    count = bare.count(b",") + bare.count(b"[") + bare.count(b"{") + SLOW_NUMBER * slow
    if count > MAX_VALUES or len(bare) > MAX_BARE_BYTES:
        raise NotJson(_TOO_MANY)


encode_json = msgspec.json.Encoder().encode
"""Encode a value as compact JSON. Bytes that are JSON already ride along as `msgspec.Raw`.

The encoder itself, as a function around it would be called often.
"""


def copy_json(value: Json) -> Json:
    """Return a copy of a value that somebody's code gave to be kept, as JSON has it.

    Raises:
        NotJson: nested deeper than `MAX_GIVEN_DEPTH`.
        TypeError: there is no JSON for it.
    """
    try:
        data = encode_json(value)
    except RecursionError:
        raise NotJson(f"nested deeper than {MAX_GIVEN_DEPTH} levels") from None
    return decode_json(data, MAX_GIVEN_DEPTH)


def check_depth(value: Json, levels: int = MAX_GIVEN_DEPTH) -> None:
    """Refuse a value that nests too deep, however deep that is.

    Raises:
        NotJson: nested deeper than so many levels.
    """
    level = [value]
    for _ in range(levels):
        level = [item for holder in level for item in _holders(holder)]
        if not level:
            return
    raise NotJson(f"nested deeper than {levels} levels")


def _holders(value: Json) -> list[Json]:
    items = value.values() if type(value) is dict else value if type(value) is list else ()
    return [item for item in items if type(item) in (dict, list)]
