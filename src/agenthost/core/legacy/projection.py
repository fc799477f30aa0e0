"""The actions of a session and its default chat as legacy clients see them.

Each action becomes at most one, which depends on the action alone. Where that would be wrong, `forms` says
what legacy clients see instead.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

from agenthost.core.legacy.customizations import project_customizations
from agenthost.core.legacy.messages import project_message
from agenthost.core.legacy.meta import public_meta
from agenthost.core.legacy.reducers.text import StreamedText
from agenthost.core.legacy.toolcalls import (
    RESULT,
    project_content,
    project_contributor,
    project_tool_input,
)
from agenthost.core.legacy.turns import project_error, project_part
from agenthost.wire.ahp.actions.text import ChatDelta, ChatToolCallDelta
from agenthost.wire.ahp.legacy.actions import SessionAction as LegacySessionAction
from agenthost.wire.ahp.legacy.actions.text import SessionDelta, SessionReasoning, SessionToolCallDelta

Projector: TypeAlias = Callable[[Any], dict[str, Any] | None]
"""Returns the fields of the legacy action, without its type and session; `None` if there is none."""


def project_action(action: Any, session_uri: str) -> LegacySessionAction | StreamedText | None:
    """Return an action as legacy clients see it; `None` if they do not see it, or cannot by itself."""
    # The common case first: text that was decoded into a struct.
    if type(action) is not dict:
        return _project_text(action, session_uri)
    kind = action["type"]
    projector = PROJECTORS.get(kind)
    fields = None if projector is None else projector(action)
    if fields is None:
        return None
    projected = {"type": LEGACY_TYPES[kind], "session": session_uri, **fields}
    return cast("LegacySessionAction", projected)


def _project_text(action: Any, session_uri: str) -> StreamedText:
    """Return streamed text, as a struct again."""
    if type(action) is ChatToolCallDelta:
        return SessionToolCallDelta(session_uri, action.turnId, action.toolCallId, action.content)
    text = SessionDelta if type(action) is ChatDelta else SessionReasoning
    return text(session_uri, action.turnId, action.partId, action.content)


def _fields(*keys: str) -> Projector:
    """Copy these fields, if they have a value."""
    return lambda action: {key: action[key] for key in keys if action.get(key) is not None}


def _turn_started(action: Any) -> dict[str, Any]:
    fields = {"turnId": action["turnId"], "userMessage": project_message(action["message"])}
    return fields | _fields("queuedMessageId")(action)  # type: ignore[operator] # never None


def _response_part(action: Any) -> dict[str, Any] | None:
    part = project_part(action["part"])
    return None if part is None else {"turnId": action["turnId"], "part": part}


def _error(action: Any) -> dict[str, Any]:
    return {"turnId": action["turnId"], "error": project_error(action["part"]["error"])}


def _tool_call_start(action: Any) -> dict[str, Any]:
    fields: Any = _fields("turnId", "toolCallId", "_meta", "toolName", "displayName")(action)
    client_id = project_contributor(action.get("contributor"))
    return fields if client_id is None else {**fields, "toolClientId": client_id}


def _tool_call_delta(action: Any) -> dict[str, Any] | None:
    if action.get("content") is None and action.get("invocationMessage") is None:
        return None
    return {"content": "", **_fields("turnId", "toolCallId", "content", "invocationMessage")(action)}  # type: ignore[dict-item]


def _tool_call_ready(action: Any) -> dict[str, Any]:
    keys = ("turnId", "toolCallId", "invocationMessage", "confirmationTitle", "edits", "editable")
    fields: Any = _fields(*keys, "confirmed", "options")(action)
    tool_input = project_tool_input(action.get("toolInput"))
    return fields if tool_input is None else {**fields, "toolInput": tool_input}


def _tool_call_confirmed(action: Any) -> dict[str, Any]:
    keys = ("turnId", "toolCallId", "approved", "confirmed", "editedToolInput")
    fields: Any = _fields(*keys, "reason", "reasonMessage", "selectedOptionId")(action)
    if action.get("userSuggestion") is not None:
        fields["userSuggestion"] = project_message(action["userSuggestion"])
    return cast("dict[str, Any]", fields)


def _tool_call_complete(action: Any) -> dict[str, Any]:
    fields: Any = _fields("turnId", "toolCallId", "requiresResultConfirmation")(action)
    result = {key: action["result"][key] for key in RESULT if action["result"].get(key) is not None}
    if "content" in result:
        result["content"] = project_content(result["content"])
    return {**fields, "result": result}


def _tool_call_content_changed(action: Any) -> dict[str, Any]:
    fields: Any = _fields("turnId", "toolCallId", "content")(action)
    return {**fields, "content": project_content(fields["content"])} if "content" in fields else fields


def _pending_message_set(action: Any) -> dict[str, Any]:
    fields: Any = _fields("kind", "id")(action)
    return {**fields, "userMessage": project_message(action["message"])}


def _meta_changed(action: Any) -> dict[str, Any]:
    meta = public_meta(action.get("_meta"))
    return {} if meta is None else {"_meta": meta}


PROJECTORS: Final[dict[str, Projector]] = {
    "session/ready": _fields(),
    "session/creationFailed": lambda action: {"error": project_error(action["error"])},
    "session/titleChanged": _fields("title"),
    "session/isReadChanged": _fields("isRead"),
    "session/isArchivedChanged": _fields("isArchived"),
    "session/activityChanged": _fields("activity"),
    "session/configChanged": _fields("config", "replace"),
    "session/metaChanged": _meta_changed,
    "session/serverToolsChanged": _fields("tools"),
    "session/customizationsChanged": lambda action: {
        "customizations": project_customizations(action["customizations"])
    },
    "chat/turnStarted": _turn_started,
    "chat/responsePart": _response_part,
    "chat/delta": _fields("turnId", "partId", "content"),
    "chat/reasoning": _fields("turnId", "partId", "content"),
    "chat/usage": _fields("turnId", "usage"),
    "chat/turnComplete": _fields("turnId"),
    "chat/turnCancelled": _fields("turnId"),
    "chat/error": _error,
    "chat/truncated": _fields("turnId"),
    "chat/toolCallStart": _tool_call_start,
    "chat/toolCallDelta": _tool_call_delta,
    "chat/toolCallReady": _tool_call_ready,
    "chat/toolCallConfirmed": _tool_call_confirmed,
    "chat/toolCallComplete": _tool_call_complete,
    "chat/toolCallResultConfirmed": _fields("turnId", "toolCallId", "approved"),
    "chat/toolCallContentChanged": _tool_call_content_changed,
    "chat/inputRequested": _fields("request"),
    "chat/inputAnswerChanged": _fields("requestId", "questionId", "answer"),
    "chat/inputCompleted": _fields("requestId", "response", "answers"),
    "chat/pendingMessageSet": _pending_message_set,
    "chat/pendingMessageRemoved": _fields("kind", "id"),
    "chat/queuedMessagesReordered": _fields("order"),
}
"""How each action is projected. Legacy clients see no other actions, except those in `forms`."""

LEGACY_TYPES: Final = {kind: "session/" + kind.partition("/")[2] for kind in PROJECTORS}
"""The types of the legacy actions: the chat's actions were the session's."""
