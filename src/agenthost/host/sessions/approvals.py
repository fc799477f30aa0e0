"""Approvals: the options for approving a tool call, and what a session remembers of the answers.

Pure. `tool_access` decides from this whether a tool may run.
"""

from collections.abc import Mapping
from typing import Any, Literal

from agenthost.host.authoring.scope import Scope
from agenthost.host.state.private import Private
from agenthost.wire.ahp.toolcall import ConfirmationOption
from agenthost.wire.json import JsonObject

__all__ = ["ALLOW_FOR_SESSION", "SANDBOX", "options_for", "remembered"]

ALLOW_FOR_SESSION = "allow-session"
"""The id of the option that approves a tool for the whole session; followed by a key, only some calls."""

SANDBOX = "sandbox"
"""The key for all commands, as long as they run in a sandbox."""

_TRUST: tuple[Literal["trusted", "given"], ...] = ("trusted", "given")

_ONCE: ConfirmationOption = {"id": "allow-once", "label": "Allow once", "kind": "approve"}
_DENY: ConfirmationOption = {"id": "deny", "label": "Deny", "kind": "deny", "group": 1}

_ALWAYS: ConfirmationOption = {"id": ALLOW_FOR_SESSION, "label": "Allow for this session", "kind": "approve"}


_IN_SANDBOX: ConfirmationOption = {
    "id": f"{ALLOW_FOR_SESSION}:{SANDBOX}",
    "label": "Allow every command in this session's sandbox",
    "kind": "approve",
}


def options_for(scope: Scope | None, title: str, *, is_sandboxed: bool = False) -> list[ConfirmationOption]:
    """Return the options to choose from. For a tool with scopes, the narrow one comes before the wide one.

    The first words of a command do not tell what it does. So there is nothing between exactly this command
    and all commands, and all commands only in a sandbox.
    """
    if scope is None:
        return [_ONCE, _ALWAYS, _DENY]
    narrow: ConfirmationOption = {
        "id": f"{ALLOW_FOR_SESSION}:{scope.key}",
        "label": f"Allow {scope.label} for this session",
        "kind": "approve",
    }
    if scope.is_command:
        return [_ONCE, narrow, *([_IN_SANDBOX] if is_sandboxed else []), _DENY]
    wide: ConfirmationOption = {**_ALWAYS, "label": f"Allow every {title} for this session"}
    return [_ONCE, narrow, wide, _DENY]


def remembered(
    private: Private,
    name: str,
    option_id: str | None,
    pin: Mapping[str, str] | None,
    *,
    is_edited: bool = False,
) -> JsonObject:
    """Return the changes to the private data when a call of this tool is approved with this option.

    `pin` is the definition that was shown, if the tool needs one. An approval of exactly the call that was
    shown is not kept if its input was edited: another call runs, and the one shown was not wanted.
    """
    kind, _, key = (option_id or "").partition(":")
    if kind != ALLOW_FOR_SESSION or (is_edited and key not in ("", SANDBOX)):
        return {}
    pins = private.get("pins", {})
    # An approval is for the tool that was shown: those for another definition end here.
    other = {} if pin is None or pins.get(name) == pin else _forgotten(private, name)
    kept: Any = {**private, **other}
    pinned: JsonObject = {} if pin is None else {"pins": {**pins, name: dict(pin)}}
    if not key:
        return {**other, **pinned, "trusted": _with(kept.get("trusted", []), name)}
    scopes = kept.get("scopes", {})
    return {**other, **pinned, "scopes": {**scopes, name: _with(scopes.get(name, []), key)}}


def _forgotten(private: Private, name: str) -> JsonObject:
    """Return the changes that forget the approvals of a tool's former definition."""
    taken: JsonObject = {}
    if name in private.get("tools", {}):
        taken["tools"] = {**private["tools"], name: False}
    for key in _TRUST:
        if name in private.get(key, []):
            taken[key] = [one for one in private[key] if one != name]
    if name in private.get("scopes", {}):
        taken["scopes"] = {one: keys for one, keys in private["scopes"].items() if one != name}
    return taken


def _with(known: list[str], one: str) -> list[str]:
    return known if one in known else [*known, one]
