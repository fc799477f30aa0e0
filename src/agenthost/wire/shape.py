"""Shapes: decoders for wire types. Every value from outside is checked here, once.

A wire object is a plain dict, typed by a `TypedDict`. So unknown keys stay in it, an absent key stays absent,
and it can be encoded as it is. See also `json` (bytes to values), `checks` (the functions behind a shape) and
`schema` (JSON Schema).
"""

from functools import cached_property
from typing import Any, Generic, TypeVar

from agenthost.errors import InvalidValue
from agenthost.wire.checks import STRICT, TOLERANT, Check, ReadMode, compile_check
from agenthost.wire.error_messages import Mismatch
from agenthost.wire.integers import accepts_integer, normalize
from agenthost.wire.json import MAX_GIVEN_DEPTH, Json, decode_json

__all__ = ["STRICT", "TOLERANT", "InvalidValue", "ReadMode", "Shape"]

T = TypeVar("T")


class Shape(Generic[T]):
    """The decoder of one wire type. `kind` is a `TypedDict`, a union, or any annotation built from them."""

    def __init__(self, kind: Any, mode: ReadMode = TOLERANT) -> None:
        self.kind = kind
        self.mode = mode
        self._is_whole = accepts_integer(kind)

    def decode(self, data: bytes | str) -> T:
        """Decode and check.

        Raises:
            NotJson: not a JSON value, or nested too deep to be stored.
            InvalidValue: not of this shape.
        """
        return self.take(decode_json(data, MAX_GIVEN_DEPTH))

    def take(self, value: Json, at: str = "$") -> T:
        """Check a freshly decoded value, and change it in place: nulls that mean "absent" are removed.

        An integer that was written as a float becomes an `int`.

        Raises:
            InvalidValue: not of this shape; its path starts with `at`.
        """
        try:
            self.check(value)
        except Mismatch as mismatch:
            raise mismatch.at(at) from None
        return normalize(value) if self._is_whole else value  # type: ignore[no-any-return] # just checked

    @cached_property
    def check(self) -> Check:
        """The check itself, which raises `Mismatch`."""
        return compile_check(self.kind, self.mode)
