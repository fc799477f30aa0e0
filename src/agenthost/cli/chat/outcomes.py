"""How a conversation can end."""

from dataclasses import dataclass
from typing import TypeAlias

from agenthost.client.ahp import Chat, Session

__all__ = ["Leave", "Outcome", "Switch"]


@dataclass(frozen=True, slots=True)
class Leave:
    """The chat ends with this exit code."""

    code: int = 0


@dataclass(frozen=True, slots=True)
class Switch:
    """The conversation continues in another session, or in another chat of this one.

    Attributes:
        chat: the chat; the session itself for its default chat.
        is_new: whether the session was created for it.
        deletes: whether the chat that is left is deleted.
    """

    session: Session
    chat: Chat
    is_new: bool = False
    deletes: bool = False


Outcome: TypeAlias = Leave | Switch
