"""Whether settings may take these values: a session's and the host's.

A setting that is fixed may not be named at all, except where all values are replaced: there it has to
keep the value that it has.
"""

from collections.abc import Callable
from typing import Any

from agenthost.core.decisions.refusal import Dispatch, Refused
from agenthost.wire.ahp.actions.root import RootConfigChangedAction
from agenthost.wire.ahp.actions.session import SessionConfigChangedAction
from agenthost.wire.ahp.root import RootState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import Json, JsonObject
from agenthost.wire.mismatch import Mismatch, describe, quote

TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "a string"),
    "number": ((int, float), "a number"),
    "boolean": ((bool,), "true or false"),
    "array": ((list,), "a list"),
    "object": ((dict,), "an object"),
}


def session_config_changed(state: SessionState, action: SessionConfigChangedAction, by: Dispatch) -> None:
    """Refuse what is not said to be changeable after the session's creation, or not by this client."""
    _check_change("the session", state, action, lambda setting: setting.get("sessionMutable") is True)
    old = state["config"]["values"]
    for name, grant in by.context.option_grants.items():
        if name in action["config"] and not _is_same(old.get(name), action["config"][name]):
            by.context.rights.check_grant(grant, f"setting {quote(name)}")


def root_config_changed(state: RootState, action: RootConfigChangedAction, _by: Dispatch) -> None:
    """Refuse what is for reading only."""
    _check_change("the host", state, action, lambda _setting: True)


def _check_change(owner: str, state: Any, action: Any, may_change: Callable[[JsonObject], bool]) -> None:
    config = state.get("config")
    if config is None:
        raise Refused(f"{owner} has no settings")
    schema = config.get("schema", {})
    settings = schema.get("properties", {})
    free = {
        key
        for key, setting in settings.items()
        if may_change(setting) and setting.get("readOnly") is not True
    }
    new = action["config"]
    if action.get("replace"):
        kept = _check_replacement(config.get("values", {}), new, free, schema.get("required", []))
    else:
        kept = set()
        _check_named(new, free, settings)
    _check_values(settings, {key: value for key, value in new.items() if key not in kept})


def _check_named(new: JsonObject, free: set[str], settings: JsonObject) -> None:
    for key in new:
        if key not in settings:
            raise Refused(f"there is no setting {quote(key)}")
        if key not in free:
            raise Refused(f"the setting {quote(key)} may not be changed")


def _check_replacement(old: JsonObject, new: JsonObject, free: set[str], required: list[str]) -> set[str]:
    """Give the settings that keep the value that they had to keep."""
    fixed = [key for key in {**old, **new} if key not in free]
    for key in fixed:
        if key not in new:
            raise Refused(f"the setting {quote(key)} may not be lost")
        if key not in old or not _is_same(old[key], new[key]):
            raise Refused(f"the setting {quote(key)} may not be changed")
    for key in required:
        if key in old and key not in new:
            raise Refused(f"the setting {quote(key)} is required")
    return set(fixed)


def _is_same(one: Json, other: Json) -> bool:
    """Compare as JSON does: 1 is 1.0 but not true."""
    if type(one) is dict and type(other) is dict:
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(_is_same, one, other))
    return (type(one) is bool) == (type(other) is bool) and bool(one == other)


def _check_values(settings: JsonObject, values: JsonObject) -> None:
    for key, value in values.items():
        try:
            _check_value(settings[key], value)
        except Mismatch as mismatch:
            raise Refused(str(mismatch.under(key).at("$.config"))) from None


def _check_value(setting: JsonObject, value: Json) -> None:
    pythons, name = TYPES.get(setting.get("type", ""), ((), ""))
    if not pythons:
        return  # a type that is newer than we are
    if type(value) not in pythons:
        raise Mismatch(name, describe(value))
    if type(value) is str:
        _check_choice(setting, value)
    for key, inner, entry in _entries(setting, value):
        try:
            _check_value(inner, entry)
        except Mismatch as mismatch:
            raise mismatch.under(key) from None


def _check_choice(setting: JsonObject, value: str) -> None:
    choices = setting.get("enum")
    # A dynamic one has more values than the schema names: who applies the setting knows them.
    if choices is not None and value not in choices and setting.get("enumDynamic") is not True:
        raise Mismatch(" or ".join(map(quote, choices)) or "nothing", quote(value))


def _entries(setting: JsonObject, value: Json) -> list[tuple[str | int, JsonObject, Json]]:
    """Give what is inside a list or an object, each with its key and its own setting, where it has one."""
    if type(value) is list and setting.get("items") is not None:
        return [(index, setting["items"], entry) for index, entry in enumerate(value)]
    if type(value) is not dict:
        return []
    for key in setting.get("required", []):
        if key not in value:
            raise Mismatch("a value", "nothing").under(key)
    inner = setting.get("properties", {})
    return [(key, inner[key], entry) for key, entry in value.items() if key in inner]
