"""Whole numbers: JSON has one kind of number, so `80.0` and `8e1` are the whole number 80."""

from typing import Any, Literal, get_args, get_origin

from agenthost.wire.annotations import members_of

__all__ = ["normalize", "takes_whole", "whole_of"]

_LOWEST, _ABOVE = -(2**63), 2**63


def whole_of(value: Any) -> int | None:
    """Return a whole number of at most 64 bits as an `int`, however it was written; `None` if it is none."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and _LOWEST <= value < _ABOVE else None


def takes_whole(kind: Any) -> bool:
    """Return whether a value of this annotation may be a whole number, and no other number."""
    members = members_of(kind)
    return float not in members and any(member is int or _is_constant(member) for member in members)


def _is_constant(member: Any) -> bool:
    return get_origin(member) is Literal and any(type(value) is int for value in get_args(member))


def normalize(value: Any) -> Any:
    """Return a checked value as its annotation has it: a whole number as an `int`."""
    return int(value) if type(value) is float else value
