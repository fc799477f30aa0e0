"""Permission: whether the server may run one of its tools that the session does not trust.

The application decides, call by call. If nobody decides, the answer is no.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from agenthost.threads import run_in_thread
from agenthost.wire.aap.message import ToolPermissionMessage
from agenthost.wire.aap.tool import ToolCall

__all__ = ["Decide", "Permission", "allow_all", "allow_only", "decide", "deny_all"]

log = logging.getLogger("agenthost.client")

NOBODY = "the application has nobody to ask for permission"


@dataclass(frozen=True, slots=True)
class Permission:
    """A decision; a denial has a reason for the model."""

    granted: bool
    reason: str | None = None


Decide: TypeAlias = Callable[[ToolCall], "bool | Permission | Awaitable[bool | Permission]"]
"""Decides about a call. Runs in its own thread unless it is `async`, so it may ask a person."""


def allow_all(_call: ToolCall) -> Permission:
    """Allow every call."""
    return Permission(granted=True)


def deny_all(_call: ToolCall) -> Permission:
    """Deny every call; this is the default."""
    return Permission(granted=False, reason=NOBODY)


def allow_only(*names: str) -> Decide:
    """Allow calls of these tools only."""

    def decide_by_name(call: ToolCall) -> Permission:
        if call["name"] in names:
            return Permission(granted=True)
        return Permission(granted=False, reason=f"the application does not allow {call['name']}")

    return decide_by_name


async def decide(callback: Decide, call: ToolCall) -> ToolPermissionMessage:
    """Ask for a decision and return the message for the server. A callback that raises denies."""
    try:
        permission = await _ask(callback, call)
    except Exception:
        log.exception("asking for permission to run %s failed", call["name"])
        permission = Permission(granted=False, reason="the application failed to ask for permission")
    message: ToolPermissionMessage = {
        "role": "tool_permission",
        "toolCallId": call["toolCallId"],
        "granted": permission.granted,
    }
    if permission.reason:
        message["reason"] = permission.reason
    return message


async def _ask(callback: Decide, call: ToolCall) -> Permission:
    if inspect.iscoroutinefunction(callback):
        decision = await callback(call)
    else:
        decision = await run_in_thread(lambda: callback(call), f"permission for {call['name']}")
        decision = await decision if inspect.isawaitable(decision) else decision
    return decision if isinstance(decision, Permission) else Permission(granted=decision is True)
