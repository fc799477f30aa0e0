"""Customizations in both protocols.

In the legacy one they are a flat list of plugins, known by their URIs. Here they are a tree, known by ids.
Legacy clients see the plugins at its top. A legacy plugin gets its URI as its id.
"""

from typing import Any, cast

from agenthost.wire.ahp.customization import Customization
from agenthost.wire.ahp.legacy.customization import CustomizationRef, SessionCustomization

DESCRIPTION = "agenthost.description"
"""The key of `_meta` that keeps a legacy plugin's description."""


def project_customizations(customizations: list[Customization]) -> list[SessionCustomization]:
    """Return the plugins of a session as legacy clients see them."""
    return [project_customization(one) for one in customizations if is_plugin(one)]


def project_customization(plugin: Any) -> SessionCustomization:
    """Return a plugin of a session as legacy clients see it."""
    projected: Any = {"customization": project_plugin(plugin), "enabled": is_enabled(plugin)}
    if plugin.get("clientId") is not None:
        projected["clientId"] = plugin["clientId"]
    load = plugin.get("load")
    if load is not None:
        projected["status"] = load["kind"]
        if load.get("message"):
            projected["statusMessage"] = load["message"]
    return cast("SessionCustomization", projected)


def project_plugin(plugin: Any) -> CustomizationRef:
    """Return the reference by which legacy clients know a plugin."""
    reference: Any = {"uri": plugin["uri"], "displayName": plugin["name"]}
    description = plugin.get("_meta", {}).get(DESCRIPTION)
    if description is not None:
        reference["description"] = description
    reference.update({key: plugin[key] for key in ("icons", "nonce") if plugin.get(key) is not None})
    return cast("CustomizationRef", reference)


def is_plugin(customization: Any) -> bool:
    """Return whether legacy clients can see a customization."""
    return bool(customization.get("type") == "plugin")


def is_enabled(plugin: Any) -> bool:
    """Return whether a plugin is on. The first entry is the most specific one."""
    enablement = plugin.get("enablement")
    return bool(enablement[0]["enabled"]) if enablement else True


def lift_customizations(customizations: list[SessionCustomization]) -> list[Customization]:
    """Return the legacy plugins of a session."""
    return [lift_customization(one) for one in customizations]


def lift_customization(legacy: Any, before: Any = None) -> Customization:
    """Return a legacy plugin of a session; `before` is its entry so far, which may have more fields."""
    lifted: Any = {**(before or {}), **lift_plugin(legacy["customization"])}
    if before is None or is_enabled(before) != legacy["enabled"]:
        _set(lifted, "enablement", toggled(before, enabled=legacy["enabled"]))
    _set(lifted, "clientId", legacy.get("clientId"))
    _set(lifted, "load", _lift_load(legacy))
    return cast("Customization", lifted)


def toggled(plugin: Any, *, enabled: bool) -> list[Any]:
    """Return the enablement of a plugin that is switched on or off for its session."""
    others = [] if plugin is None else plugin.get("enablement", [])
    others = [one for one in others if one.get("kind") != "session"]
    # Without an entry it is on.
    return others if enabled and not others else [{"kind": "session", "enabled": enabled}, *others]


def lift_plugin(reference: CustomizationRef) -> Any:
    """Return the plugin that a legacy reference stands for."""
    plugin: Any = {"type": "plugin", "id": reference["uri"], "uri": reference["uri"]}
    plugin["name"] = reference["displayName"]
    if reference.get("description") is not None:
        plugin["_meta"] = {DESCRIPTION: reference["description"]}
    kept: Any = reference
    plugin.update({key: kept[key] for key in ("icons", "nonce") if kept.get(key) is not None})
    return plugin


def _lift_load(legacy: Any) -> Any:
    status = legacy.get("status")
    if status is None:
        return None
    if status in ("degraded", "error"):  # these say why
        return {"kind": status, "message": legacy.get("statusMessage", "")}
    message = legacy.get("statusMessage")
    return {"kind": status} if message is None else {"kind": status, "message": message}


def _set(record: Any, key: str, value: Any) -> None:
    if value is None or value == []:
        record.pop(key, None)
    else:
        record[key] = value
