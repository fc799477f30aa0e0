"""Redaction: masks secrets in what clients send, found by the names that agents declare and by their values.

Knows no protocol: values are checked wherever they are.
"""

from collections.abc import Collection

from agenthost.logs import MASK, masked
from agenthost.wire.json import Json

__all__ = ["SECRET_KEYS", "holds_secret", "redact"]

SECRET_KEYS = frozenset({"token", "authorization", "password", "secret", "tkn"})
"""Names whose values are always secret, if they are strings."""


def redact(value: Json, names: Collection[str] = ()) -> Json:
    """Return a value with its secrets masked: entries with these names, and known secrets in any text.

    `names` are in lower case.
    """
    if type(value) is dict:
        return {key: _masked_entry(key.lower(), item, names) for key, item in value.items()}
    if type(value) is list:
        return [redact(item, names) for item in value]
    return masked(value) if type(value) is str else value


def _masked_entry(name: str, value: Json, names: Collection[str]) -> Json:
    # A declared secret is masked whatever its type: a client may have sent a list or an object.
    is_secret = name in names or (name in SECRET_KEYS and type(value) is str)
    return MASK if is_secret and value not in (None, "", True, False) else redact(value, names)


def holds_secret(value: Json, names: Collection[str] = ()) -> bool:
    """Return whether a value contains a secret."""
    return bool(redact(value, names) != value)
