"""Legacy actions on a session as a whole, as actions on a session."""

from typing import Any, Final

from agenthost.core.legacy.clients import active_client, find_client, lift_client
from agenthost.core.legacy.customizations import (
    is_plugin,
    lift_customization,
    lift_customizations,
    project_customization,
    toggled,
)
from agenthost.core.legacy.given_action import Given, Translator, copied, make
from agenthost.core.legacy.meta import DIFFS, MODEL, private_meta
from agenthost.wire.ahp.legacy.enums import SessionStatus


def _ready(given: Given) -> list[Any]:
    """Clear the flags, too: a legacy session that gets ready forgets them."""
    made = [make(given, "session/ready")]
    if given.session["status"] & SessionStatus.IS_READ:
        made.append(make(given, "session/isReadChanged", isRead=False))
    if given.session["status"] & SessionStatus.IS_ARCHIVED:
        made.append(make(given, "session/isArchivedChanged", isArchived=False))
    return made


def _named_meta(key: str, field: str) -> Translator:
    """Put a field into `_meta`."""

    def translate(given: Given) -> list[Any]:
        meta = {**(given.session.get("_meta") or {}), key: given.action[field]}
        return [make(given, "session/metaChanged", _meta=meta)]

    return translate


def _meta_changed(given: Given) -> list[Any]:
    # Legacy clients do not see these keys, so they cannot mean to remove them.
    private = private_meta(given.session.get("_meta"))
    meta = given.action.get("_meta")
    if meta is None and not private:
        return [make(given, "session/metaChanged")]
    return [make(given, "session/metaChanged", _meta={**(meta or {}), **private})]


def _active_client_changed(given: Given) -> list[Any]:
    """Make a client active, or end its role. A client acts for itself; the host knows no other than this."""
    client = given.action.get("activeClient")
    client_id = None if client is None else client["clientId"]
    left = given.session["activeClients"] if given.client_id is None else []
    if client is None and given.client_id is not None:
        left = [one for one in [_own_client(given)] if one is not None]
    made = [
        make(given, "session/activeClientRemoved", clientId=one["clientId"])
        for one in left
        if one["clientId"] != client_id
    ]
    if client is not None:
        made.append(make(given, "session/activeClientSet", activeClient=lift_client(client)))
    return made


def _active_client_tools_changed(given: Given) -> list[Any]:
    client = _own_client(given)
    if client is None:
        return []
    return [make(given, "session/activeClientSet", activeClient={**client, "tools": given.action["tools"]})]


def _own_client(given: Given) -> Any:
    return find_client(given.session, given.client_id) or active_client(given.session)


def _customizations_changed(given: Given) -> list[Any]:
    lifted = lift_customizations(given.action["customizations"])
    return [make(given, "session/customizationsChanged", customizations=lifted)]


def _customization_toggled(given: Given) -> list[Any]:
    plugin = _plugin(given, given.action["uri"])
    if plugin is None:
        return []
    enablement = toggled(plugin, enabled=given.action["enabled"])
    return [make(given, "session/customizationToggled", id=plugin["id"], enablement=enablement)]


def _customization_updated(given: Given) -> list[Any]:
    """Keep what the action does not say; a new plugin is off unless it says otherwise."""
    plugin = _plugin(given, given.action["customization"]["uri"])
    before: Any = {"enabled": False} if plugin is None else project_customization(plugin)
    keys = ("customization", "enabled", "status", "statusMessage")
    after = {**before, **{key: given.action[key] for key in keys if given.action.get(key) is not None}}
    lifted: Any = lift_customization(after, plugin)
    if plugin is not None:
        lifted = {**lifted, "id": plugin["id"]}
    return [make(given, "session/customizationUpdated", customization=lifted)]


def _plugin(given: Given, uri: str) -> Any:
    entries = given.session.get("customizations", [])
    return next((one for one in entries if is_plugin(one) and one["uri"] == uri), None)


SESSION_TRANSLATORS: Final[dict[str, Translator]] = {
    "session/ready": _ready,
    "session/creationFailed": copied("session/creationFailed", "error"),
    "session/titleChanged": copied("session/titleChanged", "title"),
    "session/modelChanged": _named_meta(MODEL, "model"),
    "session/diffsChanged": _named_meta(DIFFS, "diffs"),
    "session/isReadChanged": copied("session/isReadChanged", "isRead"),
    "session/isArchivedChanged": copied("session/isArchivedChanged", "isArchived"),
    "session/activityChanged": copied("session/activityChanged", "activity"),
    "session/configChanged": copied("session/configChanged", "config", "replace"),
    "session/metaChanged": _meta_changed,
    "session/serverToolsChanged": copied("session/serverToolsChanged", "tools"),
    "session/activeClientChanged": _active_client_changed,
    "session/activeClientToolsChanged": _active_client_tools_changed,
    "session/customizationsChanged": _customizations_changed,
    "session/customizationToggled": _customization_toggled,
    "session/customizationUpdated": _customization_updated,
}
