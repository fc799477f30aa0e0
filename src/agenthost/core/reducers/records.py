"""Records: states and actions are JSON objects that are never changed in place. These make the next one."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

R = TypeVar("R", bound=Mapping[str, Any])


def without_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that have a value."""
    # G1: nothing absent is ever stored as null.
    return {key: value for key, value in fields.items() if value is not None}


def put(record: R, /, **changes: Any) -> R:
    """Return the record with these fields changed; `None` removes a field."""
    after = {**record, **changes}
    for key, value in changes.items():
        if value is None:  # G1
            del after[key]
    return after  # type: ignore[return-value] # a cast would be one more call, eight times a turn


def pick(record: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return the named fields that have a value."""
    # G1: a null reads like a missing key. Fields that are not named here do not survive.
    return {key: record[key] for key in keys if record.get(key) is not None}


def find_place(entries: Iterable[Any], value: Any, key: str = "id") -> int | None:
    """Return where the first entry stands that has this value under the key."""
    return next((place for place, entry in enumerate(entries) if entry.get(key) == value), None)


def upserted(entries: list[Any], entry: Any, key: str = "id") -> list[Any]:
    """Return the list with the entry in place of the one that has the same key, or at the end."""
    place = find_place(entries, entry.get(key), key)
    return [*entries, entry] if place is None else replaced(entries, place, entry)


def replaced(entries: list[Any], place: int, entry: Any) -> list[Any]:
    """Return the list with another entry at this place."""
    return [*entries[:place], entry, *entries[place + 1 :]]


def apply_config(state: R, action: Mapping[str, Any]) -> R:
    """R4: merge the new values into the old ones, or replace them all."""
    config = state.get("config")
    if config is None:
        return state
    values = action.get("config") or {}
    if not action.get("replace"):  # tested for truth
        values = {**config.get("values", {}), **values}
    return put(state, config={**config, "values": values})
