"""Checks: annotations compiled to functions that check a decoded value, and say where it does not fit.

A check costs no more than its type needs: paths are built only when something is wrong. Integers that were
written as floats are replaced in the list or object that holds them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

from agenthost.wire.annotations import (
    ByKey,
    Constants,
    Tag,
    is_record,
    is_union,
    python_types,
    record_fields,
    tag_values,
    union_members,
)
from agenthost.wire.error_messages import TYPE_NAMES, Mismatch, describe, quote
from agenthost.wire.integers import accepts_integer, as_integer, normalize

Check: TypeAlias = Callable[[Any], None]


@dataclass(frozen=True)
class ReadMode:
    """How strictly a value is read.

    Attributes:
        unknown: unknown variants and enumeration values are accepted, and kept as they are.
        null_is_absent: a null under an optional key is removed.
        partial: required keys may be missing.
    """

    unknown: bool = True
    null_is_absent: bool = True
    partial: bool = False


TOLERANT = ReadMode()
"""For what a peer reports: newer peers, and peers that write null for a missing key, are normal."""

STRICT = ReadMode(unknown=False, null_is_absent=False)
"""For what a peer asks for: we refuse what we do not understand."""

PARTIAL = ReadMode(partial=True)
"""For values of any origin: only the keys that are present have to fit."""


@cache
def compile_check(kind: Any, mode: ReadMode) -> Check:
    """Return the function that checks a value against this annotation, and raises `Mismatch`."""
    origin = get_origin(kind)
    if origin is Annotated:
        return _compile_marked(kind, mode)
    if is_union(kind):
        return _compile_union(get_args(kind), mode)
    if origin is Literal:
        # One value is a constant of the protocol; several are an enumeration, which newer peers extend.
        return _compile_literal(get_args(kind), mode, is_open=len(get_args(kind)) > 1)
    if origin is list:
        return _compile_list(get_args(kind)[0], mode)
    if origin is dict:
        return _compile_dict(get_args(kind)[1], mode)
    if is_record(kind):
        return _compile_record(kind, mode)
    return _PLAIN[kind]


def _compile_marked(kind: Any, mode: ReadMode) -> Check:
    inner, mark = get_args(kind)
    if isinstance(mark, Constants):
        return _compile_literal(get_args(inner), mode, is_open=mark.is_open)
    if isinstance(mark, Tag):
        return _compile_tagged(mark, get_args(inner) if is_union(inner) else (inner,), mode)
    return _compile_by_key(mark, mode)


def _compile_record(kind: Any, mode: ReadMode, tag: str | None = None) -> Check:
    """Compile an object. `tag` is a key that the caller has checked already."""
    name = f"an object ({kind.__name__})"
    fields = {key: field for key, field in record_fields(kind).items() if key != tag}
    needed = {key: hint for key, (hint, required) in fields.items() if required and not mode.partial}
    # Most required keys are strings: checked inline, they cost no call.
    strings = tuple(key for key, hint in needed.items() if hint is str)
    others = tuple(
        (key, _later(hint, mode), accepts_integer(hint)) for key, hint in needed.items() if hint is not str
    )
    count = len(needed) + (tag is not None)
    check_optional = _compile_optional({k: hint for k, (hint, _) in fields.items() if k not in needed}, mode)

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise Mismatch(name, describe(value))
        for key in strings:
            if type(value.get(key)) is not str:
                raise _missing_or_wrong(value, key, _string)
        for key, fits, is_integer in others:
            if key not in value:
                raise _missing_or_wrong(value, key, fits)
            try:
                fits(value[key])
            except Mismatch as mismatch:
                raise mismatch.under(key) from None
            if is_integer:
                value[key] = normalize(value[key])
        # All required keys are there, so a value of this size has no others.
        if len(value) > count:
            check_optional(value)

    return check


def _compile_optional(fields: dict[str, Any], mode: ReadMode) -> Check:
    """Compile the optional keys of an object; a null that means "absent" is removed."""
    checks = tuple(
        (key, _later(hint, mode), mode.null_is_absent and not _accepts_null(hint), accepts_integer(hint))
        for key, hint in fields.items()
    )

    def check(value: dict[str, Any]) -> None:
        for key, fits, drop_null, is_integer in checks:
            if key not in value:
                continue
            if value[key] is None and drop_null:
                del value[key]
                continue
            try:
                fits(value[key])
            except Mismatch as mismatch:
                raise mismatch.under(key) from None
            if is_integer:
                value[key] = normalize(value[key])

    return check


def _later(kind: Any, mode: ReadMode) -> Check:
    """Compile at first use where a record may contain itself, and immediately elsewhere."""
    if not _contains_record(kind):
        return compile_check(kind, mode)
    resolved: Check | None = None

    def check(value: Any) -> None:
        nonlocal resolved
        if resolved is None:
            resolved = compile_check(kind, mode)
        resolved(value)

    return check


def _contains_record(kind: Any) -> bool:
    return is_record(kind) or any(_contains_record(part) for part in get_args(kind))


def _accepts_null(kind: Any) -> bool:
    return kind is Any or NoneType in union_members(kind)


def _missing_or_wrong(value: dict[str, Any], key: str, fits: Check) -> Mismatch:
    """Return what is wrong with the required `key` of an object."""
    mismatch = Mismatch("a value", "nothing")
    try:
        fits(value.get(key))
    except Mismatch as found:
        mismatch.expected = found.expected
        mismatch.found = found.found if key in value else "nothing"
    return mismatch.under(key)


def _compile_list(item: Any, mode: ReadMode) -> Check:
    fits, is_integer = _later(item, mode), accepts_integer(item)

    def check(value: Any) -> None:
        if type(value) is not list:
            raise Mismatch("a list", describe(value))
        for index, entry in enumerate(value):
            try:
                fits(entry)
            except Mismatch as mismatch:
                raise mismatch.under(index) from None
        if is_integer:
            value[:] = map(normalize, value)

    return check


def _compile_dict(item: Any, mode: ReadMode) -> Check:
    fits, is_integer = _later(item, mode), accepts_integer(item)

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise Mismatch("an object", describe(value))
        for key, entry in value.items():
            try:
                fits(entry)
            except Mismatch as mismatch:
                raise mismatch.under(key) from None
        if is_integer:
            value.update((key, normalize(entry)) for key, entry in value.items())

    return check


def _compile_literal(allowed: tuple[Any, ...], mode: ReadMode, *, is_open: bool) -> Check:
    names = " or ".join(quote(value) for value in allowed)
    is_open = is_open and mode.unknown
    kinds = {type(value) for value in allowed}

    def check(value: Any) -> None:
        if type(value) is float and int in kinds and value.is_integer():
            value = int(value)
        if type(value) not in kinds or not (is_open or value in allowed):
            raise Mismatch(names, quote(value))

    return check


def _compile_union(members: tuple[Any, ...], mode: ReadMode) -> Check:
    """Compile a union whose members differ in their JSON type, such as `str | list[Block]`."""
    checks = {python: _later(member, mode) for member in members for python in python_types(member)}
    if len(checks) != sum(len(python_types(member)) for member in members):
        raise TypeError(f"the members of {members} share a JSON type: mark the union with Tag")
    names = " or ".join(TYPE_NAMES[python_types(member)[0]] for member in members)
    if int in checks:
        checks.setdefault(float, checks[int])  # an integer may be written as 80.0

    def check(value: Any) -> None:
        fits = checks.get(type(value))
        if fits is None:
            raise Mismatch(names, describe(value))
        fits(value)

    return check


def _compile_tagged(mark: Tag, members: tuple[Any, ...], mode: ReadMode) -> Check:
    key = mark.key
    checks = {
        constant: _member(member, key, mode) for member in members for constant in tag_values(member, key)
    }
    names = " or ".join(quote(constant) for constant in checks)
    tag_type = type(next(iter(checks)))
    # Only a string can name an unknown variant; `approved`, for one, is either true or false.
    is_open = mark.is_open and mode.unknown and tag_type is str

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise Mismatch("an object", describe(value))
        tag = value.get(key)
        # `True == 1` in Python, so the type is compared too.
        fits = checks.get(tag) if type(tag) is tag_type else None
        if fits is not None:
            fits(value)
        elif not (is_open and type(tag) is str) and not (mode.partial and tag is None):
            expected = "a string" if is_open else names
            raise Mismatch(expected, quote(tag) if key in value else "nothing").under(key)

    return check


def _member(member: Any, key: str, mode: ReadMode) -> Check:
    if is_record(member):
        return _compile_record(member, mode, tag=key)
    return compile_check(member, mode)


def _compile_by_key(mark: ByKey, mode: ReadMode) -> Check:
    members = tuple((key, _later(member, mode)) for key, member in mark.members)
    names = "an object with " + " or ".join(quote(key) for key, _ in mark.members)

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise Mismatch("an object", describe(value))
        fits = next((fits for key, fits in members if not key or key in value), None)
        if fits is not None:
            fits(value)
        elif not mode.partial:
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


def _integer(value: Any) -> None:
    if as_integer(value) is None:
        raise Mismatch("a whole number of at most 64 bits", describe(value))


_string = _plain(str, "a string")

_PLAIN: dict[Any, Check] = {
    Any: _anything,
    str: _string,
    bool: _plain(bool, "true or false"),
    int: _integer,
    float: _number,
    NoneType: _plain(NoneType, "null"),
}
