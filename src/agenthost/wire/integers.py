"""Integers: JSON has one kind of number, so `80.0` and `8e1` are the integer 80."""

from typing import Any, Literal, get_args, get_origin

from agenthost.wire.annotations import union_members

__all__ = ["accepts_integer", "as_integer", "normalize"]

_MIN, _MAX = -(2**63), 2**63 - 1


def as_integer(value: Any) -> int | None:
    """Return an integer of at most 64 bits as an `int`, however it was written; `None` for anything else."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and _MIN <= value <= _MAX else None


def accepts_integer(kind: Any) -> bool:
    """Return whether this annotation accepts integers, and no other numbers."""
    members = union_members(kind)
    return float not in members and any(member is int or _is_int_literal(member) for member in members)


def _is_int_literal(member: Any) -> bool:
    return get_origin(member) is Literal and any(type(value) is int for value in get_args(member))


def normalize(value: Any) -> Any:
    """Return a checked value with an integer as an `int`, as its annotation says."""
    return int(value) if type(value) is float else value
