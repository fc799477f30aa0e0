"""Pending input requests and messages of a session (S34 to S39)."""

from typing import Any

from agenthost.core.legacy.reducers.status import compute_status, update_summary
from agenthost.core.reducers.records import pick, put
from agenthost.wire.ahp.legacy.actions.input import (
    SessionInputAnswerChangedAction,
    SessionInputCompletedAction,
    SessionInputRequestedAction,
    SessionPendingMessageRemovedAction,
    SessionPendingMessageSetAction,
    SessionQueuedMessagesReorderedAction,
)
from agenthost.wire.ahp.legacy.enums import SessionStatus
from agenthost.wire.ahp.legacy.session import SessionState


def input_requested(state: SessionState, action: SessionInputRequestedAction, now: float) -> SessionState:
    """S34: a request that is repeated keeps its answers, unless it brings its own."""
    request: Any = action.get("request", {})
    requests: list[Any] = list(state.get("inputRequests", []))
    place = _place(requests, request.get("id"))
    if place is None:
        requests.append(request)
    else:
        requests[place] = {**pick(requests[place], "answers"), **request}
    state = put(state, inputRequests=requests)
    # H5, H7, H8: somebody has to look at it, so it counts as unread.
    return update_summary(state, status=compute_status(state) & ~SessionStatus.IS_READ, modifiedAt=now)


def input_answer_changed(
    state: SessionState, action: SessionInputAnswerChangedAction, now: float
) -> SessionState:
    """S35: an action without an answer removes the old one."""
    requests: list[Any] = list(state.get("inputRequests", []))
    place = _place(requests, action.get("requestId"))
    if place is None:
        return state
    answers = put(requests[place].get("answers", {}), **{action.get("questionId", ""): action.get("answer")})
    requests[place] = put(requests[place], answers=answers or None)  # an empty map is dropped
    return update_summary(put(state, inputRequests=requests), modifiedAt=now)


def input_completed(state: SessionState, action: SessionInputCompletedAction, now: float) -> SessionState:
    """S36: remove the request, whatever the response. All requests with the id go together."""
    requests = state.get("inputRequests", [])
    left = [request for request in requests if request.get("id") != action.get("requestId")]
    if len(left) == len(requests):
        return state
    state = put(state, inputRequests=left or None)
    return update_summary(state, status=compute_status(state), modifiedAt=now)


def pending_message_set(
    state: SessionState, action: SessionPendingMessageSetAction, _now: float
) -> SessionState:
    """S37: one slot for steering the running turn, and a queue for the turns after it."""
    message: Any = pick(action, "id", "userMessage")
    if action.get("kind") == "steering":
        return put(state, steeringMessage=message)
    queue: list[Any] = list(state.get("queuedMessages", []))
    place = _place(queue, action.get("id"))
    if place is None:
        queue.append(message)
    else:
        queue[place] = message
    return put(state, queuedMessages=queue)


def pending_message_removed(
    state: SessionState, action: SessionPendingMessageRemovedAction, _now: float
) -> SessionState:
    """S38: remove the message; an empty queue is dropped."""
    if action.get("kind") == "steering":
        steering = state.get("steeringMessage")
        gone = steering is not None and steering.get("id") == action.get("id")
        return put(state, steeringMessage=None) if gone else state
    queue = state.get("queuedMessages", [])
    left = [message for message in queue if message.get("id") != action.get("id")]
    return state if len(left) == len(queue) else put(state, queuedMessages=left or None)


def queued_messages_reordered(
    state: SessionState, action: SessionQueuedMessagesReorderedAction, _now: float
) -> SessionState:
    """S39: the named messages first, in that order; then the others as they were."""
    if "queuedMessages" not in state:
        return state
    order = action.get("order", [])
    # Reversed, so that the first mention of an id wins. `sorted` is stable: equal ids stay together.
    rank = {message_id: place for place, message_id in reversed(list(enumerate(order)))}
    queue = sorted(state["queuedMessages"], key=lambda message: rank.get(message.get("id", ""), len(order)))
    return put(state, queuedMessages=queue)


def _place(entries: list[Any], entry_id: Any) -> int | None:
    return next((place for place, entry in enumerate(entries) if entry.get("id") == entry_id), None)
