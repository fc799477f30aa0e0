"""Messages that wait for the running turn or the next one (C11 to C13)."""

from typing import Any

from agenthost.core.reducers.records import pick, put, upserted
from agenthost.wire.ahp.actions.chat import (
    ChatPendingMessageRemovedAction,
    ChatPendingMessageSetAction,
    ChatQueuedMessagesReorderedAction,
)
from agenthost.wire.ahp.chat import ChatState


def pending_message_set(state: ChatState, action: ChatPendingMessageSetAction) -> ChatState:
    """C11: one slot for steering the running turn, and a queue for the turns after it."""
    message: Any = pick(action, "id", "message")  # G5: rebuilt
    if action.get("kind") == "steering":
        return put(state, steeringMessage=message)
    return put(state, queuedMessages=upserted(state.get("queuedMessages", []), message))


def pending_message_removed(state: ChatState, action: ChatPendingMessageRemovedAction) -> ChatState:
    """C12: remove the message; an empty queue is dropped."""
    if action.get("kind") == "steering":
        return _without_steering(state, action.get("id"))
    return _without_queued(state, action.get("id"))


def without_pending(state: ChatState, message_id: str) -> ChatState:
    """C1: return the state without the message from which a turn starts."""
    return _without_queued(_without_steering(state, message_id), message_id)


def _without_steering(state: ChatState, message_id: str | None) -> ChatState:
    steering = state.get("steeringMessage")
    gone = steering is not None and steering.get("id") == message_id
    return put(state, steeringMessage=None) if gone else state


def _without_queued(state: ChatState, message_id: str | None) -> ChatState:
    queue = state.get("queuedMessages", [])
    left = [message for message in queue if message.get("id") != message_id]
    return state if len(left) == len(queue) else put(state, queuedMessages=left or None)


def queued_messages_reordered(state: ChatState, action: ChatQueuedMessagesReorderedAction) -> ChatState:
    """C13: the named messages first, in that order; then the others as they were."""
    queue = state.get("queuedMessages")
    if queue is None:
        return state
    order = action.get("order", [])
    # Reversed, so that the first mention of an id wins. `sorted` is stable: equal ids stay together.
    rank = {message_id: place for place, message_id in reversed(list(enumerate(order)))}
    ordered = sorted(queue, key=lambda message: rank.get(message.get("id", ""), len(order)))
    return put(state, queuedMessages=ordered)
