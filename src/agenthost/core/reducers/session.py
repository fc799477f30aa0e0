"""The session reducer: which function handles which action, and the actions on a session as a whole.

Turns are in `turns`, tool calls in `toolcalls`, what waits in `pending`, streaming text in `text`.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from agenthost.core.reducers import pending, toolcalls, turns
from agenthost.core.reducers.live import Live
from agenthost.core.reducers.records import chosen, configured, put
from agenthost.core.reducers.status import flagged, summarised
from agenthost.core.reducers.text import StreamedText, stream
from agenthost.wire.ahp.actions import SessionAction
from agenthost.wire.ahp.actions.session import (
    SessionActiveClientToolsChangedAction,
    SessionConfigChangedAction,
    SessionCreationFailedAction,
    SessionCustomizationToggledAction,
    SessionCustomizationUpdatedAction,
    SessionReadyAction,
)
from agenthost.wire.ahp.actions.text import as_text
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState

STREAMED = ("session/delta", "session/reasoning", "session/toolCallDelta")

Handler: TypeAlias = Callable[[SessionState, Any, float], SessionState]


def reduce_session(
    live: Live[SessionState], action: SessionAction | StreamedText, now: float
) -> Live[SessionState]:
    """Apply one action; one that does not apply leaves the state as it was."""
    if type(action) is not dict:
        return stream(live, action)  # type: ignore[arg-type] # all others are dicts
    kind = action["type"]
    # A call's input that comes with a new message changes more than a text.
    if kind in STREAMED and action.get("invocationMessage") is None:
        return stream(live, as_text(action))
    handler = HANDLERS.get(kind)
    if handler is None:
        return live
    before = live.state
    after = handler(before, action, now)
    return live if after is before else Live(after)


def _ready(state: SessionState, _action: SessionReadyAction, _now: float) -> SessionState:
    """S1: the status is idle and nothing else: flags go too."""
    return summarised(put(state, lifecycle="ready"), status=SessionStatus.IDLE)


def _creation_failed(state: SessionState, action: SessionCreationFailedAction, _now: float) -> SessionState:
    """S2."""
    return put(state, lifecycle="creationFailed", creationError=action.get("error"))


def _config_changed(state: SessionState, action: SessionConfigChangedAction, now: float) -> SessionState:
    """S26."""
    changed = configured(state, action)
    return state if changed is state else summarised(changed, modifiedAt=now)


def _active_client_tools_changed(
    state: SessionState, action: SessionActiveClientToolsChangedAction, _now: float
) -> SessionState:
    """S30."""
    client = state.get("activeClient")
    return state if client is None else put(state, activeClient=put(client, tools=action.get("tools")))


def _customization_toggled(
    state: SessionState, action: SessionCustomizationToggledAction, _now: float
) -> SessionState:
    """S32."""
    entries: list[Any] = list(state.get("customizations", []))
    place = _place(entries, action.get("uri"))
    if place is None:
        return state
    entries[place] = put(entries[place], enabled=action.get("enabled"))
    return put(state, customizations=entries)


def _customization_updated(
    state: SessionState, action: SessionCustomizationUpdatedAction, _now: float
) -> SessionState:
    """S33: one that is not in the list yet is off unless it says otherwise."""
    entries: list[Any] = list(state.get("customizations", []))
    place = _place(entries, action.get("customization", {}).get("uri"))
    news = chosen(action, "customization", "enabled", "status", "statusMessage")
    if place is None:
        entries.append({"enabled": False, **news})
    else:
        entries[place] = {**entries[place], **news}
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
    "session/titleChanged": lambda s, a, now: summarised(s, title=a.get("title"), modifiedAt=now),
    "session/modelChanged": lambda s, a, now: summarised(s, model=a.get("model"), modifiedAt=now),
    "session/isReadChanged": lambda s, a, _: flagged(s, SessionStatus.IS_READ, on=a.get("isRead", False)),
    "session/isArchivedChanged": lambda s, a, _: flagged(
        s, SessionStatus.IS_ARCHIVED, on=a.get("isArchived", False)
    ),
    "session/activityChanged": lambda s, a, _: summarised(s, activity=a.get("activity")),
    "session/diffsChanged": lambda s, a, _: summarised(s, diffs=a.get("diffs")),
    "session/configChanged": _config_changed,
    "session/metaChanged": lambda s, a, _: put(s, _meta=a.get("_meta")),
    "session/serverToolsChanged": lambda s, a, _: put(s, serverTools=a.get("tools")),
    "session/activeClientChanged": lambda s, a, _: put(s, activeClient=a.get("activeClient")),
    "session/activeClientToolsChanged": _active_client_tools_changed,
    "session/customizationsChanged": lambda s, a, _: put(s, customizations=a.get("customizations")),
    "session/customizationToggled": _customization_toggled,
    "session/customizationUpdated": _customization_updated,
    "session/inputRequested": pending.input_requested,
    "session/inputAnswerChanged": pending.input_answer_changed,
    "session/inputCompleted": pending.input_completed,
    "session/pendingMessageSet": pending.pending_message_set,
    "session/pendingMessageRemoved": pending.pending_message_removed,
    "session/queuedMessagesReordered": pending.queued_messages_reordered,
}
