"""Whether a terminal may change hands, be typed into or be resized."""

from typing import Any

from agenthost.core.decisions.refusal import Dispatch, Refused
from agenthost.wire.ahp.actions.terminal import (
    TerminalClaimedAction,
    TerminalInputAction,
    TerminalResizedAction,
)
from agenthost.wire.ahp.terminal import TerminalState
from agenthost.wire.mismatch import quote

MAX_SIZE = 65_535
"""The most columns or rows that a pty can have: its size is kept in 16 bits each."""


def claimed(state: TerminalState, action: TerminalClaimedAction, by: Dispatch) -> None:
    """Refuse a client that does not hold the terminal, save two ways to take over from a session.

    A client may detach it from what the session does with it, and may have it when it is detached.
    The first of two clients wins: for the second, the terminal is a client's already.
    """
    holder: Any = state.get("claim", {})
    new: Any = action["claim"]
    if holder.get("kind") == "client" and holder.get("clientId") == by.client_id:
        return
    if holder.get("kind") != "session":
        raise Refused(f"client {quote(holder.get('clientId'))} holds the terminal")
    if new["kind"] == "session":
        _check_detaching(holder, new)
    elif new["clientId"] != by.client_id:
        raise Refused(f"a client can only take a terminal for itself, not for {quote(new['clientId'])}")
    elif holder.get("toolCallId") is not None:
        raise Refused(f"tool call {quote(holder['toolCallId'])} is using the terminal: detach it first")


def _check_detaching(holder: Any, new: Any) -> None:
    if new["session"] != holder.get("session"):
        raise Refused(f"session {quote(holder.get('session'))} holds the terminal")
    if "turnId" in new or "toolCallId" in new:
        raise Refused("a client can only detach the session's terminal, not give it to a turn or tool call")


def typed(state: TerminalState, _action: TerminalInputAction, by: Dispatch) -> None:
    """Refuse keys that nobody would read."""
    _check_alive(state, by)


def resized(state: TerminalState, action: TerminalResizedAction, by: Dispatch) -> None:
    """Refuse a size that no terminal can have."""
    _check_alive(state, by)
    for side, size in (("cols", action["cols"]), ("rows", action["rows"])):
        if not 1 <= size <= MAX_SIZE:
            raise Refused(f"{side} must be from 1 to {MAX_SIZE}, not {size}")


def _check_alive(state: TerminalState, by: Dispatch) -> None:
    if by.context.has_exited or state.get("exitCode") is not None:
        raise Refused("the terminal's process has exited")
