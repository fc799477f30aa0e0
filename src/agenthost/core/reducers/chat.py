"""The chat reducer: which function handles which action, and the actions on a chat as a whole.

Turns are in `turns`, tool calls in `toolcalls`, questions to the user in `inputs`, waiting messages in
`pending`, what text grows into in `text`.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from agenthost.core.reducers import inputs, pending, toolcalls, turns
from agenthost.core.reducers.directories import directory_removed, directory_set
from agenthost.core.reducers.handlers import handle
from agenthost.core.reducers.live import Live
from agenthost.core.reducers.records import put, upserted
from agenthost.core.reducers.status import set_flag
from agenthost.core.reducers.text import StreamedText, Streams, is_short
from agenthost.wire.ahp.actions import ChatAction
from agenthost.wire.ahp.actions.chat import ChatBackgroundWorkRemovedAction, ChatBackgroundWorkSetAction
from agenthost.wire.ahp.actions.text import ChatToolCallDelta, as_text
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.enums import SessionStatus

Handler: TypeAlias = Callable[[ChatState, Any], ChatState]


def reduce_chat(live: Live[ChatState], action: ChatAction | StreamedText) -> Live[ChatState]:
    """Apply one action. An action that does not apply leaves the state as it was."""
    if type(action) is dict:
        return _reduce_decoded(live, action)
    # C3, T2: text that was decoded into a struct. This is the hot path, so it is written out here.
    text: Any = action
    streams: Any = live.growth
    kind = type(action)
    if streams is None:
        turn: Any = live.base.get("activeTurn") or {}
        parts = turn.get("responseParts", [])
        if len(parts) == 1 and is_short(turn, parts[0], text):
            part = {**parts[0], "content": parts[0]["content"] + text.content}
            turn = {**turn, "responseParts": [part]}
            return Live({**live.base, "activeTurn": turn})
        streams = Streams(turn.get("id"), parts)
    part_id = text.toolCallId if kind is ChatToolCallDelta else text.partId
    targets = streams.targets.get(kind)
    target = (streams.find(kind) if targets is None else targets).get(part_id)
    if target is None or text.turnId != streams.turn_id:  # H1, H2
        return live
    log = streams.log
    length = live.length
    if len(log) != length:
        return live.grown(streams, target, text.content)
    # `live.grown`, inlined: a call per token is measurable.
    log.append(target)
    log.append(text.content)
    return Live(live.base, streams, length + 2)


def _reduce_decoded(live: Live[ChatState], action: Any) -> Live[ChatState]:
    """Apply an action that was decoded into a dict."""
    kind = action["type"]
    if kind in ("chat/delta", "chat/reasoning") or (kind == "chat/toolCallDelta" and _is_text(action)):
        return reduce_chat(live, as_text(action))
    return handle(HANDLERS, live, action)


def _is_text(action: Any) -> bool:
    """T2: return whether the delta of a call brings nothing but text."""
    return (
        action.get("content") is not None
        and action.get("invocationMessage") is None
        and action.get("_meta") is None
    )


def _background_work_set(state: ChatState, action: ChatBackgroundWorkSetAction) -> ChatState:
    """C20: work that is known stays in its place."""
    work: Any = action.get("work")
    return (
        state if work is None else put(state, backgroundWork=upserted(state.get("backgroundWork", []), work))
    )


def _background_work_removed(state: ChatState, action: ChatBackgroundWorkRemovedAction) -> ChatState:
    """C20: the list stays, even if it is empty."""
    works = state.get("backgroundWork", [])
    left = [work for work in works if work.get("id") != action.get("id")]
    return state if len(left) == len(works) else put(state, backgroundWork=left)


HANDLERS: dict[str, Handler] = {
    "chat/turnStarted": turns.turn_started,
    "chat/responsePart": turns.response_part,
    "chat/turnComplete": turns.turn_complete,
    "chat/turnCancelled": turns.turn_cancelled,
    "chat/error": turns.error,
    "chat/turnResume": turns.turn_resume,
    "chat/activityChanged": lambda state, action: put(state, activity=action.get("activity")),  # C7
    "chat/draftChanged": lambda state, action: put(state, draft=action.get("draft")),  # C7
    "chat/usage": turns.usage,
    "chat/truncated": turns.truncated,
    "chat/turnsLoaded": turns.turns_loaded,
    "chat/pendingMessageSet": pending.pending_message_set,
    "chat/pendingMessageRemoved": pending.pending_message_removed,
    "chat/queuedMessagesReordered": pending.queued_messages_reordered,
    "chat/inputRequested": inputs.input_requested,
    "chat/inputAnswerChanged": inputs.input_answer_changed,
    "chat/inputCompleted": inputs.input_completed,
    "chat/workingDirectorySet": directory_set,
    "chat/workingDirectoryRemoved": directory_removed,
    "chat/isReadChanged": lambda state, action: set_flag(  # C18
        state, SessionStatus.IS_READ, on=action.get("isRead", False)
    ),
    "chat/isArchivedChanged": lambda state, action: set_flag(  # C18
        state, SessionStatus.IS_ARCHIVED, on=action.get("isArchived", False)
    ),
    "chat/movableChanged": lambda state, action: put(state, movable=action.get("movable")),  # C19
    "chat/changesetsChanged": lambda state, action: put(state, changesets=action.get("changesets")),  # C19
    "chat/canvasesChanged": lambda state, action: put(state, canvases=action.get("canvases")),  # C19
    "chat/backgroundWorkSet": _background_work_set,
    "chat/backgroundWorkRemoved": _background_work_removed,
    "chat/toolCallStart": toolcalls.tool_call_start,
    "chat/toolCallDelta": toolcalls.tool_call_delta,
    "chat/toolCallReady": toolcalls.tool_call_ready,
    "chat/toolCallConfirmed": toolcalls.tool_call_confirmed,
    "chat/toolCallContentChanged": toolcalls.tool_call_content_changed,
    "chat/toolCallComplete": toolcalls.tool_call_complete,
    "chat/toolCallResultConfirmed": toolcalls.tool_call_result_confirmed,
    "chat/toolCallAuthRequired": toolcalls.tool_call_auth_required,
    "chat/toolCallAuthResolved": toolcalls.tool_call_auth_resolved,
}
