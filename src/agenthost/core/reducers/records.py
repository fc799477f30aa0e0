"""Records: states and actions are JSON objects, never changed in place. Here is how to make the next one."""

from collections.abc import Mapping
from typing import Any, TypeVar

R = TypeVar("R", bound=Mapping[str, Any])


def present(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Give the fields that are there: what is absent is left out, never stored as null (G1)."""
    return {key: value for key, value in fields.items() if value is not None}


def put(record: R, **changes: Any) -> R:
    """Give the record with these fields; `None` takes a field out."""
    after = {**record, **changes}
    for key, value in changes.items():
        if value is None:
            del after[key]
    return after  # type: ignore[return-value] # a cast would be one more call, eight times a turn


def chosen(record: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Give the named fields, those of them that are there."""
    return {key: record[key] for key in keys if record.get(key) is not None}


def configured(state: R, action: Mapping[str, Any]) -> R:
    """R4, S26: lay the new values over the old ones, or put them in their place."""
    config = state.get("config")
    if config is None:
        return state
    values = action.get("config") or {}
    if not action.get("replace"):
        values = {**config.get("values", {}), **values}
    return put(state, config={**config, "values": values})
