"""The message queue: which queued message starts the next turn, and after which actions.

Pure: the caller provides the new turn's id and the time, and applies the actions in order.
"""

from agenthost.core import actions
from agenthost.core.conversation import Conversation
from agenthost.wire.ahp.actions import ChatAction, SessionAction
from agenthost.wire.ahp.common import Timestamp

TRIGGERS = frozenset(
    {
        "session/ready",
        "chat/turnComplete",
        "chat/pendingMessageSet",
        "chat/pendingMessageRemoved",
        "chat/queuedMessagesReordered",
    }
)
"""The actions after which the queue is checked. After a cancelled or failed turn people look first."""


def next_from_queue(
    conversation: Conversation, action: SessionAction | ChatAction, turn_id: str, now_iso: Timestamp
) -> list[ChatAction]:
    """Return the actions that take the first message out of the queue and start its turn, if it is due.

    `conversation` has the states after the action.
    """
    session, chat = conversation
    queue = chat.get("queuedMessages")
    is_idle = "activeTurn" not in chat and session["lifecycle"] == "ready"
    if not queue or not is_idle or action["type"] not in TRIGGERS:
        return []
    # HR-U03: the message leaves the queue first, and then its turn starts.
    first = queue[0]
    return [
        actions.pending_message_removed("queued", first["id"]),
        actions.turn_started(turn_id, first["message"], now_iso, queued_message_id=first["id"]),
    ]
