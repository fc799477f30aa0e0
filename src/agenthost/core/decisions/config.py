"""Whether settings of a session or of the host may take these values.

A fixed setting may not be named at all, except where all values are replaced: then it has to keep its value.
"""

from collections.abc import Callable
from typing import Any

from agenthost.core.conversation import Conversation
from agenthost.core.decisions.refusal import Dispatch, Refused
from agenthost.core.json_schema_check import find_mismatch
from agenthost.wire.ahp.actions.root import RootConfigChangedAction
from agenthost.wire.ahp.actions.session import SessionConfigChangedAction
from agenthost.wire.ahp.root import RootState
from agenthost.wire.error_messages import quote
from agenthost.wire.json import JsonObject, is_same_json


def session_config_changed(
    conversation: Conversation, action: SessionConfigChangedAction, by: Dispatch
) -> None:
    """Refuse settings that may not change after creation, or that this client has no grant for."""
    state = conversation.session
    _check_change("the session", state, action, lambda setting: setting.get("sessionMutable") is True)
    old = state["config"]["values"]
    for name, grant in by.context.option_grants.items():
        # Sending back the value that is set changes nothing, so it needs no grant.
        if name in action["config"] and not is_same_json(old.get(name), action["config"][name]):
            by.context.rights.check_grant(grant, f"setting {quote(name)}")


def root_config_changed(state: RootState, action: RootConfigChangedAction, _by: Dispatch) -> None:
    """Refuse read-only settings."""
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
    # G6: tested for truth, as in the reducer.
    if action.get("replace"):
        kept = _check_replacement(config.get("values", {}), new, free, schema.get("required", []))
    else:
        kept = set()
        _check_named(new, free, settings)
    _check_values(settings, {key: value for key, value in new.items() if key not in kept})


def _check_named(new: JsonObject, free: set[str], settings: JsonObject) -> None:
    for key in new:
        # D5: some clients send settings of other hosts.
        if key not in settings:
            raise Refused(f"there is no setting {quote(key)}")
        if key not in free:
            raise Refused(f"the setting {quote(key)} may not be changed")


def _check_replacement(old: JsonObject, new: JsonObject, free: set[str], required: list[str]) -> set[str]:
    """Check the fixed and required settings, and return the names of the fixed ones."""
    fixed = [key for key in {**old, **new} if key not in free]
    for key in fixed:
        if key not in new:
            raise Refused(f"the setting {quote(key)} may not be removed")
        if key not in old or not is_same_json(old[key], new[key]):
            raise Refused(f"the setting {quote(key)} may not be changed")
    for key in required:
        if key in old and key not in new:
            raise Refused(f"the setting {quote(key)} is required")
    return set(fixed)


def _check_values(settings: JsonObject, values: JsonObject) -> None:
    for key, value in values.items():
        mismatch = find_mismatch(value, settings[key])
        if mismatch is not None:
            raise Refused(str(mismatch.under(key).at("$.config")))
