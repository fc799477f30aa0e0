"""Scopes: what an approval for the whole session covers."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

from agenthost.wire.json import Json, encode_json

__all__ = ["FindScope", "Scope"]


@dataclass(frozen=True, slots=True)
class Scope:
    """What an approval for the whole session covers, if not all calls of a tool.

    Attributes:
        key: the same for all calls that it covers.
        label: what it covers, as it follows "Allow": `exactly this`.
        is_command: whether it is a command, which may do anything. All commands can be approved at once only
            if they run in a sandbox.
    """

    key: str
    label: str
    is_command: bool = False

    @classmethod
    def exactly(cls, value: Json, label: str = "exactly this", *, is_command: bool = False) -> "Scope":
        """Make a scope that covers this input, or this part of it, and no other."""
        return cls(f"={sha256(encode_json(value)).hexdigest()[:32]}", label, is_command)


FindScope: TypeAlias = Callable[..., Scope | None]
"""Takes the tool's arguments without the context. It must be fast: it is called on the event loop."""
