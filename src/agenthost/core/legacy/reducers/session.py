"""The session reducer: which function handles which action, and the actions on a session as a whole.

Turns are in `turns`, tool calls in `toolcalls`, pending requests and messages in `pending`, streamed text
in `text`.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from agenthost.core.legacy.reducers import pending, toolcalls, turns
from agenthost.core.legacy.reducers.status import set_flag, update_summary
from agenthost.core.legacy.reducers.text import StreamedText, stream
from agenthost.core.reducers.live import Live
from agenthost.core.reducers.records import apply_config, pick, put
from agenthost.wire.ahp.legacy.actions import SessionAction
from agenthost.wire.ahp.legacy.actions.session import (
    SessionActiveClientToolsChangedAction,
    SessionConfigChangedAction,
    SessionCreationFailedAction,
    SessionCustomizationToggledAction,
    SessionCustomizationUpdatedAction,
    SessionReadyAction,
)
from agenthost.wire.ahp.legacy.actions.text import as_text
from agenthost.wire.ahp.legacy.enums import SessionStatus
from agenthost.wire.ahp.legacy.session import SessionState

STREAMED = ("session/delta", "session/reasoning", "session/toolCallDelta")

Handler: TypeAlias = Callable[[SessionState, Any, float], SessionState]


def reduce_session(
    live: Live[SessionState], action: SessionAction | StreamedText, now: float
) -> Live[SessionState]:
    """Apply one action. An action that does not apply leaves the state as it was."""
    # The common case first: text that was decoded into a struct.
    if type(action) is not dict:
        return stream(live, action)  # type: ignore[arg-type] # all others are dicts
    kind = action["type"]
    # S13: a delta of a call's input may bring a new message too; that is more than appending text.
    if kind in STREAMED and action.get("invocationMessage") is None:
        return stream(live, as_text(action))
    handler = HANDLERS.get(kind)
    if handler is None:
        return live  # G4
    before = live.base if live.growth is None else live.state
    after = handler(before, action, now)
    # The same object means that nothing changed: the text log of `live` can go on growing.
    return live if after is before else Live(after)


def _ready(state: SessionState, _action: SessionReadyAction, _now: float) -> SessionState:
    """S1: the status becomes idle and nothing else: the flags are cleared."""
    return update_summary(put(state, lifecycle="ready"), status=SessionStatus.IDLE)


def _creation_failed(state: SessionState, action: SessionCreationFailedAction, _now: float) -> SessionState:
    """S2: keep the error that stopped the creation."""
    return put(state, lifecycle="creationFailed", creationError=action.get("error"))


def _config_changed(state: SessionState, action: SessionConfigChangedAction, now: float) -> SessionState:
    """S26: as R4, and touch (H8)."""
    changed = apply_config(state, action)
    return state if changed is state else update_summary(changed, modifiedAt=now)


def _active_client_tools_changed(
    state: SessionState, action: SessionActiveClientToolsChangedAction, _now: float
) -> SessionState:
    """S30: replace the tools of the active client, if there is one."""
    client = state.get("activeClient")
    return state if client is None else put(state, activeClient=put(client, tools=action.get("tools")))


def _customization_toggled(
    state: SessionState, action: SessionCustomizationToggledAction, _now: float
) -> SessionState:
    """S32: the first customization with the URI is the one meant."""
    entries: list[Any] = list(state.get("customizations", []))
    place = _place(entries, action.get("uri"))
    if place is None:
        return state
    entries[place] = put(entries[place], enabled=action.get("enabled"))
    return put(state, customizations=entries)


def _customization_updated(
    state: SessionState, action: SessionCustomizationUpdatedAction, _now: float
) -> SessionState:
    """S33: a customization that is not in the list yet is off unless the action says otherwise."""
    entries: list[Any] = list(state.get("customizations", []))
    place = _place(entries, action.get("customization", {}).get("uri"))
    changes = pick(action, "customization", "enabled", "status", "statusMessage")
    if place is None:
        entries.append({"enabled": False, **changes})
    else:
        entries[place] = {**entries[place], **changes}
    return put(state, customizations=entries)


def _place(entries: list[Any], uri: str | None) -> int | None:
    uris = (entry.get("customization", {}).get("uri") for entry in entries)
    return next((place for place, found in enumerate(uris) if found == uri), None)


HANDLERS: dict[str, Handler] = {
    "session/ready": _ready,
    "session/creationFailed": _creation_failed,
    "session/turnStarted": turns.turn_started,
    "session/responsePart": turns.response_part,
    "session/turnComplete": turns.turn_complete,
    "session/turnCancelled": turns.turn_cancelled,
    "session/error": turns.error,
    "session/usage": turns.usage,
    "session/truncated": turns.truncated,
    "session/toolCallStart": toolcalls.tool_call_start,
    "session/toolCallDelta": toolcalls.tool_call_delta,
    "session/toolCallReady": toolcalls.tool_call_ready,
    "session/toolCallConfirmed": toolcalls.tool_call_confirmed,
    "session/toolCallComplete": toolcalls.tool_call_complete,
    "session/toolCallResultConfirmed": toolcalls.tool_call_result_confirmed,
    "session/toolCallContentChanged": toolcalls.tool_call_content_changed,
    "session/titleChanged": lambda s, a, now: update_summary(s, title=a.get("title"), modifiedAt=now),  # S20
    "session/modelChanged": lambda s, a, now: update_summary(s, model=a.get("model"), modifiedAt=now),  # S21
    "session/isReadChanged": lambda s, a, _: set_flag(
        s, SessionStatus.IS_READ, on=a.get("isRead", False)
    ),  # S22
    "session/isArchivedChanged": lambda s, a, _: set_flag(  # S23
        s, SessionStatus.IS_ARCHIVED, on=a.get("isArchived", False)
    ),
    "session/activityChanged": lambda s, a, _: update_summary(s, activity=a.get("activity")),  # S24
    "session/diffsChanged": lambda s, a, _: update_summary(s, diffs=a.get("diffs")),  # S25
    "session/configChanged": _config_changed,
    "session/metaChanged": lambda s, a, _: put(s, _meta=a.get("_meta")),  # S27
    "session/serverToolsChanged": lambda s, a, _: put(s, serverTools=a.get("tools")),  # S28
    "session/activeClientChanged": lambda s, a, _: put(s, activeClient=a.get("activeClient")),  # S29
    "session/activeClientToolsChanged": _active_client_tools_changed,
    "session/customizationsChanged": lambda s, a, _: put(s, customizations=a.get("customizations")),  # S31
    "session/customizationToggled": _customization_toggled,
    "session/customizationUpdated": _customization_updated,
    "session/inputRequested": pending.input_requested,
    "session/inputAnswerChanged": pending.input_answer_changed,
    "session/inputCompleted": pending.input_completed,
    "session/pendingMessageSet": pending.pending_message_set,
    "session/pendingMessageRemoved": pending.pending_message_removed,
    "session/queuedMessagesReordered": pending.queued_messages_reordered,
}
