"""Whether a terminal may be claimed, typed into or resized."""

from typing import Any

from agenthost.core.decisions.refusal import Dispatch, Refused
from agenthost.wire.ahp.actions.terminal import (
    TerminalClaimedAction,
    TerminalInputAction,
    TerminalResizedAction,
)
from agenthost.wire.ahp.terminal import TerminalState
from agenthost.wire.error_messages import quote

MAX_SIZE = 65_535
"""The maximum number of columns or rows: a pty stores each in 16 bits."""


def claimed(state: TerminalState, action: TerminalClaimedAction, by: Dispatch) -> None:
    """Refuse a client that does not hold the terminal, with two exceptions for one that a session holds.

    A client may detach it from the session's turn or tool call, and may claim it once it is detached. The
    first of two clients wins: for the second, a client holds the terminal already.
    """
    # HR-A13: only the holder gives a terminal away.
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
    for what in ("session", "chat"):
        if new[what] != holder.get(what):
            raise Refused(f"{what} {quote(holder.get(what))} holds the terminal")
    if "turnId" in new or "toolCallId" in new:
        raise Refused("a client can only detach the session's terminal, not give it to a turn or tool call")


def typed(state: TerminalState, _action: TerminalInputAction, by: Dispatch) -> None:
    """Refuse input after the process has exited: nobody would read it."""
    _check_alive(state, by)


def resized(state: TerminalState, action: TerminalResizedAction, by: Dispatch) -> None:
    """Refuse a size that no terminal can have, and any size after the process has exited."""
    _check_alive(state, by)
    for side, size in (("cols", action["cols"]), ("rows", action["rows"])):
        if not 1 <= size <= MAX_SIZE:
            raise Refused(f"{side} must be from 1 to {MAX_SIZE}, not {size}")


def _check_alive(state: TerminalState, by: Dispatch) -> None:
    lifecycle: Any = state.get("lifecycle", {})
    if by.context.has_exited or lifecycle.get("status") == "exited":
        raise Refused("the terminal's process has exited")
