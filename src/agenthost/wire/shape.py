"""Shapes: the door through which values enter, checked once.

A wire object is a plain dict, typed by a `TypedDict`. So keys that we do not know stay in it, an absent
key stays absent, and it encodes as it is.
Neighbours: `json` (bytes to values), `checks` (the functions behind a shape), `schema` (JSON Schema).
"""

from functools import cached_property
from typing import Any, Generic, TypeVar

from agenthost.errors import InvalidValue
from agenthost.wire.checks import STRICT, TOLERANT, Check, Reading, compile_check
from agenthost.wire.json import MAX_GIVEN_DEPTH, Json, decode_json
from agenthost.wire.mismatch import Mismatch
from agenthost.wire.wholes import normalize, takes_whole

__all__ = ["STRICT", "TOLERANT", "InvalidValue", "Reading", "Shape"]

T = TypeVar("T")


class Shape(Generic[T]):
    """The decoder of one wire type. `kind` is a `TypedDict`, a union, or any annotation made of them."""

    def __init__(self, kind: Any, reading: Reading = TOLERANT) -> None:
        self.kind = kind
        self.reading = reading
        self._is_whole = takes_whole(kind)

    def decode(self, data: bytes | str) -> T:
        """Decode and check.

        Raises:
            NotJson: not a JSON value, or nested too deep to be kept.
            InvalidValue: not of this shape.
        """
        return self.take(decode_json(data, MAX_GIVEN_DEPTH))

    def take(self, value: Json, at: str = "$") -> T:
        """Check a freshly decoded value, which is ours from now on: nulls that mean "absent" leave it.

        A whole number that was written as a float becomes an `int`.

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
        """The bare check, which raises `Mismatch`."""
        return compile_check(self.kind, self.reading)
