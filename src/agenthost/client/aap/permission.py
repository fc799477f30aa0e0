"""Permission: whether the server may run one of its tools that the session does not trust.

The application decides, call by call. Nobody who decides means no.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from agenthost.client.aap.tools import in_thread
from agenthost.wire.aap.message import ToolPermissionMessage
from agenthost.wire.aap.tool import ToolCall

__all__ = ["Decide", "Permission", "allow_all", "allow_only", "decide", "deny_all"]

log = logging.getLogger("agenthost.client")

NOBODY = "the application has nobody who could allow it"


@dataclass(frozen=True, slots=True)
class Permission:
    """A decision, and for a denial the reason that the model is told."""

    granted: bool
    reason: str | None = None


Decide: TypeAlias = Callable[[ToolCall], "bool | Permission | Awaitable[bool | Permission]"]
"""Decides about a call. One that is not `async` runs in a thread of its own, so it may ask a person."""


def allow_all(_call: ToolCall) -> Permission:
    """Allow every call: for sessions whose tools are all trusted, but not declared so."""
    return Permission(granted=True)


def deny_all(_call: ToolCall) -> Permission:
    """Deny every call; this is what happens where nobody decides."""
    return Permission(granted=False, reason=NOBODY)


def allow_only(*names: str) -> Decide:
    """Allow calls of these tools only."""

    def decide_by_name(call: ToolCall) -> Permission:
        if call["name"] in names:
            return Permission(granted=True)
        return Permission(granted=False, reason=f"the application does not allow {call['name']}")

    return decide_by_name


async def decide(callback: Decide, call: ToolCall) -> ToolPermissionMessage:
    """Ask for a decision, and give the message for the server. What goes wrong with it is a denial."""
    try:
        permission = await _asked(callback, call)
    except Exception:
        log.exception("nobody could be asked whether %s may be run", call["name"])
        permission = Permission(granted=False, reason="the application could not ask anybody")
    message: ToolPermissionMessage = {
        "role": "tool_permission",
        "toolCallId": call["toolCallId"],
        "granted": permission.granted,
    }
    if permission.reason:
        message["reason"] = permission.reason
    return message


async def _asked(callback: Decide, call: ToolCall) -> Permission:
    if inspect.iscoroutinefunction(callback):
        said = await callback(call)
    else:
        said = await in_thread(lambda: callback(call), f"permission for {call['name']}")
        said = await said if inspect.isawaitable(said) else said
    return said if isinstance(said, Permission) else Permission(granted=said is True)
