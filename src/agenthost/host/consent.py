"""Consent: the ways to answer when a tool call is asked for, and what a session remembers of the answers.

Pure. Whether a tool may run at all is the business of `setup`, which reads what is remembered here.
"""

from agenthost.host.previews import Scope
from agenthost.wire.ahp.toolcall import ConfirmationOption
from agenthost.wire.json import JsonObject

__all__ = ["ALLOW_FOR_SESSION", "options_for", "remembered"]

ALLOW_FOR_SESSION = "allow-session"
"""The option with which somebody approves a tool for the whole session; with a key after it, some calls."""

_ONCE: ConfirmationOption = {"id": "allow-once", "label": "Allow once", "kind": "approve"}
_DENY: ConfirmationOption = {"id": "deny", "label": "Deny", "kind": "deny", "group": 1}

_ALWAYS: ConfirmationOption = {"id": ALLOW_FOR_SESSION, "label": "Allow for this session", "kind": "approve"}


def options_for(scope: Scope | None, title: str) -> list[ConfirmationOption]:
    """Give the ways to answer: for a tool with scopes, the narrow one comes before the wide one."""
    if scope is None:
        return [_ONCE, _ALWAYS, _DENY]
    narrow: ConfirmationOption = {
        "id": f"{ALLOW_FOR_SESSION}:{scope.key}",
        "label": f"Allow {scope.label} for this session",
        "kind": "approve",
    }
    wide: ConfirmationOption = {**_ALWAYS, "label": f"Allow every {title} for this session"}
    return [_ONCE, narrow, wide, _DENY]


def remembered(private: JsonObject, name: str, option_id: str | None) -> JsonObject:
    """Give what of the private data changes when a call of this tool is approved with this option."""
    kind, _, key = (option_id or "").partition(":")
    if kind != ALLOW_FOR_SESSION:
        return {}
    if not key:
        return {"trusted": _with(private.get("trusted", []), name)}
    scopes = private.get("scopes", {})
    return {"scopes": {**scopes, name: _with(scopes.get(name, []), key)}}


def _with(known: list[str], one: str) -> list[str]:
    return known if one in known else [*known, one]
