"""Annotations: how wire types are written, and how to inspect them.

A wire object is a `TypedDict`. A mark on a union says how to distinguish its members: `Tag`, `ByKey`, or none
where their JSON types differ. A mark on constants says whether newer peers may have others: `OPEN`, `CLOSED`.
`checks` and `schema` read these annotations.
"""

from dataclasses import dataclass
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NotRequired,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)
from typing import is_typeddict as is_record

__all__ = [
    "CLOSED",
    "OPEN",
    "ByKey",
    "Constants",
    "Tag",
    "constants",
    "is_record",
    "is_union",
    "python_types",
    "record_fields",
    "tag_values",
    "union_members",
]


@dataclass(frozen=True)
class Tag:
    """Marks a union whose members have different constants under `key`.

    A newer peer may have other members, unless `is_open` is false.
    """

    key: str
    is_open: bool = True


@dataclass(frozen=True)
class ByKey:
    """Marks a union whose member is chosen by the first of these keys that is present; `""` always fits."""

    members: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Constants:
    """Marks constants. Without a mark, several of them are open, and one alone is closed."""

    is_open: bool


OPEN: Final = Constants(is_open=True)
"""A newer peer may have others."""

CLOSED: Final = Constants(is_open=False)
"""There are no others."""


def record_fields(record: Any) -> dict[str, tuple[Any, bool]]:
    """Return the fields of a `TypedDict`: name → (annotation, is required)."""
    fields = {}
    for key, hint in get_type_hints(record, include_extras=True).items():
        optional = get_origin(hint) is NotRequired
        fields[key] = (get_args(hint)[0] if optional else hint, not optional)
    return fields


def is_union(kind: Any) -> bool:
    """Return whether an annotation is a union without a mark."""
    return get_origin(kind) in (Union, UnionType)


def union_members(kind: Any) -> tuple[Any, ...]:
    """Return the members of a union, marked or not, nested unions flattened; otherwise `kind` alone."""
    if get_origin(kind) is Annotated:
        return union_members(get_args(kind)[0])
    if is_union(kind):
        return tuple(part for member in get_args(kind) for part in union_members(member))
    return (kind,)


def constants(kind: Any) -> tuple[Any, ...]:
    """Return the constants of a literal, marked or not."""
    return get_args(get_args(kind)[0] if get_origin(kind) is Annotated else kind)


def tag_values(member: Any, key: str) -> tuple[Any, ...]:
    """Return the constants under `key` that select a member of a tagged union. It may be a union itself."""
    return tuple(
        constant for part in union_members(member) for constant in get_args(record_fields(part)[key][0])
    )


def python_types(member: Any) -> tuple[type, ...]:
    """Return the types that a decoded value of this annotation can have."""
    if is_record(member):
        return (dict,)
    if member is None or member is NoneType:
        return (NoneType,)
    origin = get_origin(member) or member
    if origin is Annotated or is_union(member):
        return tuple(python for part in union_members(member) for python in python_types(part))
    if origin is Literal:
        return tuple({type(value) for value in get_args(member)})
    return (int, float) if origin is float else (cast("type", origin),)
