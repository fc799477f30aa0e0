"""Customizations of a session: a list of containers and MCP servers, with children (S22 to S27)."""

from collections.abc import Callable
from typing import Any, TypeAlias

from agenthost.core.reducers.records import find_place, put, replaced, upserted
from agenthost.wire.ahp.actions.customization import (
    SessionCustomizationRemovedAction,
    SessionCustomizationToggledAction,
    SessionCustomizationUpdatedAction,
    SessionMcpServerBackgroundRequestedAction,
    SessionMcpServerStartRequestedAction,
    SessionMcpServerStateChangedAction,
    SessionMcpServerStopRequestedAction,
)
from agenthost.wire.ahp.session import SessionState

Entry: TypeAlias = Any
"""A customization of any type, at any level."""


def customization_toggled(state: SessionState, action: SessionCustomizationToggledAction) -> SessionState:
    """S22: plugins and MCP servers keep all decisions, others only what the first one says."""
    enablement: list[Any] = action.get("enablement", [])

    def toggle(entry: Entry) -> Entry:
        if entry.get("type") in ("plugin", "mcpServer"):
            return put(entry, enablement=enablement or None)
        return put(entry, enabled=enablement[0].get("enabled") if enablement else True)

    return _changed(state, action.get("id"), toggle)


def customization_updated(state: SessionState, action: SessionCustomizationUpdatedAction) -> SessionState:
    """S23: replace the whole entry of the top level, or append it."""
    entry: Any = action.get("customization")
    if entry is None:
        return state
    return put(state, customizations=upserted(state.get("customizations", []), entry))


def customization_removed(state: SessionState, action: SessionCustomizationRemovedAction) -> SessionState:
    """S24: from the top level, with its children; if it is not there, from all containers."""
    entries: list[Entry] = state.get("customizations", [])
    left = _without(entries, action.get("id"))
    if len(left) == len(entries):
        left = [_without_child(entry, action.get("id")) for entry in entries]
        if all(one is other for one, other in zip(left, entries, strict=True)):
            return state
    return put(state, customizations=left)


def _without(entries: list[Entry], entry_id: str | None) -> list[Entry]:
    return [entry for entry in entries if entry.get("id") != entry_id]


def _without_child(entry: Entry, child_id: str | None) -> Entry:
    children = entry.get("children", [])
    left = _without(children, child_id)
    return entry if len(left) == len(children) else put(entry, children=left)


def mcp_server_state_changed(state: SessionState, action: SessionMcpServerStateChangedAction) -> SessionState:
    """S25: the channel is that of the new state, or none."""
    changes = {"state": action.get("state"), "channel": action.get("channel")}
    return _changed(state, action.get("id"), lambda server: put(server, **changes), servers_only=True)


def mcp_server_start_requested(
    state: SessionState, action: SessionMcpServerStartRequestedAction
) -> SessionState:
    """S26: the server starts, without a channel yet."""
    return _restated(state, action.get("id"), "starting")


def mcp_server_stop_requested(
    state: SessionState, action: SessionMcpServerStopRequestedAction
) -> SessionState:
    """S26: the server stops, and its channel with it."""
    return _restated(state, action.get("id"), "stopped")


def _restated(state: SessionState, server_id: str | None, kind: str) -> SessionState:
    return _changed(
        state, server_id, lambda server: put(server, state={"kind": kind}, channel=None), servers_only=True
    )


def mcp_server_background_requested(
    state: SessionState, action: SessionMcpServerBackgroundRequestedAction
) -> SessionState:
    """S27: nobody waits any longer for a server that is starting."""

    def release(server: Entry) -> Entry:
        starting = server.get("state", {})
        if starting.get("kind") != "starting" or not starting.get("blocking"):  # G6: tested for truth
            return server
        return put(server, state={**starting, "blocking": False})

    return _changed(state, action.get("id"), release, servers_only=True)


def _changed(
    state: SessionState, entry_id: str | None, change: Callable[[Entry], Entry], *, servers_only: bool = False
) -> SessionState:
    """Change the first entry with the id: of the top level, or else of the children of containers."""
    entries: list[Entry] = state.get("customizations", [])
    place = find_place(entries, entry_id)
    if place is not None:
        # The first entry with the id is meant, even if it is of the wrong kind.
        if servers_only and entries[place].get("type") != "mcpServer":
            return state
        return _with(state, entries, place, change(entries[place]))
    for place, entry in enumerate(entries):
        children: list[Entry] = [] if entry.get("type") == "mcpServer" else entry.get("children", [])
        for child_place, child in enumerate(children):
            if child.get("id") == entry_id and (not servers_only or child.get("type") == "mcpServer"):
                after = change(child)
                changed = (
                    entry if after is child else put(entry, children=replaced(children, child_place, after))
                )
                return _with(state, entries, place, changed)
    return state


def _with(state: SessionState, entries: list[Entry], place: int, entry: Entry) -> SessionState:
    return state if entry is entries[place] else put(state, customizations=replaced(entries, place, entry))
