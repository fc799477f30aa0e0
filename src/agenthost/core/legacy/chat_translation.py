"""Legacy actions on the turns and the messages of a session, as actions on its default chat."""

from typing import Any, Final

from agenthost.core.legacy.given_action import Given, Translator, copied, make
from agenthost.core.legacy.messages import lift_message
from agenthost.core.legacy.summaries import lift_time
from agenthost.core.legacy.toolcalls import RESULT, lift_contributor
from agenthost.core.legacy.turns import lift_error, lift_part
from agenthost.core.times import unix_ms


def _turn_started(given: Given) -> list[Any]:
    message = lift_message(given.action["userMessage"])
    started_at = lift_time(given.now_ms)
    keys = ("turnId", "queuedMessageId")
    return [make(given, "chat/turnStarted", *keys, message=message, startedAt=started_at)]


def _response_part(given: Given) -> list[Any]:
    return [make(given, "chat/responsePart", "turnId", part=lift_part(given.action["part"]))]


def _turn_ended(kind: str) -> Translator:
    return lambda given: [make(given, kind, "turnId", duration=_duration(given))]


def _error(given: Given) -> list[Any]:
    part = lift_error(given.action["error"])
    return [make(given, "chat/error", "turnId", duration=_duration(given), part=part)]


def _duration(given: Given) -> float:
    """Return how long the running turn took until now."""
    turn = given.chat.get("activeTurn") or {}
    started = unix_ms(turn.get("startedAt", ""))
    return 0 if started is None else max(0, given.now_ms - started)


# Tool calls. `_meta` of an action counts only where a legacy call starts.


def _tool_call_start(given: Given) -> list[Any]:
    made = make(given, "chat/toolCallStart", "turnId", "toolCallId", "toolName", "displayName", "_meta")
    client_id = given.action.get("toolClientId")
    return [made if client_id is None else {**made, "contributor": lift_contributor(client_id)}]


def _tool_call_ready(given: Given) -> list[Any]:
    """Drop updates of a call that waits: a legacy call does not ask a second time."""
    if "pending-confirmation" in _statuses(given):
        return []
    keys = ("turnId", "toolCallId", "invocationMessage", "toolInput", "confirmationTitle", "edits")
    return [make(given, "chat/toolCallReady", *keys, "editable", "confirmed", "options")]


def _tool_call_confirmed(given: Given) -> list[Any]:
    keys = ("turnId", "toolCallId", "approved", "confirmed", "editedToolInput", "selectedOptionId")
    made = make(given, "chat/toolCallConfirmed", *keys, "reason", "reasonMessage")
    suggestion = given.action.get("userSuggestion")
    return [made if suggestion is None else {**made, "userSuggestion": lift_message(suggestion)}]


def _tool_call_complete(given: Given) -> list[Any]:
    given_result = given.action["result"]
    result = {key: given_result[key] for key in RESULT if given_result.get(key) is not None}
    keys = ("turnId", "toolCallId", "requiresResultConfirmation")
    return [make(given, "chat/toolCallComplete", *keys, result=result)]


def _statuses(given: Given) -> list[str]:
    turn = given.chat.get("activeTurn")
    if turn is None or turn["id"] != given.action["turnId"]:
        return []
    calls = [part["toolCall"] for part in turn["responseParts"] if part.get("kind") == "toolCall"]
    return [call["status"] for call in calls if call["toolCallId"] == given.action["toolCallId"]]


def _pending_message_set(given: Given) -> list[Any]:
    message = lift_message(given.action["userMessage"])
    return [make(given, "chat/pendingMessageSet", "kind", "id", message=message)]


CHAT_TRANSLATORS: Final[dict[str, Translator]] = {
    "session/turnStarted": _turn_started,
    "session/responsePart": _response_part,
    "session/delta": copied("chat/delta", "turnId", "partId", "content"),
    "session/reasoning": copied("chat/reasoning", "turnId", "partId", "content"),
    "session/usage": copied("chat/usage", "turnId", "usage"),
    "session/turnComplete": _turn_ended("chat/turnComplete"),
    "session/turnCancelled": _turn_ended("chat/turnCancelled"),
    "session/error": _error,
    "session/truncated": copied("chat/truncated", "turnId"),
    "session/toolCallStart": _tool_call_start,
    "session/toolCallDelta": copied(
        "chat/toolCallDelta", "turnId", "toolCallId", "content", "invocationMessage"
    ),
    "session/toolCallReady": _tool_call_ready,
    "session/toolCallConfirmed": _tool_call_confirmed,
    "session/toolCallComplete": _tool_call_complete,
    "session/toolCallResultConfirmed": copied(
        "chat/toolCallResultConfirmed", "turnId", "toolCallId", "approved"
    ),
    "session/toolCallContentChanged": copied(
        "chat/toolCallContentChanged", "turnId", "toolCallId", "content"
    ),
    "session/inputRequested": copied("chat/inputRequested", "request"),
    "session/inputAnswerChanged": copied("chat/inputAnswerChanged", "requestId", "questionId", "answer"),
    "session/inputCompleted": copied("chat/inputCompleted", "requestId", "response", "answers"),
    "session/pendingMessageSet": _pending_message_set,
    "session/pendingMessageRemoved": copied("chat/pendingMessageRemoved", "kind", "id"),
    "session/queuedMessagesReordered": copied("chat/queuedMessagesReordered", "order"),
}
