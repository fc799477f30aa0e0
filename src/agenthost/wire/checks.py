"""Checks: annotations compiled to functions that say whether a decoded value fits, and where it does not.

A check costs what its type needs and no more: paths are put together only when something is wrong.
Whoever holds a value puts a whole number that was written as a float back as an `int`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

from agenthost.wire.annotations import (
    ByKey,
    Tag,
    constants_of,
    fields_of,
    is_record,
    is_union,
    members_of,
    python_types,
)
from agenthost.wire.mismatch import NAMES, Mismatch, describe, quote
from agenthost.wire.wholes import normalize, takes_whole, whole_of

Check: TypeAlias = Callable[[Any], None]


@dataclass(frozen=True)
class Reading:
    """How a value is read.

    Attributes:
        unknown: variants and enumeration values that we do not know are kept as they are.
        null_is_absent: a null under an optional key is taken out.
        partial: required keys may be missing.
    """

    unknown: bool = True
    null_is_absent: bool = True
    partial: bool = False


TOLERANT = Reading()
"""For what a peer reports: newer peers, and peers that write null for absent, are normal."""

STRICT = Reading(unknown=False, null_is_absent=False)
"""For what a peer asks for: what we would not understand we refuse."""

PARTIAL = Reading(partial=True)
"""For looking at values of any origin: only what is there has to fit."""


@cache
def compile_check(kind: Any, reading: Reading) -> Check:
    """Make the function that checks a value of this annotation, and raises `Mismatch`."""
    origin = get_origin(kind)
    if origin is Annotated:
        return _compile_marked(kind, reading)
    if is_union(kind):
        return _compile_union(get_args(kind), reading)
    if origin is Literal:
        return _compile_literal(get_args(kind), reading)
    if origin is list:
        return _compile_list(get_args(kind)[0], reading)
    if origin is dict:
        return _compile_dict(get_args(kind)[1], reading)
    if is_record(kind):
        return _compile_record(kind, reading)
    return _PLAIN[kind]


def _compile_marked(kind: Any, reading: Reading) -> Check:
    union, mark = get_args(kind)
    if isinstance(mark, Tag):
        return _compile_tagged(mark.key, get_args(union), reading)
    return _compile_by_key(mark, reading)


def _compile_record(kind: Any, reading: Reading, tag: str | None = None) -> Check:
    """Compile an object. `tag` is a key that the caller has looked at already."""
    name = f"an object ({kind.__name__})"
    fields = {key: field for key, field in fields_of(kind).items() if key != tag}
    needed = {key: hint for key, (hint, required) in fields.items() if required and not reading.partial}
    strings = tuple(key for key, hint in needed.items() if hint is str)
    others = tuple(
        (key, _later(hint, reading), takes_whole(hint)) for key, hint in needed.items() if hint is not str
    )
    count = len(needed) + (tag is not None)
    check_optional = _compile_optional(
        {k: hint for k, (hint, _) in fields.items() if k not in needed}, reading
    )

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise Mismatch(name, describe(value))
        for key in strings:
            if type(value.get(key)) is not str:
                raise _misfit(value, key, _string)
        for key, fits, is_whole in others:
            if key not in value:
                raise _misfit(value, key, fits)
            try:
                fits(value[key])
            except Mismatch as mismatch:
                raise mismatch.under(key) from None
            if is_whole:
                value[key] = normalize(value[key])
        if len(value) > count:
            check_optional(value)

    return check


def _compile_optional(fields: dict[str, Any], reading: Reading) -> Check:
    """Compile the keys of an object that may be missing; a null that means as much is taken out."""
    checks = tuple(
        (key, _later(hint, reading), reading.null_is_absent and not _takes_null(hint), takes_whole(hint))
        for key, hint in fields.items()
    )

    def check(value: dict[str, Any]) -> None:
        for key, fits, drop_null, is_whole in checks:
            if key not in value:
                continue
            if value[key] is None and drop_null:
                del value[key]
                continue
            try:
                fits(value[key])
            except Mismatch as mismatch:
                raise mismatch.under(key) from None
            if is_whole:
                value[key] = normalize(value[key])

    return check


def _later(kind: Any, reading: Reading) -> Check:
    """Compile at the first use where a record may hold itself, at once elsewhere."""
    if not _holds_record(kind):
        return compile_check(kind, reading)
    resolved: Check | None = None

    def check(value: Any) -> None:
        nonlocal resolved
        if resolved is None:
            resolved = compile_check(kind, reading)
        resolved(value)

    return check


def _holds_record(kind: Any) -> bool:
    return is_record(kind) or any(_holds_record(part) for part in get_args(kind))


def _takes_null(kind: Any) -> bool:
    return kind is Any or NoneType in members_of(kind)


def _misfit(value: dict[str, Any], key: str, fits: Check) -> Mismatch:
    """Say what is wrong with the required `key` of an object."""
    mismatch = Mismatch("a value", "nothing")
    try:
        fits(value.get(key))
    except Mismatch as found:
        mismatch.expected = found.expected
        mismatch.found = found.found if key in value else "nothing"
    return mismatch.under(key)


def _compile_list(item: Any, reading: Reading) -> Check:
    fits, is_whole = _later(item, reading), takes_whole(item)

    def check(value: Any) -> None:
        if type(value) is not list:
            raise Mismatch("a list", describe(value))
        for index, entry in enumerate(value):
            try:
                fits(entry)
            except Mismatch as mismatch:
                raise mismatch.under(index) from None
        if is_whole:
            value[:] = map(normalize, value)

    return check


def _compile_dict(item: Any, reading: Reading) -> Check:
    fits, is_whole = _later(item, reading), takes_whole(item)

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise Mismatch("an object", describe(value))
        for key, entry in value.items():
            try:
                fits(entry)
            except Mismatch as mismatch:
                raise mismatch.under(key) from None
        if is_whole:
            value.update((key, normalize(entry)) for key, entry in value.items())

    return check


def _compile_literal(allowed: tuple[Any, ...], reading: Reading) -> Check:
    names = " or ".join(quote(value) for value in allowed)
    # One allowed value is a constant of the protocol; several are an enumeration, which may have grown.
    is_open = reading.unknown and len(allowed) > 1
    kinds = {type(value) for value in allowed}

    def check(value: Any) -> None:
        if type(value) is float and int in kinds and value.is_integer():
            value = int(value)
        if type(value) not in kinds or not (is_open or value in allowed):
            raise Mismatch(names, quote(value))

    return check


def _compile_union(members: tuple[Any, ...], reading: Reading) -> Check:
    """Compile a union whose members differ in their JSON type, such as `str | list[Block]`."""
    checks = {python: _later(member, reading) for member in members for python in python_types(member)}
    if len(checks) != sum(len(python_types(member)) for member in members):
        raise TypeError(f"the members of {members} have a JSON type in common: mark the union with Tag")
    names = " or ".join(NAMES[python_types(member)[0]] for member in members)
    if int in checks:
        checks.setdefault(float, checks[int])

    def check(value: Any) -> None:
        fits = checks.get(type(value))
        if fits is None:
            raise Mismatch(names, describe(value))
        fits(value)

    return check


def _compile_tagged(key: str, members: tuple[Any, ...], reading: Reading) -> Check:
    checks = {
        constant: _member(member, key, reading)
        for member in members
        for constant in constants_of(member, key)
    }
    names = " or ".join(quote(constant) for constant in checks)
    tag_type = type(next(iter(checks)))
    # Only text can name a variant that we do not know; `approved` has just true and false.
    is_open = reading.unknown and tag_type is str

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise Mismatch("an object", describe(value))
        tag = value.get(key)
        # `True == 1`, so the type is compared as well.
        fits = checks.get(tag) if type(tag) is tag_type else None
        if fits is not None:
            fits(value)
        elif not (is_open and type(tag) is str) and not (reading.partial and tag is None):
            expected = "a string" if is_open else names
            raise Mismatch(expected, quote(tag) if key in value else "nothing").under(key)

    return check


def _member(member: Any, key: str, reading: Reading) -> Check:
    if is_record(member):
        return _compile_record(member, reading, tag=key)
    return compile_check(member, reading)


def _compile_by_key(mark: ByKey, reading: Reading) -> Check:
    members = tuple((key, _later(member, reading)) for key, member in mark.members)
    names = "an object with " + " or ".join(quote(key) for key, _ in mark.members)

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise Mismatch("an object", describe(value))
        fits = next((fits for key, fits in members if not key or key in value), None)
        if fits is not None:
            fits(value)
        elif not reading.partial:
            raise Mismatch(names, "none of them")

    return check


def _plain(python: type, name: str) -> Check:
    def check(value: Any) -> None:
        if type(value) is not python:
            raise Mismatch(name, describe(value))

    return check


def _anything(_value: Any) -> None:
    return


def _number(value: Any) -> None:
    if type(value) is not float and type(value) is not int:
        raise Mismatch("a number", describe(value))


def _whole(value: Any) -> None:
    if whole_of(value) is None:
        raise Mismatch("a whole number of at most 64 bits", describe(value))


_string = _plain(str, "a string")

_PLAIN: dict[Any, Check] = {
    Any: _anything,
    str: _string,
    bool: _plain(bool, "true or false"),
    int: _whole,
    float: _number,
    NoneType: _plain(NoneType, "null"),
}
