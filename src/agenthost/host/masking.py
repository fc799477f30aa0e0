"""Masking: secrets in what clients send, found by the names that agents declare and by their values.

Knows no protocol: a value is looked at wherever it is.
"""

from collections.abc import Collection

from agenthost.logs import MASK, masked
from agenthost.wire.json import Json

__all__ = ["SECRET_KEYS", "holds_secret", "without_secrets"]

SECRET_KEYS = frozenset({"token", "authorization", "password", "secret", "tkn"})
"""What is secret wherever it stands, if it is a text."""


def without_secrets(value: Json, names: Collection[str] = ()) -> Json:
    """Return a value with its secrets masked: what has one of these names, and texts that are known ones.

    `names` are in lower case.
    """
    if type(value) is dict:
        return {key: _masked_entry(key.lower(), item, names) for key, item in value.items()}
    if type(value) is list:
        return [without_secrets(item, names) for item in value]
    return masked(value) if type(value) is str else value


def _masked_entry(name: str, value: Json, names: Collection[str]) -> Json:
    # What is declared is masked whatever it is: a client may have put it into a list, or an object.
    is_secret = name in names or (name in SECRET_KEYS and type(value) is str)
    return MASK if is_secret and value not in (None, "", True, False) else without_secrets(value, names)


def holds_secret(value: Json, names: Collection[str] = ()) -> bool:
    """Tell whether there is a secret in a value."""
    return bool(without_secrets(value, names) != value)
