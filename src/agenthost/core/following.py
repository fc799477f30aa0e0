"""What the host does next by itself, after an action has happened: start the message that waits in the queue.

Pure: the caller brings the new turn's id and lets the actions happen, in order.
"""

from agenthost.wire.ahp.actions import SessionAction
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import Json

TRIGGERS = frozenset(
    {
        "session/ready",
        "session/turnComplete",
        "session/pendingMessageSet",
        "session/pendingMessageRemoved",
        "session/queuedMessagesReordered",
    }
)
"""After these the queue is looked at; not after a turn that was cancelled or broke: somebody should look."""


def following(state: SessionState, action: Json, turn_id: str) -> list[SessionAction]:
    """Give the actions that take the first queued message out and start its turn; none if it is not its time.

    `state` is the one that followed the action.
    """
    queue = state.get("queuedMessages")
    is_idle = "activeTurn" not in state and state["lifecycle"] == "ready"
    if not queue or not is_idle or action["type"] not in TRIGGERS:
        return []
    session, first = state["summary"]["resource"], queue[0]
    return [
        {"type": "session/pendingMessageRemoved", "session": session, "kind": "queued", "id": first["id"]},
        {
            "type": "session/turnStarted",
            "session": session,
            "turnId": turn_id,
            "userMessage": first["userMessage"],
            "queuedMessageId": first["id"],
        },
    ]
