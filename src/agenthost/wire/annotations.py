"""Annotations: how wire types are written down, and how to take them apart again.

A wire object is a `TypedDict`. A union says by a mark how its members are told apart: `Tag`, `ByKey`, or
none where their JSON types differ. Neighbours: `checks` and `schema`, which read them.
"""

from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, cast, get_args, get_origin, get_type_hints
from typing import is_typeddict as is_record

__all__ = ["ByKey", "Tag", "constants_of", "fields_of", "is_record", "is_union", "members_of", "python_types"]


@dataclass(frozen=True)
class Tag:
    """Marks a union whose members differ in the constant under `key`."""

    key: str


@dataclass(frozen=True)
class ByKey:
    """Marks a union told apart by which key is there: the first that is, in order; `""` fits always."""

    members: tuple[tuple[str, Any], ...]


def fields_of(record: Any) -> dict[str, tuple[Any, bool]]:
    """Give the fields of a `TypedDict`: name → (annotation, is it required)."""
    fields = {}
    for key, hint in get_type_hints(record, include_extras=True).items():
        optional = get_origin(hint) is NotRequired
        fields[key] = (get_args(hint)[0] if optional else hint, not optional)
    return fields


def is_union(kind: Any) -> bool:
    """Tell whether an annotation is a union without a mark."""
    return get_origin(kind) in (Union, UnionType)


def members_of(kind: Any) -> tuple[Any, ...]:
    """Give the members of a union, marked or not, those of unions inside it too; else `kind` alone."""
    if get_origin(kind) is Annotated:
        return members_of(get_args(kind)[0])
    if is_union(kind):
        return tuple(part for member in get_args(kind) for part in members_of(member))
    return (kind,)


def constants_of(member: Any, key: str) -> tuple[Any, ...]:
    """Give the constants under `key` by which a member of a tagged union, perhaps a union too, is known."""
    return tuple(constant for part in members_of(member) for constant in get_args(fields_of(part)[key][0]))


def python_types(member: Any) -> tuple[type, ...]:
    """Give the types that a decoded value of this annotation can have."""
    if is_record(member):
        return (dict,)
    if member is None or member is NoneType:
        return (NoneType,)
    origin = get_origin(member) or member
    if origin is Annotated or is_union(member):
        return tuple(python for part in members_of(member) for python in python_types(part))
    if origin is Literal:
        return tuple({type(value) for value in get_args(member)})
    return (int, float) if origin is float else (cast("type", origin),)
