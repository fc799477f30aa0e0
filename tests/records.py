"""The objects of a package of wire types, and what holds for each of them. Knows annotations, no protocol."""

import pkgutil
from importlib import import_module
from types import ModuleType, NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from agenthost.errors import InvalidValue
from agenthost.wire.annotations import is_record, is_union, python_types, record_fields
from agenthost.wire.json import Json, JsonObject, encode_json
from agenthost.wire.shape import STRICT, TOLERANT, Shape
from strategies import share, values_of

__all__ = [
    "check_any_value_is_kept",
    "check_json_types",
    "check_required_keys",
    "check_smallest_value",
    "few",
    "least",
    "optional_nulls_left",
    "records_of",
    "refused_at",
]

few = settings(
    max_examples=share(5), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

OTHERS: dict[type, Json] = {dict: {}, list: [], str: "", bool: True, int: 1, float: 0.5, NoneType: None}
"""A value of each JSON type."""


def records_of(package: ModuleType, without: str = "") -> dict[str, Any]:
    """Return the records of a package by name. What is under the package `without` is left out."""
    found: dict[str, Any] = {}
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if without and f"{info.name}.".startswith(f"{without}."):
            continue
        for value in vars(import_module(info.name)).values():
            if is_record(value):
                assert found.setdefault(value.__name__, value) is value, f"two are called {value.__name__}"
    return found


def least(kind: Any) -> Json:
    """Return the smallest value of an annotation."""
    origin = get_origin(kind)
    if origin is Annotated or is_union(kind):
        return least(get_args(kind)[0])
    if origin is Literal:
        return get_args(kind)[0]
    if is_record(kind):
        return {key: least(hint) for key, (hint, required) in record_fields(kind).items() if required}
    return None if kind is Any else (origin or kind)()


def refused_at(kind: Any, value: JsonObject) -> str:
    """Return the path at which a value is refused."""
    with pytest.raises(InvalidValue) as refused:
        Shape[Any](kind).take(value)
    return refused.value.path


def check_smallest_value(record: Any) -> None:
    """Check that the smallest value fits, even for a strict reader."""
    value = least(record)
    assert Shape[Any](record, STRICT).take(value) is value
    assert Shape[Any](record).take(value) == least(record)


def check_any_value_is_kept(record: Any, data: st.DataObject) -> None:
    """Check that a value, with keys that we do not know, is written as it was read."""
    value = data.draw(values_of(record, unknown_keys=True))
    encoded = encode_json(value)
    for reading in (TOLERANT, STRICT):
        again = Shape[Any](record, reading).decode(encoded)
        assert repr(again) == repr(value)
        assert encode_json(again) == encoded


def check_required_keys(record: Any) -> None:
    """Check that no required key may be missing."""
    for key, (_, required) in record_fields(record).items():
        if required:
            value = least(record)
            del value[key]
            assert refused_at(record, value) == f"$.{key}"


def check_json_types(record: Any) -> None:
    """Check that no field accepts a value of another JSON type."""
    for key, (hint, required) in record_fields(record).items():
        # Null under an optional key means that it is absent.
        welcome = (*python_types(hint), *(() if required else (NoneType,)))
        for python, other in OTHERS.items():
            if hint is not Any and python not in welcome:
                assert refused_at(record, least(record) | {key: other}) == f"$.{key}"


def optional_nulls_left(record: Any) -> set[str]:
    """Return the optional keys whose null is kept."""
    optional = {key: None for key, (_, required) in record_fields(record).items() if not required}
    value = Shape[Any](record).take(least(record) | optional)
    return set(value) - set(least(record))
