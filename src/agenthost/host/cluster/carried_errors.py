"""Errors of the host that travel from one node to another, and are the same errors there."""

from typing import Any

import msgspec

from agenthost import errors
from agenthost.errors import HostError, PeerFailed
from agenthost.wire.json import JsonObject

__all__ = ["pack_error", "unpack_error"]

_CLASSES: dict[str, type[HostError]] = {
    name: one for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, HostError)
}


def pack_error(error: Exception) -> JsonObject:
    """Return an error as a JSON object. Of an error that is not one of ours, nothing is told."""
    kind = next((one.__name__ for one in type(error).__mro__ if _CLASSES.get(one.__name__) is one), None)
    if kind is None:
        return {"kind": PeerFailed.__name__, "message": str(PeerFailed()), "fields": {}}
    return {"kind": kind, "message": str(error), "fields": msgspec.to_builtins(vars(error))}


def unpack_error(packed: JsonObject) -> HostError:
    """Return the error, with the same class, message and attributes. Of a newer version, only the message."""
    kind = _CLASSES.get(packed["kind"], PeerFailed)
    error: Any = kind.__new__(kind, packed["message"])
    error.args = (packed["message"],)
    vars(error).update(packed["fields"])
    found: HostError = error
    return found
