"""Random values of any wire annotation, for property tests. Knows annotations, no protocol.

Records may hold themselves: below `_DEPTH` records inside each other only what must be there is drawn.
"""

from functools import cache
from math import inf
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agenthost.wire.annotations import ByKey, is_record, is_union, record_fields
from agenthost.wire.json import Json, JsonObject

__all__ = ["json_objects", "json_values", "share", "values_of"]

_DEPTH = 3
_texts = st.text(max_size=6)
_wholes = st.integers(min_value=-(2**63), max_value=2**63 - 1)
_floats = st.floats(allow_nan=False, allow_infinity=False)
_leaves = st.none() | st.booleans() | _wholes | _floats | _texts

json_values: SearchStrategy[Json] = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_texts, inner, max_size=2),
    max_leaves=4,
)
"""Any JSON value, small."""

json_objects: SearchStrategy[JsonObject] = st.dictionaries(_texts, json_values, max_size=2)
"""Any JSON object, small."""

# No protocol here has a key that begins so; one that it knows would have to fit its type.
_unknown = st.dictionaries(_texts.map("x-{}".format), json_values, max_size=2)


def share(examples: int) -> int:
    """Return how many examples to draw where a full run, of 100, draws this many; a fast run draws fewer."""
    return max(2, examples * settings().max_examples // 100)


class _Options(NamedTuple):
    unknown_keys: bool
    partial: bool


def values_of(kind: Any, *, unknown_keys: bool = False, partial: bool = False) -> SearchStrategy[Any]:
    """Draw values of an annotation, as they look when decoded.

    `unknown_keys` adds keys that the type does not name; `partial` leaves required ones out at times.
    """
    return _values(kind, _DEPTH, _Options(unknown_keys, partial))


@cache
def _values(kind: Any, depth: int, options: _Options) -> SearchStrategy[Any]:
    origin = get_origin(kind)
    if origin is Annotated:
        union, mark = get_args(kind)
        return _by_key(mark, depth, options) if isinstance(mark, ByKey) else _one_of(union, depth, options)
    if is_union(kind):
        return _one_of(kind, depth, options)
    if origin is Literal:
        return st.sampled_from(get_args(kind))
    if origin is list:
        return st.lists(_values(get_args(kind)[0], depth, options), max_size=_size(kind, depth))
    if origin is dict:
        return st.dictionaries(
            _texts, _values(get_args(kind)[1], depth, options), max_size=_size(kind, depth)
        )
    if is_record(kind):
        return _record(kind, depth - 1, options)
    return _PLAIN[kind]


def _size(kind: Any, depth: int) -> int:
    """Say how long a collection may be: empty where nothing more should be nested."""
    return 3 if depth > 0 or not _height(kind) else 0


def _record(
    kind: Any, depth: int, options: _Options, kept: frozenset[str] = frozenset()
) -> SearchStrategy[JsonObject]:
    """Draw an object; those of its keys in `kept` are always there."""
    # Deferred, so that a type which holds itself is not built without end.
    return st.deferred(lambda: _record_now(kind, depth, options, kept))


@cache
def _record_now(kind: Any, depth: int, options: _Options, kept: frozenset[str]) -> SearchStrategy[JsonObject]:
    required: dict[str, SearchStrategy[Any]] = {}
    optional: dict[str, SearchStrategy[Any]] = {}
    for key, (hint, needed) in record_fields(kind).items():
        if key in kept or (needed and not options.partial):
            required[key] = _values(hint, depth, options)
        elif depth > 0 or not _height(hint):
            optional[key] = _values(hint, depth, options)
    known = st.fixed_dictionaries(required, optional=optional)
    return st.builds(lambda a, b: a | b, known, _unknown) if options.unknown_keys else known


def _one_of(union: Any, depth: int, options: _Options) -> SearchStrategy[Any]:
    members = get_args(union) if is_union(union) else (union,)
    if depth <= 0:
        lowest = min(_height(member) for member in members)
        members = tuple(member for member in members if _height(member) == lowest)
    return st.one_of([_values(member, depth, options) for member in members])


def _by_key(mark: ByKey, depth: int, options: _Options) -> SearchStrategy[Any]:
    """Draw a member such that the reader, who looks at the keys in order, comes to the same one."""
    drawn = []
    for index, (key, member) in enumerate(mark.members):
        earlier = {key for key, _ in mark.members[:index]}
        kept = frozenset({key} - {""})
        drawn.append(_without(_record(member, depth - 1, options, kept), earlier))
    return st.one_of(drawn)


def _without(values: SearchStrategy[JsonObject], keys: set[str]) -> SearchStrategy[JsonObject]:
    return values.filter(keys.isdisjoint) if keys else values


@cache
def _height(kind: Any) -> float:
    """Count the records that a value of this annotation holds inside each other at the least."""
    return _least(kind, ())


def _least(kind: Any, above: tuple[Any, ...]) -> float:
    if is_record(kind):
        return _least_record(kind, above)
    if get_origin(kind) is Annotated:
        return _least(get_args(kind)[0], above)
    parts = [_least(part, above) for part in get_args(kind) if get_origin(kind) is not Literal]
    if is_union(kind):
        return min(parts)
    return max(parts, default=0)


def _least_record(kind: Any, above: tuple[Any, ...]) -> float:
    if kind in above:
        return inf
    needed = [hint for hint, required in record_fields(kind).values() if required]
    # Lists may be empty, so what they hold need not be there.
    inside = [_least(hint, (*above, kind)) for hint in needed if get_origin(hint) not in (list, dict)]
    return 1 + max(inside, default=0)


_PLAIN: dict[Any, SearchStrategy[Any]] = {
    Any: json_values,
    str: _texts,
    bool: st.booleans(),
    int: _wholes,
    float: _floats | _wholes,
    NoneType: st.none(),
}
